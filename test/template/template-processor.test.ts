import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createTemplate } from './template-fixture.ts';

const SET = `mutation ($id: ID!, $processors: [TemplateProcessorInput!]!) {
  setTemplateProcessors(templateId: $id, processors: $processors) { id name type config }
}`;
const ORDERS = {
  name: 'orders',
  type: 'dataset',
  config: { datasetId: UNKNOWN_ID, filter: { region: 'EU' }, sort: '-amount', fields: ['id'], limit: 50_000 },
};
const TOTAL = {
  name: 'total',
  type: 'aggregate',
  config: {
    datasetId: UNKNOWN_ID,
    groupBy: [{ field: 'ordered_on', interval: 'month', timezone: 'Europe/Berlin' }],
    measures: [{ fn: 'sum', field: 'amount', as: 'total' }],
  },
};
const CHART = { name: 'chart', type: 'visual', config: { datasetId: UNKNOWN_ID, visualId: UNKNOWN_ID, width: 400 } };
const STOCK = { name: 'stock', type: 'query', config: { queryId: UNKNOWN_ID, params: { country: 'DE' } } };
const ALL = [ORDERS, TOTAL, CHART, STOCK];

const itemsOf = (body: { _embedded: Record<string, Record<string, unknown>[]> }) =>
  body._embedded['svc:template-processor']!;

const test = base.extend<{ orders: { id: string; slug: string } }>({
  orders: [
    async ({ ann, source }, use) =>
      use(await ann.creates('/datasets', { name: 'Orders', datasourceId: source.id, query: ORDERS_QUERY })),
    { scope: 'file' },
  ],
});

describe('the processors of a template', () => {
  test('are replaced and read as a list, in both APIs', async ({ ann }) => {
    const { id, path } = await createTemplate(ann);
    await expectBody(ann.get(`${path}/processors`), 200, { total: 0, _embedded: { 'svc:template-processor': [] } });
    const put = await expectBody(ann.put(`${path}/processors`, { processors: ALL }), 200, { total: 4 });
    expect(itemsOf(put)).toMatchObject(
      ALL.map((processor) => ({ ...processor, _links: { 'svc:template': { href: `/api/templates/${id}` } } })),
    );
    expect(itemsOf((await ann.get(`${path}/processors`)).body)).toEqual(itemsOf(put));

    const query = `query ($id: ID!) { template(id: $id) { processors { name type config } } }`;
    const { template } = await ann.data(query, { id });
    expect(template.processors).toEqual(ALL.map((processor) => ({ ...processor, type: processor.type.toUpperCase() })));
    const moved = [
      { ...STOCK, type: 'QUERY' },
      { ...ORDERS, type: 'DATASET' },
    ];
    const { setTemplateProcessors } = await ann.data(SET, { id, processors: moved });
    expect(setTemplateProcessors).toMatchObject([
      { id: itemsOf(put)[3]!['id'], name: 'stock' },
      { id: itemsOf(put)[0]!['id'], name: 'orders' },
    ]);
    await expectBody(ann.get(`${path}/processors`), 200, { total: 2 });
  });

  test.for([
    ['dataset', { datasetId: UNKNOWN_ID, offset: 1 }, 'offset', /is unknown/],
    ['dataset', {}, 'datasetId', /is required/],
    ['dataset', { datasetId: UNKNOWN_ID, limit: 50_001 }, 'limit', /<= 50000/],
    ['dataset', { datasetId: UNKNOWN_ID, limit: 0 }, 'limit', />= 1/],
    ['dataset', { datasetId: UNKNOWN_ID, fields: 'id' }, 'fields', /must be array/],
    ['dataset', { datasetId: UNKNOWN_ID, filter: [] }, 'filter', /must be object,string/],
    ['aggregate', { datasetId: UNKNOWN_ID, measures: [{ fn: 'mean', as: 'm' }] }, 'measures.0.fn', /must be one of/],
    ['aggregate', { datasetId: UNKNOWN_ID, measures: [{ fn: 'sum' }] }, 'measures.0.as', /is required/],
    ['aggregate', { datasetId: UNKNOWN_ID, groupBy: [{ field: 'a', every: 'day' }] }, 'groupBy.0.every', /is unknown/],
    ['visual', { datasetId: UNKNOWN_ID }, 'visualId', /is required/],
    ['visual', { datasetId: UNKNOWN_ID, visualId: UNKNOWN_ID, width: 99 }, 'width', />= 100/],
    ['query', { queryId: UNKNOWN_ID, sql: 'select 1' }, 'sql', /is unknown/],
    ['query', { queryId: 7 }, 'queryId', /must be string/],
    ['dataset', { $input: 'since' }, 'datasetId', /is required/],
    ['dataset', { datasetId: UNKNOWN_ID, limit: { $input: 'missing' } }, 'limit.$input', /names no input/],
    ['dataset', { datasetId: UNKNOWN_ID, filter: { a: { $input: 1 } } }, 'filter.a', /must be \{"\$input"/],
    ['dataset', { datasetId: UNKNOWN_ID, filter: { a: { $input: 'since', b: 1 } } }, 'filter.a', /must be \{"\$input"/],
  ] as const)('have configs of their type: %s %j', async ([type, config, key, message], { ann }) => {
    const { path } = await createTemplate(ann);
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [{ name: 'since' }] }), 200);
    const response = await ann.put(`${path}/processors`, { processors: [CHART, { name: 'x', type, config }] });
    expect(response.status).toBe(400);
    const [issue] = response.body.validation;
    expect([issue.path.join('.'), issue.message]).toEqual([
      `processors.1.config.${key}`,
      expect.stringMatching(message),
    ]);
    await expectBody(ann.get(`${path}/processors`), 200, { total: 0 });
  });

  test('take values of inputs anywhere in their config', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [{ name: 'since' }, { name: 'n' }] }), 200);
    const since = { $input: 'since' };
    const processors = [
      {
        name: 'a',
        type: 'dataset',
        config: { datasetId: since, filter: { d: { $gte: since } }, limit: { $input: 'n' } },
      },
      { name: 'b', type: 'aggregate', config: { datasetId: UNKNOWN_ID, measures: [{ fn: since, as: 'x' }] } },
      { name: 'c', type: 'query', config: { queryId: UNKNOWN_ID, params: { since } } },
      { name: 'd', type: 'dataset', config: { datasetId: UNKNOWN_ID, filter: since, fields: [since] } },
    ];
    const put = await expectBody(ann.put(`${path}/processors`, { processors }), 200, { total: 4 });
    expect(itemsOf(put)).toMatchObject(processors);
  });

  test('have names like inputs, types of four, and bounded configs', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    const put = (more: object) => ann.put(`${path}/processors`, { processors: [{ ...ORDERS, ...more }] });
    await expectInvalid(put({ name: 'template' }), 'processors.0.name', /another meaning/);
    await expectInvalid(put({ name: 'a-b' }), 'processors.0.name', /letters, digits/);
    await expectStatus(put({ type: 'url' }), 400);
    await expectInvalid(
      put({ config: { datasetId: UNKNOWN_ID, filter: { a: 'x'.repeat(64 * 1024) } } }),
      'processors.0.config',
      /at most 64 KiB/,
    );
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [{ name: 'orders' }] }), 200);
    await expectInvalid(put({}), 'processors.0.name', /must be unique among inputs and processors/);
    const many = Array.from({ length: 51 }, (_, i) => ({ ...STOCK, name: `n${i}` }));
    await expectInvalid(ann.put(`${path}/processors`, { processors: many }), 'processors', /at most 50 items/);
  });

  test('name a dataset by its slug too, and are among its references without blocking', async ({
    ann,
    bob,
    orders,
  }) => {
    const { id, path } = await createTemplate(ann, { name: 'Sales' });
    const config = { datasetId: orders.slug };
    await expectError(
      ann.put(`${path}/processors`, { processors: [{ name: 'x', type: 'dataset', config: { datasetId: 'nowhere' } }] }),
      404,
      'There is no dataset nowhere',
    );
    const put = await expectBody(
      ann.put(`${path}/processors`, { processors: [{ name: 'x', type: 'aggregate', config }, STOCK, CHART] }),
      200,
      { total: 3 },
    );
    expect(itemsOf(put)[0]!['config']).toEqual({ datasetId: orders.id });
    const { body } = await ann.get(`/datasets/${orders.id}/references`);
    expect(body).toMatchObject({ total: 1, hidden: 0, _embedded: { 'svc:reference': [{ kind: 'template', id }] } });
    await expectStatus(ann.put(`/datasets/${orders.id}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    await expectBody(bob.get(`/datasets/${orders.id}/references`), 200, { total: 0, hidden: null });
    await expectStatus(ann.delete(`/datasets/${orders.id}`), 204);
    expect(itemsOf((await ann.get(`${path}/processors`)).body)[0]!['config']).toEqual({ datasetId: orders.id });
  });

  test('are among the references of a query', async ({ ann, source }) => {
    const query = await ann.creates('/queries', { name: 'All', datasourceId: source.id, query: 'select 1 as one' });
    const { id, path } = await createTemplate(ann);
    const processors = [{ name: 'x', type: 'query', config: { queryId: query.slug } }];
    await expectStatus(ann.put(`${path}/processors`, { processors }), 200);
    await expectBody(ann.get(`/queries/${query.id}/references`), 200, {
      total: 1,
      _embedded: { 'svc:reference': [{ kind: 'template', id }] },
    });
    await expectStatus(ann.delete(`/queries/${query.id}`), 204);
  });

  test('are read by readers of the template and changed by its writers', async ({ ann, bob, anonymous, stranger }) => {
    const { id, path } = await createTemplate(ann);
    const body = { processors: [STOCK] };
    await expectStatus(anonymous.get(`${path}/processors`), 401);
    await expectStatus(anonymous.put(`${path}/processors`, body), 401);
    for (const client of [bob, stranger]) {
      await expectError(client.get(`${path}/processors`), 404, `There is no template ${id}`);
      await expectError(client.put(`${path}/processors`, body), 404, `There is no template ${id}`);
    }
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    await expectBody(bob.get(`${path}/processors`), 200, { total: 0 });
    await expectError(bob.put(`${path}/processors`, body), 403, 'You lack the permission template:write');
    await expectGraphqlError(bob.gql(SET, { id, processors: [] }), 'FORBIDDEN');
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 2 }), 200);
    await expectBody(bob.put(`${path}/processors`, body), 200, { total: 1 });
    await expectError(ann.put(`/templates/${UNKNOWN_ID}/processors`, body), 404, `There is no template ${UNKNOWN_ID}`);
  });
});

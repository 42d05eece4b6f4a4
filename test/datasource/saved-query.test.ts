import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { createSource, test } from '../support/shop-fixture.ts';

const BY_REGION = {
  name: 'Orders by region',
  query: 'select id, amount from orders where region = {{region}} and amount >= {{least}} order by id',
  params: [
    { name: 'region', dataType: 'string', required: true },
    { name: 'least', dataType: 'number', defaultValue: 100 },
  ],
};

test('a saved query runs with its defaults and with overrides', async ({ ann, source }) => {
  const query = await ann.creates('/queries', { ...BY_REGION, datasourceId: source.id });
  expect(query).toMatchObject({
    slug: 'orders-by-region',
    language: 'sql',
    datasourceId: source.id,
    query: BY_REGION.query,
    ownerId: ann.id,
    permissions: { run: true },
  });
  const run = (params: object) => ann.post(`/queries/${query.slug}/_run`, { params });
  expect((await run({ region: 'EU' })).body).toMatchObject({
    truncated: false,
    rows: [{ id: 12 }, { id: 16 }, { id: 20 }],
  });
  expect((await run({ region: 'EU', least: 200 })).body.rows).toMatchObject([{ id: 20 }]);
  await expectError(run({}), 400, /"region" is required/);
  await expectError(run({ region: 'EU', most: 1 }), 400, /"most"/);
  await expectError(run({ region: 7 }), 400, /"region"/);
});

test('a saved query has the fields of its result, as far as the source can describe them', async ({ ann, source }) => {
  const { id } = await ann.creates('/queries', {
    name: 'Twice',
    datasourceId: source.id,
    query: 'select id, id from orders',
  });
  expect((await ann.get(`/queries/${id}`)).body.fields).toMatchObject([
    { name: 'id', type: 'integer' },
    { name: 'id_2', type: 'integer' },
  ]);
  const changed = await ann.put(`/queries/${id}`, { query: 'select region from orders' });
  expect(changed.body.fields, 'the source is asked when they are read').toEqual([]);
  const read = await ann.data(`{ savedQuery(id: "${id}") { fields { name type } } }`);
  expect(read.savedQuery).toEqual({ fields: [{ name: 'region', type: 'STRING' }] });
  const [listed] = (await ann.get('/queries?q=Twice')).body._embedded['svc:query'];
  expect(listed.fields, 'they are stored').toMatchObject([{ name: 'region', type: 'string' }]);
  await ann.put(`/queries/${id}`, { query: 'select nothing from nowhere' });
  await expectBody(ann.get(`/queries/${id}`), 200, { fields: [] });
});

test('a query with invalid placeholders is refused on save', async ({ ann, source }) => {
  const post = (input: object) => ann.post('/queries', { name: 'X', datasourceId: source.id, ...input });
  await expectError(post({ query: 'select {{x}}' }), 400, /\{\{x\}\}/);
  await expectError(post({ query: '  ' }), 400, 'query must not be empty');
  await expectError(post({ query: 'select 1', language: 'mdx' }), 400);
  await expectError(post({ query: `select '{{x}}'`, params: [{ name: 'x', dataType: 'string' }] }), 400);
});

test('a response can be sent back', async ({ ann, source }) => {
  const { id } = await ann.creates('/queries', { ...BY_REGION, name: 'Round trip', datasourceId: source.id });
  const { body } = await ann.get(`/queries/${id}`);
  await expectBody(ann.put(`/queries/${id}`, { ...body, name: 'Sent back' }), 200, {
    name: 'Sent back',
    params: body.params,
  });
});

test('a query cannot be saved on a datasource that the caller cannot read', async ({ bob, source }) => {
  const response = bob.post('/queries', { name: 'X', datasourceId: source.id, query: 'select 1' });
  await expectError(response, 404, new RegExp(source.id));
});

test('a query runs with its owner’s permission on the datasource', async ({ admin, ann, bob, shop }) => {
  const { id } = await createSource(admin, shop, { ownerId: ann.id });
  const query = await ann.creates('/queries', { name: 'Handed over', datasourceId: id, query: 'select 1 as one' });
  await ann.put(`/queries/${query.id}`, { ownerId: bob.id });
  await expectError(ann.get(`/queries/${query.id}`), 404);
  await expectError(bob.post(`/queries/${query.id}/_run`, {}), 403);
  await admin.put(`/datasources/${id}`, { ownerId: bob.id });
  for (const verb of ['_run', '_execute'])
    expect((await bob.post(`/queries/${query.id}/${verb}`, {})).body.rows, verb).toEqual([{ one: 1 }]);
});

test('a query that a dataset follows cannot be deleted', async ({ ann, source }) => {
  const query = await ann.creates('/queries', { name: 'Followed', datasourceId: source.id, query: 'select 1 as one' });
  const dataset = await ann.creates('/datasets', { name: 'Follower', queryId: query.id });
  await expectError(ann.delete(`/queries/${query.id}`), 409, 'The query is in use by dataset "Follower"');
  await ann.delete(`/datasets/${dataset.id}`);
  expect((await ann.delete(`/queries/${query.id}`)).status).toBe(204);
});

test('a query and the deletion of its datasource exclude each other', async ({ ann, admin, shop }) => {
  const outcomes = new Set<string>();
  for (let round = 0; round < 8; round++) {
    const { id } = await createSource(admin, shop, { name: `Contested ${round}`, ownerId: ann.id });
    const [created, deleted] = await Promise.all([
      ann.post('/queries', { name: 'Contested', datasourceId: id, query: 'select 1' }),
      ann.delete(`/datasources/${id}`),
    ]);
    outcomes.add(`${created.status} ${deleted.status}`);
  }
  expect([...outcomes].filter((outcome) => !['201 409', '404 204'].includes(outcome))).toEqual([]);
});

import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

/** The world with a dataset of the shop's orders. */
const test = base.extend<{ orders: { id: string }; search: (query: object) => Promise<{ status: number; body: any }> }>(
  {
    orders: [
      async ({ ann, source }, use) =>
        use(
          await ann.creates('/datasets', {
            name: 'Orders',
            datasourceId: source.id,
            query: ORDERS_QUERY,
            refresh: true,
          }),
        ),
      { scope: 'file' },
    ],
    search: async ({ ann, orders }, use) => use((query) => ann.post(`/datasets/${orders.id}/_search`, query)),
  },
);

const ids = (body: { _embedded: Record<string, { id: number }[]> }) =>
  body._embedded['svc:record']!.map(({ id }) => id);
const getIds = async (who: Client, path: string) => ids((await who.get(path)).body);

test('a page has the rows, their fields and links, and the same comes by GET and by POST', async ({
  ann,
  orders,
  search,
}) => {
  const { body } = await ann.get(`/datasets/${orders.id}/data?limit=2&fields=id,region&sort=-id`);
  expect(body).toMatchObject({
    _links: { self: { href: `/api/datasets/${orders.id}/data?limit=2&fields=id,region&sort=-id` } },
    _embedded: {
      'svc:record': [
        { id: 20, region: 'EU' },
        { id: 19, region: null },
      ],
    },
    start: 0,
    count: 2,
    total: 20,
    fields: [
      { name: 'id', label: 'id', type: 'integer' },
      { name: 'region', type: 'string' },
    ],
    next: expect.any(String),
  });
  expect(body._links.last).toBeUndefined();
  const posted = await search({ limit: 2, fields: ['id', 'region'], sort: '-id' });
  expect(posted).toMatchObject({ status: 200, body: { _embedded: body._embedded, total: 20 } });
});

test('filters are criteria, as text and as an object', async ({ ann, orders, search }) => {
  const criteria = { region: 'EU', amount: { $gte: 100 } };
  expect(
    await getIds(ann, `/datasets/${orders.id}/data?filter=${encodeURIComponent(JSON.stringify(criteria))}`),
  ).toEqual([12, 16, 20]);
  expect(ids((await search({ filter: criteria })).body)).toEqual([12, 16, 20]);
  expect(ids((await search({ filter: { region: null }, limit: 2 })).body)).toEqual([3, 7]);
  expect(await search({ filter: { colour: 'red' } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"colour"') },
  });
  expect(await search({ filter: { amount: { $near: 1 } } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('$near') },
  });
  expect(await search({ filter: '{"region":' })).toMatchObject({ status: 400 });
  expect(await search({ filter: 'no-such-filter' })).toMatchObject({
    status: 404,
    body: { message: 'There is no filter no-such-filter' },
  });
});

test('q finds words without regard to case and accents', async ({ search }) => {
  expect(ids((await search({ q: 'ZOE deliv' })).body)).toEqual([5, 10, 15, 20]);
  expect((await search({ q: 'nobody' })).body).toMatchObject({ total: 0, _embedded: { 'svc:record': [] } });
});

test('sort is by several fields, ties are broken, missing values come last', async ({ search }) => {
  expect(ids((await search({ sort: 'region,-id', limit: 3 })).body)).toEqual([18, 14, 10]);
  expect(ids((await search({ sort: '-region', start: 15 })).body)).toEqual([3, 7, 11, 15, 19]);
  expect(await search({ sort: 'colour' })).toMatchObject({ status: 400 });
});

test('next leads through all rows', async ({ ann, orders }) => {
  const seen: number[] = [];
  let path: string | undefined = `/datasets/${orders.id}/data?limit=7&sort=-amount`;
  while (path) {
    const { body } = await ann.get(path);
    seen.push(...ids(body));
    path = body._links.next?.href.replace(/^\/api/, '');
  }
  expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => 20 - i));
});

test('limits are checked, and past 10,000 rows only after leads on', async ({ search }) => {
  expect(await search({ limit: 0 })).toMatchObject({ status: 400 });
  expect(await search({ limit: 10_001 })).toMatchObject({ status: 400 });
  expect(await search({ start: -1 })).toMatchObject({ status: 400 });
  expect(await search({ start: 9_999, limit: 2 })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('after') },
  });
  expect(await search({ after: 'abc' })).toMatchObject({ status: 400 });
  expect(await search({ fields: ['colour'] })).toMatchObject({ status: 400 });
});

test('a cursor goes on in the rows it began in, until they are gone', async ({ service, ann, source }) => {
  const { id } = await ann.creates('/datasets', {
    name: 'Moving',
    datasourceId: source.id,
    query: 'select id from orders order by id',
    refresh: true,
  });
  const first = (await ann.get(`/datasets/${id}/data?limit=5`)).body;
  await ann.put(`/datasets/${id}`, { query: 'select -id as id from orders order by id' });
  await ann.post(`/datasets/${id}/_refresh`);
  expect(await getIds(ann, `/datasets/${id}/data?limit=3&after=${first.next}`)).toEqual([6, 7, 8]);
  expect(await getIds(ann, `/datasets/${id}/data?limit=1`)).toEqual([-20]);
  await service.platform.system.query({
    text: `update dws.generation set replaced_at = now() - interval '11 minutes' where dataset_id = $1 and replaced_at is not null`,
    values: [id],
  });
  expect(await ann.get(`/datasets/${id}/data?after=${first.next}`)).toMatchObject({
    status: 410,
    body: { code: 'GONE' },
  });
});

test('GraphQL reads rows below their dataset', async ({ ann, orders }) => {
  const { dataset } = await ann.data(
    `query ($filter: JSON) { dataset(id: "${orders.id}") { name data(filter: $filter, limit: 1) { items total next fields { name type } } } }`,
    { filter: { region: 'EU' } },
  );
  expect(dataset).toMatchObject({
    name: 'Orders',
    data: {
      items: [{ id: 4, region: 'EU', amount: 40 }],
      total: 5,
      fields: [{ name: 'id', type: 'INTEGER' }, {}, {}, {}, {}],
    },
  });
});

test('discover describes fields over the matching rows', async ({ ann, orders }) => {
  const { body } = await ann.get(
    `/datasets/${orders.id}/discover?fields=amount,region&filter=${encodeURIComponent('{"id":{"$lte":4}}')}`,
  );
  expect(body).toMatchObject({
    total: 4,
    fields: [
      { name: 'amount', type: 'number', count: 4, missing: 0, distinct: 4, min: 10, max: 40, avg: 25 },
      { name: 'region', count: 3, missing: 1, distinct: 3 },
    ],
  });
  expect(body.fields[1].top).toContainEqual({ value: 'EU', count: 1 });
  expect(await ann.get(`/datasets/${orders.id}/discover?fields=colour`)).toMatchObject({ status: 400 });
});

test('rows are grouped and measured', async ({ ann, orders }) => {
  const ask = (query: object) => ann.post(`/datasets/${orders.id}/_aggregate`, query);
  const { status, body } = await ask({
    groupBy: [{ field: 'region' }],
    measures: [
      { fn: 'count', as: 'n' },
      { fn: 'sum', field: 'amount', as: 'sum' },
    ],
    sort: '-sum',
    limit: 2,
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    columns: [{ name: 'region', label: 'region', type: 'string' }, { name: 'n' }, { name: 'sum' }],
    rows: [
      ['EU', 5, 600],
      [null, 5, 550],
    ],
    total: 4,
    truncated: true,
  });
  const months = await ask({
    groupBy: [{ field: 'ordered_on', interval: 'month' }],
    measures: [{ fn: 'countDistinct', field: 'region', as: 'regions' }],
  });
  expect(months.body.rows).toEqual([['2026-01-01', 3]]);
  expect(await ask({ measures: [{ fn: 'sum', field: 'region', as: 'x' }] })).toMatchObject({ status: 400 });
  expect(await ask({ measures: [{ fn: 'median', field: 'amount', as: 'x' }] })).toMatchObject({ status: 400 });
  expect(await ask({ measures: [{ fn: 'sum', as: 'x' }] })).toMatchObject({ status: 400 });
  expect(await ask({ groupBy: [{ field: 'region', interval: 'day' }], measures: [] })).toMatchObject({ status: 400 });
  expect(await ask({ groupBy: [{ field: 'colour' }], measures: [] })).toMatchObject({ status: 400 });
});

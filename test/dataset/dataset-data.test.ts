import { expect } from 'vitest';
import type { ApiResponse, Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test as base } from '../support/shop-fixture.ts';
import { createOrders, recordsOf } from './dataset-fixture.ts';

/** The shop with a dataset of its orders, and a way to search its rows. */
const test = base.extend<{ orders: { id: string }; search: (query: object) => Promise<ApiResponse> }>({
  orders: [async ({ ann, source }, use) => use(await createOrders(ann, source, { refresh: true })), { scope: 'file' }],
  search: async ({ ann, orders }, use) => use((query) => ann.post(`/datasets/${orders.id}/_search`, query)),
});

const idsOf = (page: ApiResponse['body']) => recordsOf(page).map(({ id }) => id);
const getIds = async (reader: Client, path: string) => idsOf((await reader.get(path)).body);
const encodeJson = (value: unknown): string => encodeURIComponent(JSON.stringify(value));

test('a page has rows, fields and links, and is equal by GET and by POST', async ({ ann, orders, search }) => {
  const path = `/datasets/${orders.id}/data?limit=2&fields=id,region&sort=-id`;
  const page = await expectBody(ann.get(path), 200, {
    _links: { self: { href: `/api${path}` } },
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
  expect(page._links.last).toBeUndefined();
  await expectBody(search({ limit: 2, fields: ['id', 'region'], sort: '-id' }), 200, {
    _embedded: page._embedded,
    total: 20,
  });
});

test('a filter is criteria, as JSON text or as an object', async ({ ann, orders, search }) => {
  const criteria = { region: 'EU', amount: { $gte: 100 } };
  expect(await getIds(ann, `/datasets/${orders.id}/data?filter=${encodeJson(criteria)}`)).toEqual([12, 16, 20]);
  expect(idsOf((await search({ filter: criteria })).body)).toEqual([12, 16, 20]);
  expect(idsOf((await search({ filter: { region: null }, limit: 2 })).body)).toEqual([3, 7]);
});

test('an invalid filter is refused', async ({ search }) => {
  await expectError(search({ filter: { colour: 'red' } }), 400, /"colour"/);
  await expectError(search({ filter: { amount: { $near: 1 } } }), 400, /\$near/);
  await expectError(search({ filter: '{"region":' }), 400);
  await expectError(search({ filter: 'no-such-filter' }), 404, 'There is no filter no-such-filter');
});

test('q finds words regardless of case and accents', async ({ search }) => {
  expect(idsOf((await search({ q: 'ZOE deliv' })).body)).toEqual([5, 10, 15, 20]);
  await expectBody(search({ q: 'nobody' }), 200, { total: 0, _embedded: { 'svc:record': [] } });
});

test('rows are sorted by several fields, ties by row number, with missing values last', async ({ search }) => {
  expect(idsOf((await search({ sort: 'region,-id', limit: 3 })).body)).toEqual([18, 14, 10]);
  expect(idsOf((await search({ sort: '-region', start: 15 })).body)).toEqual([3, 7, 11, 15, 19]);
  await expectError(search({ sort: 'colour' }), 400);
});

test('the next links lead through all rows', async ({ ann, orders }) => {
  const seen: unknown[] = [];
  let path: string | undefined = `/datasets/${orders.id}/data?limit=7&sort=-amount`;
  while (path) {
    const { body } = await ann.get(path);
    seen.push(...idsOf(body));
    path = body._links.next?.href.replace(/^\/api/, '');
  }
  expect(seen).toEqual(Array.from({ length: 20 }, (_, i) => 20 - i));
});

test('limits are checked, and rows past 10,000 require after', async ({ search }) => {
  await expectError(search({ limit: 0 }), 400);
  await expectError(search({ limit: 10_001 }), 400);
  await expectError(search({ start: -1 }), 400);
  await expectError(search({ start: 9_999, limit: 2 }), 400, /after/);
  await expectError(search({ after: 'abc' }), 400);
  await expectError(search({ fields: ['colour'] }), 400);
});

test('a cursor continues in the rows it began in, until they are deleted', async ({ service, ann, source }) => {
  const { id } = await createOrders(ann, source, { query: 'select id from orders order by id', refresh: true });
  const { next } = (await ann.get(`/datasets/${id}/data?limit=5`)).body;
  await ann.put(`/datasets/${id}`, { query: 'select -id as id from orders order by id' });
  await ann.post(`/datasets/${id}/_refresh`);
  expect(await getIds(ann, `/datasets/${id}/data?limit=3&after=${next}`)).toEqual([6, 7, 8]);
  expect(await getIds(ann, `/datasets/${id}/data?limit=1`)).toEqual([-20]);
  await service.platform.system.query({
    text: `
      update dws.generation
      set replaced_at = now() - interval '11 minutes'
      where dataset_id = $1 and replaced_at is not null`,
    values: [id],
  });
  await expectBody(ann.get(`/datasets/${id}/data?after=${next}`), 410, { code: 'GONE' });
});

test('GraphQL reads rows below their dataset', async ({ ann, orders }) => {
  const { dataset } = await ann.data(
    `query ($filter: RowFilter) {
      dataset(id: "${orders.id}") { name data(filter: $filter, limit: 1) { items total next fields { name type } } }
    }`,
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
  const path = `/datasets/${orders.id}/discover`;
  const profile = await expectBody(
    ann.get(`${path}?fields=amount,region&filter=${encodeJson({ id: { $lte: 4 } })}`),
    200,
    {
      total: 4,
      fields: [
        { name: 'amount', type: 'number', count: 4, missing: 0, distinct: 4, min: 10, max: 40, avg: 25 },
        { name: 'region', count: 3, missing: 1, distinct: 3 },
      ],
    },
  );
  expect(profile.fields[1].top).toContainEqual({ value: 'EU', count: 1 });
  await expectError(ann.get(`${path}?fields=colour`), 400);
});

test('rows are grouped and measured', async ({ ann, orders }) => {
  const path = `/datasets/${orders.id}/_aggregate`;
  const byRegion = {
    groupBy: [{ field: 'region' }],
    measures: [
      { fn: 'count', as: 'n' },
      { fn: 'sum', field: 'amount', as: 'sum' },
    ],
    sort: '-sum',
    limit: 2,
  };
  await expectBody(ann.post(path, byRegion), 200, {
    columns: [{ name: 'region', label: 'region', type: 'string' }, { name: 'n' }, { name: 'sum' }],
    rows: [
      ['EU', 5, 600],
      [null, 5, 550],
    ],
    total: 4,
    truncated: true,
  });
  const byMonth = {
    groupBy: [{ field: 'ordered_on', interval: 'month' }],
    measures: [{ fn: 'countDistinct', field: 'region', as: 'regions' }],
  };
  const { rows } = (await ann.post(path, byMonth)).body;
  expect(rows).toEqual([['2026-01-01', 3]]);
});

test('an invalid aggregation is refused', async ({ ann, orders }) => {
  const aggregate = (query: object) => ann.post(`/datasets/${orders.id}/_aggregate`, query);
  await expectError(aggregate({ measures: [{ fn: 'sum', field: 'region', as: 'x' }] }), 400);
  await expectError(aggregate({ measures: [{ fn: 'median', field: 'amount', as: 'x' }] }), 400);
  await expectError(aggregate({ measures: [{ fn: 'sum', as: 'x' }] }), 400);
  await expectError(aggregate({ groupBy: [{ field: 'region', interval: 'day' }], measures: [] }), 400);
  await expectError(aggregate({ groupBy: [{ field: 'colour' }], measures: [] }), 400);
});

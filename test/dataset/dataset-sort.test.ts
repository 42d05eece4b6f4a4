import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectGraphqlError, expectInvalid } from '../support/expect.ts';
import { test as base } from '../support/shop-fixture.ts';
import { createOrders, recordsOf } from './dataset-fixture.ts';

/** Fields whose names differ in blanks and signs only. Each sorts the rows in another order. */
const BLANKS = `
  select * from (values (1, 20, 300, 4, 60, 500), (2, 30, 100, 5, 40, 600), (3, 10, 200, 6, 50, 400))
    v(id, lead, " lead", "lead ", "-lead", "- x")`;

const test = base.extend<{ orders: string; blanks: string }>({
  orders: [
    async ({ ann, source }, use) => use((await createOrders(ann, source, { refresh: true })).id),
    { scope: 'file' },
  ],
  blanks: [
    async ({ ann, source }, use) => use((await createOrders(ann, source, { query: BLANKS, refresh: true })).id),
    { scope: 'file' },
  ],
});

/** Returns the ids of the rows in this order, if REST by GET and POST, an export and GraphQL agree. */
async function sortedIds(reader: Client, dataset: string, sort: string): Promise<unknown[]> {
  const path = `/datasets/${dataset}`;
  const query = `sort=${encodeURIComponent(sort)}`;
  const ids = recordsOf((await reader.get(`${path}/data?${query}`)).body).map(({ id }) => id);
  expect(recordsOf((await reader.post(`${path}/_search`, { sort })).body).map(({ id }) => id)).toEqual(ids);
  const exported = (await reader.get(`${path}/export?format=json&${query}`)).body as { id: unknown }[];
  expect(exported.map(({ id }) => id)).toEqual(ids);
  const document = 'query ($id: ID!, $sort: String) { dataset(id: $id) { data(sort: $sort) { items } } }';
  const { dataset: found } = await reader.data(document, { id: dataset, sort });
  expect(found.data.items.map(({ id }: { id: unknown }) => id)).toEqual(ids);
  return ids;
}

test.for([
  ['lead', [3, 1, 2]],
  [' lead', [2, 3, 1]],
  ['- lead', [1, 3, 2]],
  ['lead ', [1, 2, 3]],
  ['-lead ', [3, 2, 1]],
  ['-lead', [2, 3, 1]],
  ['--lead', [1, 3, 2]],
  ['- x', [3, 1, 2]],
  ['-- x', [2, 1, 3]],
  ['  lead  ', [3, 1, 2]],
  ['id, lead', [1, 2, 3]],
  [' lead,id', [2, 3, 1]],
  [' -id ', [3, 2, 1]],
  [' - lead', [1, 3, 2]],
  ['', [1, 2, 3]],
  [' , ,', [1, 2, 3]],
] as const)('%j names a field with its blanks before one without them', async ([sort, ids], { ann, blanks }) => {
  expect(await sortedIds(ann, blanks, sort)).toEqual(ids);
});

/** Names with commas, one of them the beginning of another one, and two that a third contains. */
const COMMAS = `
  select * from (values (1, 20, 300, 4, 60, 500), (2, 30, 100, 5, 40, 600), (3, 10, 200, 6, 50, 400))
    v(id, "Revenue, EUR", "Revenue", "a,b", "a", "-x, y")`;

test('a name with commas is taken before its parts', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, { query: COMMAS, refresh: true });
  for (const [sort, ids] of [
    ['Revenue, EUR', [3, 1, 2]],
    ['-Revenue, EUR', [2, 1, 3]],
    ['Revenue', [2, 3, 1]],
    [' Revenue, EUR ,id', [3, 1, 2]],
    ['a,b', [1, 2, 3]],
    ['a,id', [2, 3, 1]],
    ['-x, y', [3, 1, 2]],
    ['--x, y', [2, 1, 3]],
    ['Revenue, EUR,-Revenue, EUR', [3, 1, 2]],
  ] as const)
    expect(await sortedIds(ann, id, sort), sort).toEqual(ids);
  const path = `/datasets/${id}`;
  const names = encodeURIComponent('["Revenue, EUR","id"]');
  expect(recordsOf((await ann.get(`${path}/data?fields=${names}&limit=1`)).body)).toEqual([
    { 'Revenue, EUR': 20, id: 1 },
  ]);
  const profile = await ann.get(`${path}/discover?fields=${names}`);
  expect(profile.body.fields.map(({ name }: { name: string }) => name)).toEqual(['Revenue, EUR', 'id']);
  const groups = { groupBy: [{ field: 'Revenue, EUR' }], measures: [{ fn: 'count', as: 'n' }], sort: '-Revenue, EUR' };
  expect((await ann.post(`${path}/_aggregate`, groups)).body.rows).toEqual([
    [30, 1],
    [20, 1],
    [10, 1],
  ]);
  const visual = await ann.creates(`${path}/visuals`, {
    component: 'table',
    config: { sortBy: 'Revenue, EUR', sortOrder: 'desc' },
  });
  const { body } = await ann.get(`${path}/visuals/${visual.id}/data`);
  expect(body.rows.map(([first]: unknown[]) => first)).toEqual([2, 1, 3]);
});

test('fields of a row and groups are named with their blanks', async ({ ann, blanks }) => {
  const path = `/datasets/${blanks}`;
  const fields = encodeURIComponent(' lead,lead ,id');
  expect(recordsOf((await ann.get(`${path}/data?fields=${fields}&limit=1`)).body)).toEqual([
    { ' lead': 300, 'lead ': 4, id: 1 },
  ]);
  const groups = await ann.post(`${path}/_aggregate`, {
    groupBy: [{ field: ' lead' }],
    measures: [{ fn: 'sum', field: 'lead ', as: ' sum' }],
    sort: '- sum',
  });
  expect(groups.body.rows.map(Object.values)).toEqual([
    [200, 6],
    [100, 5],
    [300, 4],
  ]);
  const profile = await ann.get(`${path}/discover?fields=${encodeURIComponent(' lead')}`);
  expect(profile.body.fields.map(({ name }: { name: string }) => name)).toEqual([' lead']);
});

test('at most 20 names are accepted, and a repeated one counts once', async ({ ann, orders }) => {
  expect(await sortedIds(ann, orders, 'region,id,-region,-id')).toEqual(await sortedIds(ann, orders, 'region,id'));
  expect(await sortedIds(ann, orders, Array(20).fill('-id').join(','))).toEqual(await sortedIds(ann, orders, '-id'));
  const path = `/datasets/${orders}`;
  const message = 'sort must name at most 20 fields';
  for (const count of [21, 2000]) {
    const sort = Array(count).fill('id').join(',');
    const measures = [{ fn: 'count', as: 'id' }];
    await expectInvalid(ann.get(`${path}/data?sort=${sort}`), 'sort', message);
    await expectInvalid(ann.post(`${path}/_search`, { sort }), 'sort', message);
    await expectInvalid(ann.post(`${path}/_aggregate`, { measures, sort }), 'sort', message);
    await expectInvalid(ann.get(`${path}/export?format=csv&sort=${sort}`), 'sort', message);
    const variables = { id: orders, sort };
    const data = 'query ($id: ID!, $sort: String) { dataset(id: $id) { data(sort: $sort) { items } } }';
    await expectGraphqlError(ann.gql(data, variables), 'BAD_USER_INPUT', message);
    const aggregate = `query ($id: ID!, $sort: String) {
      dataset(id: $id) { aggregate(measures: [{ fn: COUNT, as: "id" }], sort: $sort) { rows } }
    }`;
    await expectGraphqlError(ann.gql(aggregate, variables), 'BAD_USER_INPUT', message);
  }
});

test('the sort of a list has at most 500 characters, and a repeated field counts once', async ({ ann }) => {
  const first = await ann.get('/datasets?sort=-name,name,name,-name');
  expect(first.body._embedded).toEqual((await ann.get('/datasets?sort=-name')).body._embedded);
  const sort = Array(101).fill('name').join(',');
  await expectInvalid(ann.get(`/datasets?sort=${sort}`), 'sort', /at most 500 characters/);
  await expectGraphqlError(
    ann.gql('query ($sort: String) { datasets(sort: $sort) { items { id } } }', { sort }),
    'BAD_USER_INPUT',
    'sort must have at most 500 characters',
  );
});

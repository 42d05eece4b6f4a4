import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { test as base } from '../support/shop-fixture.ts';
import { createOrders, recordsOf } from './dataset-fixture.ts';

/** Rows in an order of their own. All ids, and all prices, are one double. */
const NEIGHBOURS = `
  select * from (values
    ('max', 9007199254740996::bigint, 1234567890123456.71::numeric),
    ('pia', 9007199254740998::bigint, 1234567890123456.73::numeric),
    ('lea', 9007199254740997::bigint, 1234567890123456.72::numeric)) v(owner, id, price)`;

const test = base.extend<{ neighbours: string }>({
  neighbours: [
    async ({ ann, source }, use) => use((await createOrders(ann, source, { query: NEIGHBOURS, refresh: true })).id),
    { scope: 'file' },
  ],
});

const ROWS =
  'query ($id: ID!, $filter: RowFilter, $sort: String) { dataset(id: $id) { data(filter: $filter, sort: $sort) { items } } }';

const owners = (rows: Record<string, unknown>[]) => rows.map(({ owner }) => owner);

/** Returns the owners of the rows that match, if REST and GraphQL agree. */
async function find(reader: Client, dataset: string, criteria: unknown, sort = 'owner'): Promise<unknown[]> {
  const filter = encodeURIComponent(JSON.stringify(criteria));
  const found = owners(recordsOf((await reader.get(`/datasets/${dataset}/data?filter=${filter}&sort=${sort}`)).body));
  const { dataset: twin } = await reader.data(ROWS, { id: dataset, filter: criteria, sort });
  expect(owners(twin.data.items)).toEqual(found);
  return found;
}

test.for([
  [{ id: '9007199254740997' }, ['lea']],
  [{ id: { $ne: '9007199254740997' } }, ['max', 'pia']],
  [{ id: { $in: ['9007199254740996', '9007199254740998', null] } }, ['max', 'pia']],
  [{ id: { $nin: ['9007199254740996'] } }, ['lea', 'pia']],
  [{ id: { $gt: '9007199254740996' } }, ['lea', 'pia']],
  [{ id: { $gte: '9007199254740996.5' } }, ['lea', 'pia']],
  [{ id: { $lt: '9007199254740997' } }, ['max']],
  [{ id: { $lte: '9.007199254740997e15' } }, ['lea', 'max']],
  [{ id: '9007199254740997.5' }, []],
  [{ id: { $lt: '1e300' } }, ['lea', 'max', 'pia']],
  [{ id: { $gt: 9007199254740991 } }, ['lea', 'max', 'pia']],
  [{ price: '1234567890123456.72' }, ['lea']],
  [{ price: { $gt: '1234567890123456.71' } }, ['lea', 'pia']],
  [{ price: { $in: ['1234567890123456.7300', '1'] } }, ['pia']],
  [{ price: { $not: { $lte: '1234567890123456.72' } } }, ['pia']],
] as const)('%j finds the rows with exactly such values', async ([criteria, expected], { ann, neighbours }) => {
  expect(await find(ann, neighbours, criteria)).toEqual(expected);
});

test('a whole JSON number that may have been rounded is refused, and named', async ({ ann, neighbours }) => {
  const message = /^The field "id" has the format int64: write whole numbers past 9007199254740991 as a text/;
  const filter = encodeURIComponent('{"id":9007199254740997}');
  await expectError(ann.get(`/datasets/${neighbours}/data?filter=${filter}`), 400, message);
  await expectGraphqlError(
    ann.gql(ROWS, { id: neighbours, filter: { id: { $in: [9007199254740996] } } }),
    'BAD_USER_INPUT',
    message,
  );
});

test.for(['id', 'price'])('rows are sorted and paged by all digits of %s', async (field, { ann, neighbours }) => {
  expect(await find(ann, neighbours, {}, field)).toEqual(['max', 'lea', 'pia']);
  expect(await find(ann, neighbours, {}, `-${field}`)).toEqual(['pia', 'lea', 'max']);
  const path = `/datasets/${neighbours}/data?sort=${field}&limit=1`;
  const seen: unknown[] = [];
  for (let after = ''; seen.length < 4;) {
    const { body } = await ann.get(path + after);
    seen.push(...owners(recordsOf(body)));
    if (!body._links.next) break;
    after = `&after=${new URL(body._links.next.href, 'http://x').searchParams.get('after')}`;
  }
  expect(seen).toEqual(['max', 'lea', 'pia']);
  const extremes = await ann.post(`/datasets/${neighbours}/_aggregate`, {
    groupBy: [],
    measures: ['min', 'max'].map((fn) => ({ fn, field, as: fn })),
  });
  const { rows } = extremes.body;
  expect(rows).toEqual([
    field === 'id' ? ['9007199254740996', '9007199254740998'] : ['1234567890123456.71', '1234567890123456.73'],
  ]);
});

test.for([{ id: '9007199254740997' }, { price: '1234567890123456.72' }])(
  'a share restricted to %j never shows its neighbours',
  async (criteria, { ann, bob, neighbours }) => {
    const filter = await ann.creates(`/datasets/${neighbours}/filters`, { name: 'One', criteria });
    await ann.put(`/datasets/${neighbours}/shares/bob`, { accessLevel: 1, datasetFilterId: filter.id });
    expect(await find(bob, neighbours, {})).toEqual(['lea']);
    expect(await find(bob, neighbours, { owner: { $ne: 'lea' } })).toEqual([]);
  },
);

test('a flow filters and sorts by all digits', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, {
    query: NEIGHBOURS,
    flow: [
      { type: 'filter', criteria: { id: { $gte: '9007199254740997' } } },
      { type: 'sort', field: 'price', order: 'asc' },
    ],
    refresh: true,
  });
  expect(owners(recordsOf((await ann.get(`/datasets/${id}/data`)).body))).toEqual(['lea', 'pia']);
});

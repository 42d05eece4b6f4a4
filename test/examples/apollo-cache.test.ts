import { parse } from 'graphql';
import { expect } from 'vitest';
import { connect } from '../../examples/graphql/client.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/shop-fixture.ts';

/** Connects Apollo Client, with the cache of the example, as this user. */
const connectAs = ({ url, headers }: Client) => connect(url, headers['authorization']).client;

const REPORTS = parse(`
  query Reports {
    reports(sort: "name") {
      items {
        id
        name
        datasetReferences { id alias dataset { id name } }
        data { blocks { id block data } }
      }
    }
  }
`);

test('two reports with the same aliases and block names keep their own data', async ({ ann, source }) => {
  for (const region of ['APAC', 'EU']) {
    const dataset = await ann.creates('/datasets', {
      name: `Orders of ${region}`,
      datasourceId: source.id,
      query: `select id from orders where region = '${region}' order by id`,
      refresh: true,
    });
    const blocks = [{ id: 'orders', type: 'table', dataset: 'sales', limit: 2 }];
    const report = await ann.creates('/reports', { name: `Report ${region}`, definition: { blocks } });
    await ann.creates(`/reports/${report.id}/dataset-refs`, {
      reportId: report.id,
      datasetId: dataset.id,
      alias: 'sales',
      label: 'Sales',
    });
  }
  const client = connectAs(ann);
  await client.query({ query: REPORTS });
  const cached = await client.query<any>({ query: REPORTS, fetchPolicy: 'cache-only' });
  const direct = await ann.data(`{
    reports(sort: "name") { items { datasetReferences { id } data { blocks { id } } } }
  }`);
  const shown = cached.data.reports.items.map(({ name, datasetReferences: [reference], data: { blocks } }: any) => ({
    name,
    alias: reference.alias,
    dataset: reference.dataset.name,
    block: blocks[0].block,
    rows: blocks[0].data.rows,
  }));
  expect(shown).toEqual([
    { name: 'Report APAC', alias: 'sales', dataset: 'Orders of APAC', block: 'orders', rows: [{ id: 2 }, { id: 6 }] },
    { name: 'Report EU', alias: 'sales', dataset: 'Orders of EU', block: 'orders', rows: [{ id: 4 }, { id: 8 }] },
  ]);
  const idsOf = ({ reports }: any) =>
    reports.items.flatMap(({ datasetReferences, data }: any) =>
      [...datasetReferences, ...data.blocks].map(({ id }) => id),
    );
  expect(idsOf(cached.data)).toEqual(idsOf(direct));
  expect(new Set(idsOf(direct)).size).toBe(4);
});

const TAGGED = parse(`
  query Tagged($tag: ID!, $start: Int, $limit: Int!) {
    datasets(tag: $tag, sort: "name", start: $start, limit: $limit) {
      start count total hasNextPage
      items { id name }
    }
  }
`);

test('pages that `fetchMore` appends keep order and count, and lists with other arguments are apart', async ({
  ann,
  admin,
  source,
}) => {
  const [paged, other] = [
    await admin.creates('/tags', { name: 'paged' }),
    await admin.creates('/tags', { name: 'not paged' }),
  ];
  const create = (name: string, tags: string[]) =>
    ann.creates('/datasets', { name, tags, datasourceId: source.id, query: 'select 1 as n' });
  for (const name of ['C', 'A', 'E', 'B', 'D']) await create(name, [paged.id]);
  await create('F', [other.id]);

  const client = connectAs(ann);
  const list = client.watchQuery<any>({ query: TAGGED, variables: { tag: paged.id, limit: 2 } });
  const subscription = list.subscribe(() => {});
  const readList = (tag: string) =>
    client.readQuery<any>({ query: TAGGED, variables: { tag, limit: 2 } })?.datasets ?? null;
  const shown = (tag = paged.id) => {
    const datasets = readList(tag);
    return datasets && { ...datasets, __typename: undefined, items: datasets.items.map(({ name }: any) => name) };
  };

  await list.refetch();
  expect(shown()).toEqual({ start: 0, count: 2, total: 5, hasNextPage: true, items: ['A', 'B'] });
  await list.fetchMore({ variables: { start: 2 } });
  expect(shown()).toEqual({ start: 0, count: 4, total: 5, hasNextPage: true, items: ['A', 'B', 'C', 'D'] });
  await list.fetchMore({ variables: { start: 2 } });
  expect(shown(), 'the same page again').toMatchObject({ count: 4, items: ['A', 'B', 'C', 'D'] });
  await client.query({ query: TAGGED, variables: { tag: other.id, limit: 2 } });
  expect(shown(other.id)).toEqual({ start: 0, count: 1, total: 1, hasNextPage: false, items: ['F'] });
  await list.fetchMore({ variables: { start: 4 } });
  expect(shown()).toEqual({ start: 0, count: 5, total: 5, hasNextPage: false, items: ['A', 'B', 'C', 'D', 'E'] });

  await create('AA', [paged.id]);
  await list.refetch();
  expect(shown(), 'the first page replaces the list').toEqual({
    start: 0,
    count: 2,
    total: 6,
    hasNextPage: true,
    items: ['A', 'AA'],
  });
  subscription.unsubscribe();
});

test('a missing dataset leaves the found one in `data`, and the cache', async ({ ann, source }) => {
  const { id } = await ann.creates('/datasets', { name: 'Found', datasourceId: source.id, query: 'select 1 as n' });
  const client = connectAs(ann);
  const found = { __typename: 'Dataset', id, name: 'Found' };
  const { data, error } = await client.query({
    query: parse(
      `query Both($id: ID!) { found: dataset(id: $id) { id name } missing: dataset(id: "nowhere") { id name } }`,
    ),
    variables: { id },
    errorPolicy: 'all',
  });
  expect(data).toEqual({ found, missing: null });
  expect(error).toMatchObject({
    name: 'CombinedGraphQLErrors',
    errors: [{ path: ['missing'], message: 'There is no dataset nowhere', extensions: { code: 'NOT_FOUND' } }],
  });
  expect(client.cache.extract()).toMatchObject({ [`Dataset:${id}`]: found });
});

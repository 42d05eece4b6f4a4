import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { CHIPS, EU, test } from '../support/report-fixture.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';

const FIELDS = [
  { name: 'id', label: 'id', type: 'integer' },
  { name: 'region', label: 'region', type: 'string' },
  { name: 'amount', label: 'amount', type: 'number' },
  { name: 'ordered_on', label: 'ordered_on', type: 'date' },
];
const FIELD_NAMES = FIELDS.map(({ name }) => ({ name }));

test('a dataset is attached to a report under an alias, and read with its counts and fields', async ({
  ann,
  orders,
  report,
}) => {
  const id = await report();
  const path = `/reports/${id}/dataset-refs`;
  const created = await ann.post(path, {
    reportId: id,
    datasetId: orders.id,
    alias: 'sales',
    label: 'Sales',
    filter: EU,
    chips: CHIPS,
  });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: 'sales',
    reportId: id,
    datasetId: orders.id,
    alias: 'sales',
    label: 'Sales',
  });
  expect(created.headers.get('location')).toBe(`/api${path}/sales`);

  const sales = {
    id: 'sales',
    alias: 'sales',
    reportId: id,
    datasetId: orders.id,
    label: 'Sales',
    filter: EU,
    chips: CHIPS,
    snapshots: null,
    count: 5,
    countWithoutSnapshots: 5,
    overallCount: 20,
    problem: null,
    dataset: { id: orders.id, name: 'Orders', fields: FIELDS },
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    _links: {
      self: { href: `/api${path}/sales` },
      'svc:report': { href: `/api/reports/${id}` },
      'svc:dataset': { href: `/api/datasets/${orders.id}` },
    },
  };
  const { curies: _, ..._links } = (await ann.get(`${path}/sales`)).body._links;
  expect({ ...(await ann.get(`${path}/sales`)).body, _links }).toEqual(sales);

  await ann.creates(path, { reportId: id, datasetId: 'orders', alias: '_all-2', label: ' All ' });
  const all = { id: '_all-2', label: 'All', filter: {}, chips: [], count: 20, overallCount: 20 };
  expect((await ann.get(path)).body).toMatchObject({
    start: 0,
    count: 2,
    total: 2,
    _embedded: { 'svc:dataset-reference': [sales, all] },
  });
  await expectError(ann.get(`${path}/unknown`), 404, 'There is no dataset reference unknown');
});

test('references of a report in GraphQL', async ({ ann, report, attach }) => {
  const id = await report();
  await attach(id, { filter: EU, chips: CHIPS });
  await attach(id, { alias: 'all', label: 'All' });
  const query = `{ report(id: "${id}") {
    datasetReferences {
      id: alias alias label filter chips { field label } snapshots { n } count dataset { name fields { name } }
    }
    datasetReference(alias: "sales") { id: alias countWithoutSnapshots overallCount problem }
  } }`;
  const dataset = { name: 'Orders', fields: FIELD_NAMES };
  expect((await ann.data(query)).report).toEqual({
    datasetReferences: [
      { id: 'sales', alias: 'sales', label: 'Sales', filter: EU, chips: CHIPS, snapshots: null, count: 5, dataset },
      { id: 'all', alias: 'all', label: 'All', filter: {}, chips: [], snapshots: null, count: 20, dataset },
    ],
    datasetReference: { id: 'sales', countWithoutSnapshots: 5, overallCount: 20, problem: null },
  });

  const unknown = ann.gql(`{ report(id: "${id}") { datasetReference(alias: "unknown") { id } } }`);
  await expectGraphqlError(unknown, 'NOT_FOUND', 'There is no dataset reference unknown');
  expect((await unknown).errors[0].extensions.status).toBe(404);
});

test('a reference is found by its alias and by its id, in both APIs', async ({ ann, report, attach }) => {
  const id = await report();
  const path = await attach(id);
  const query = `query ($report: ID!, $key: ID!) { report(id: $report) { datasetReference(alias: $key) { id alias } } }`;
  const reference = (await ann.data(query, { report: id, key: 'sales' })).report.datasetReference;
  expect(reference).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), alias: 'sales' });
  const byId = { report: id, key: reference.id.toUpperCase() };
  expect((await ann.data(query, byId)).report.datasetReference).toEqual(reference);
  const single = `/reports/${id}/dataset-refs/${reference.id}`;
  await expectBody(ann.get(single), 200, { id: 'sales', alias: 'sales', _links: { self: { href: `/api${path}` } } });
  await expectBody(ann.put(single, { label: 'By id' }), 200, { label: 'By id' });
  // An alias may look like an id, and comes first.
  const other = await attach(id, { alias: reference.id });
  await expectBody(ann.get(other), 200, { alias: reference.id });
  await expectError(ann.get(`/reports/${await report()}/dataset-refs/${reference.id}`), 404);
});

test('GraphQL attaches, updates and detaches like REST', async ({ ann, orders, report }) => {
  const id = await report([{ id: 'a', type: 'table', dataset: 'eu' }]);
  const blocksOf = async () => (await ann.get(`/reports/${id}`)).body.definition.blocks;
  const input = {
    reportId: id,
    datasetId: orders.id,
    alias: 'eu',
    label: 'Europe',
    filter: EU,
    snapshots: { type: 'N', n: 2 },
  };
  const create = `mutation ($id: ID!, $input: CreateDatasetReferenceInput!) {
    createDatasetReference(reportId: $id, input: $input) {
      id: alias reportId count snapshots { includeLatest type n snapshotDatasets { datasetId } }
    }
  }`;
  expect(await ann.data(create, { id, input })).toEqual({
    createDatasetReference: {
      id: 'eu',
      reportId: id,
      count: 12,
      snapshots: { includeLatest: true, type: 'N', n: 2, snapshotDatasets: [] },
    },
  });

  const update = `mutation {
    updateDatasetReference(reportId: "${id}", alias: "eu", input: { alias: "europe", snapshots: null }) {
      id: alias label count snapshots { n }
    }
  }`;
  expect(await ann.data(update)).toEqual({
    updateDatasetReference: { id: 'europe', label: 'Europe', count: 5, snapshots: null },
  });
  expect(await blocksOf()).toEqual([{ id: 'a', type: 'table', dataset: 'europe' }]);

  const invalidUpdate = ann.gql(`mutation {
    updateDatasetReference(reportId: "${id}", alias: "europe", input: { alias: "no spaces" }) { id }
  }`);
  await expectGraphqlError(invalidUpdate, 'BAD_USER_INPUT');
  expect((await invalidUpdate).errors[0].extensions.status).toBe(400);

  expect(await ann.data(`mutation { deleteDatasetReference(reportId: "${id}", alias: "europe") }`)).toEqual({
    deleteDatasetReference: 'europe',
  });
  expect(await blocksOf()).toEqual([]);
});

test('counts include current rows and snapshots, with and without the filter', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const { q1, q2 } = orders;
  const path = await attach(await report(), { filter: EU });
  /** Returns `count`, `countWithoutSnapshots` and `overallCount` with these snapshot settings. */
  const countsWith = async (snapshots: object | null) => {
    const { body } = await ann.put(path, { snapshots });
    return [body.count, body.countWithoutSnapshots, body.overallCount];
  };
  expect(await countsWith(null)).toEqual([5, 5, 20]);
  expect(await countsWith({}), 'no snapshot chosen').toEqual([5, 5, 20]);
  expect(await countsWith({ snapshotDatasets: [q1] })).toEqual([8, 5, 32]);
  expect(await countsWith({ snapshotDatasets: [q1, q2] })).toEqual([12, 5, 48]);
  expect(
    await countsWith({ includeLatest: false, snapshotDatasets: [q2] }),
    'excluded current rows count in overallCount only',
  ).toEqual([4, 5, 36]);
  expect(await countsWith({ type: 'n' }), 'the latest snapshot').toEqual([9, 5, 36]);
  expect(await countsWith({ type: 'n', n: 5, snapshotDatasets: [q1] }), 'fewer than n').toEqual([12, 5, 48]);
  expect(await countsWith({ includeLatest: false, type: 'n', n: 1 })).toEqual([4, 5, 36]);

  const withoutFilter = await ann.put(path, { filter: null, snapshots: { snapshotDatasets: [q1] } });
  expect(withoutFilter.body).toMatchObject({
    filter: {},
    count: 32,
    countWithoutSnapshots: 20,
    overallCount: 32,
    snapshots: { includeLatest: true, type: null, n: 1, snapshotDatasets: [{ datasetId: q1 }] },
  });
});

test('every operator filters rows, with and without `$`', async ({ ann, report, attach }) => {
  const path = await attach(await report());
  const cases: [field: string, op: string, value: unknown, count: number][] = [
    ['region', 'eq', 'EU', 5],
    ['region', '$ne', 'EU', 15],
    ['id', 'gt', 18, 2],
    ['id', '$gte', 18, 3],
    ['id', 'lt', 3, 2],
    ['id', 'lte', 3, 3],
    ['region', '$in', ['EU', 'US'], 10],
    ['region', 'nin', ['EU', 'US'], 10],
    ['region', 'regex', '^A', 5],
    ['region', 'exists', false, 5],
    ['region', 'eq', null, 5],
    ['ordered_on', 'lte', '2026-01-03', 2],
  ];
  for (const [field, op, value, count] of cases) {
    const filter = { criteria: [{ field, op, value }] };
    await expectBody(ann.put(path, { filter }), 200, { filter, count });
  }
  const between = [
    { field: 'id', op: 'gt', value: 10 },
    { field: 'id', op: 'lt', value: 20 },
  ];
  const filter = { criteria: [...EU.criteria, ...between] };
  expect((await ann.put(path, { filter })).body.count, 'rows must match all conditions').toBe(2);
});

test('a dataset that a report shows lists the report as a reference and cannot be deleted', async ({
  ann,
  bob,
  source,
  report,
}) => {
  const input = { name: 'Shown', datasourceId: source.id, query: ORDERS_QUERY };
  const { id: datasetId } = await ann.creates('/datasets', input);
  const path = `/datasets/${datasetId}`;
  const id = await report();
  for (const alias of ['one', 'two']) {
    await ann.creates(`/reports/${id}/dataset-refs`, { reportId: id, datasetId, alias, label: alias });
  }
  expect((await ann.get(`${path}/references`)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:reference': [{ kind: 'report', id, name: 'Sales' }] },
  });
  await expectBody(ann.delete(path), 409, { code: 'CONFLICT', message: 'The dataset is in use by report "Sales"' });
  await expectGraphqlError(ann.gql(`mutation { deleteDataset(id: "${datasetId}") }`), 'CONFLICT');

  await ann.put(`${path}/shares/bob`, { accessLevel: 3 });
  // Reports that the caller cannot read are only counted.
  await expectError(bob.delete(path), 409, 'The dataset is in use by 1 more');
  expect((await ann.delete(`/reports/${id}`)).status).toBe(204);
  expect((await ann.delete(path)).status).toBe(204);
});

test('a filter that no longer fits is reported as a problem and counts no rows', async ({ ann, source, report }) => {
  const { id: datasetId } = await ann.creates('/datasets', {
    name: 'Changing',
    datasourceId: source.id,
    query: 'select id, region from orders',
    refresh: true,
  });
  const id = await report();
  const path = `/reports/${id}/dataset-refs`;
  await ann.creates(path, { reportId: id, datasetId, alias: 'c', label: 'C', filter: EU });
  expect((await ann.get(`${path}/c`)).body).toMatchObject({ count: 5, problem: null });

  await ann.put(`/datasets/${datasetId}`, { query: 'select id from orders' });
  expect((await ann.post(`/datasets/${datasetId}/_refresh`, {})).status).toBe(200);
  expect((await ann.get(`${path}/c`)).body).toMatchObject({
    filter: EU,
    count: null,
    countWithoutSnapshots: null,
    overallCount: 20,
    problem: 'Unknown field "region"',
    dataset: { fields: [{ name: 'id' }] },
  });
});

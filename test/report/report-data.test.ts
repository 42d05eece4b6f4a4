import { expect } from 'vitest';
import { expectError } from '../support/expect.ts';
import { COUNT, dataBlocksOf, dataById, SUM_BY_REGION } from '../support/report-blocks.ts';
import { createSnapshot, EU, Q1, Q2, test } from '../support/report-fixture.ts';
import { createSource, ORDERS_QUERY } from '../support/shop-fixture.ts';

const REGION_BARS = { xAxis: 'region', yAxis: 'amount', aggregation: 'sum' };
const ID_FIELD = { name: 'id', label: 'id', type: 'integer' };
const SNAPSHOT_FIELD = { name: '_snapshot', label: 'Snapshot', type: 'string' };

test('text, table and group blocks are resolved, including nested ones', async ({ ann, report, attach }) => {
  const id = await report([
    { id: 'head', type: 'text', text: 'Sales' },
    { id: 'rows', type: 'table', dataset: 'sales', fields: ['id', 'amount'], sort: '-id', limit: 2 },
    { id: 'groups', type: 'chart', dataset: 'sales', ...SUM_BY_REGION },
    {
      id: 'box',
      type: 'columns',
      blocks: [
        {
          id: 'metric',
          type: 'metric',
          dataset: 'sales',
          measures: [{ fn: 'avg', field: 'amount', as: 'mean' }],
          filter: { id: { $lte: 3 } },
        },
      ],
    },
  ]);
  await attach(id);
  const rows = {
    fields: [ID_FIELD, { name: 'amount', label: 'amount', type: 'number' }],
    rows: [
      { id: 20, amount: 200 },
      { id: 19, amount: 190 },
    ],
    total: 20,
  };
  const groups = {
    columns: [
      { name: 'region', label: 'region', type: 'string' },
      { name: 'sum', label: 'sum', type: 'number' },
    ],
    rows: [
      ['APAC', 500],
      ['EU', 600],
      ['US', 450],
      [null, 550],
    ],
    total: 4,
    truncated: false,
  };
  const metric = {
    columns: [{ name: 'mean', label: 'mean', type: 'number' }],
    rows: [[20]],
    total: 1,
    truncated: false,
  };
  expect(await dataBlocksOf(ann, id)).toEqual([
    { id: 'head', type: 'text', dataset: null, data: null, error: null },
    { id: 'rows', type: 'table', dataset: 'sales', data: rows, error: null },
    { id: 'groups', type: 'chart', dataset: 'sales', data: groups, error: null },
    { id: 'box', type: 'columns', dataset: null, data: null, error: null },
    { id: 'metric', type: 'metric', dataset: 'sales', data: metric, error: null },
  ]);
});

test('stored and inline visuals are resolved, and the filter of a reference applies to its blocks', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const bars = { component: 'bar-chart', config: REGION_BARS };
  const { id: visual } = await ann.creates(`${orders.path}/visuals`, bars);
  const id = await report([
    { id: 'stored', type: 'visual', dataset: 'sales', visual },
    { id: 'inline', type: 'bar-chart', dataset: 'sales', config: REGION_BARS },
    { id: 'eu', type: 'table', dataset: 'europe', fields: ['id'], filter: { id: { $gt: 10 } } },
  ]);
  await attach(id);
  await attach(id, { alias: 'europe', filter: EU });
  const { columns, ...found } = (await ann.get(`${orders.path}/visuals/${visual}/data`)).body;
  expect(found.rows.length).toBe(4);
  const visualData = { ...found, columns: columns.map(({ format: _, ...column }: { format: null }) => column) };
  const euRows = { fields: [ID_FIELD], rows: [{ id: 12 }, { id: 16 }, { id: 20 }], total: 3 };
  const blocks = await dataBlocksOf(ann, id);
  expect(blocks.map((block) => [block.id, block.error, block.data])).toEqual([
    ['stored', null, visualData],
    ['inline', null, visualData],
    ['eu', null, euRows],
  ]);

  const query = `{ report(id: "${id}") { data { blocks { id: block type dataset data error { code } } } } }`;
  expect((await ann.data(query)).report.data.blocks).toEqual(blocks);
  const oneBlock = `{ report(id: "${id}") { data(blocks: ["eu"]) { blocks { id block data } } } }`;
  expect((await ann.data(oneBlock)).report.data.blocks).toEqual([{ id: `${id}:eu`, block: 'eu', data: euRows }]);
});

test('blocks can be selected by id', async ({ ann, report, attach }) => {
  const id = await report([
    { id: 'head', type: 'text', text: 'Sales' },
    { id: 'rows', type: 'table', dataset: 'sales' },
    { id: 'metric', type: 'metric', dataset: 'sales', ...COUNT },
  ]);
  await attach(id);
  const selected = await dataBlocksOf(ann, id, '?blocks=metric,head');
  expect(selected.map((block) => block.id)).toEqual(['head', 'metric']);
  await expectError(ann.get(`/reports/${id}/data?blocks=head,nothing`), 404, 'There is no block nothing');
  const empty = await ann.creates('/reports', { name: 'Empty' });
  expect(await dataBlocksOf(ann, empty.id)).toEqual([]);
});

test('rows and groups of snapshots are marked, and the limit applies to all rows together', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const id = await report([
    { id: 'n', type: 'metric', dataset: 'sales', ...COUNT },
    { id: 'rows', type: 'table', dataset: 'sales', fields: ['id'], sort: '-id', limit: 4, filter: { id: { $gt: 9 } } },
    { id: 'visual', type: 'card', dataset: 'sales', config: { valueField: 'amount', aggregation: 'sum' } },
  ]);
  const path = await attach(id, { filter: EU, snapshots: { snapshotDatasets: [orders.q1, orders.q2] } });
  const { n, rows, visual } = await dataById(ann, id);
  expect(n).toMatchObject({
    columns: [SNAPSHOT_FIELD, { name: 'n' }],
    rows: [
      [null, 5],
      [Q2, 4],
      [Q1, 3],
    ],
    total: 3,
    truncated: false,
  });
  expect(rows).toMatchObject({
    fields: [SNAPSHOT_FIELD, { name: 'id' }],
    rows: [
      { _snapshot: null, id: 20 },
      { _snapshot: null, id: 16 },
      { _snapshot: null, id: 12 },
      { _snapshot: Q2, id: 16 },
    ],
    total: 6,
  });
  expect(visual).toMatchObject({
    columns: [SNAPSHOT_FIELD, {}],
    rows: [
      [null, 600],
      [Q2, 400],
      [Q1, 240],
    ],
  });

  await ann.put(path, { snapshots: { includeLatest: false, type: 'n', n: 1 } });
  const latestRows = [
    { _snapshot: Q2, id: 16 },
    { _snapshot: Q2, id: 12 },
  ];
  expect(await dataById(ann, id)).toMatchObject({ n: { rows: [[Q2, 4]] }, rows: { rows: latestRows, total: 2 } });
  await ann.put(path, { snapshots: { includeLatest: false } });
  expect(await dataById(ann, id), 'neither current rows nor snapshots').toMatchObject({
    n: { columns: [SNAPSHOT_FIELD], rows: [], total: 0 },
    rows: { fields: [SNAPSHOT_FIELD], rows: [], total: 0 },
  });
  await ann.put(path, { snapshots: {} });
  expect(await dataById(ann, id)).toMatchObject({ n: { rows: [[null, 5]] } });
});

test('a snapshot with other fields than the dataset shows those that it has', async ({
  ann,
  service,
  source,
  report,
}) => {
  const { id: datasetId } = await ann.creates('/datasets', {
    name: 'Growing',
    datasourceId: source.id,
    query: 'select id from orders where id < 3',
    refresh: true,
  });
  const snapshot = await createSnapshot(service, datasetId, 'Old', '2026-01-01');
  const label = 'Old (2026-01-01T00:00:00.000Z)';
  await ann.put(`/datasets/${datasetId}`, { query: `select id, region, 'x' as _snapshot from orders where id < 2` });
  expect((await ann.post(`/datasets/${datasetId}/_refresh`, {})).status).toBe(200);
  const id = await report([
    { id: 'all', type: 'table', dataset: 'g' },
    { id: 'region', type: 'table', dataset: 'g', fields: ['region'] },
  ]);
  const path = `/reports/${id}/dataset-refs`;
  const snapshots = { snapshotDatasets: [snapshot] };
  await ann.creates(path, { reportId: id, datasetId, alias: 'g', label: 'G', snapshots });

  const [all, region] = await dataBlocksOf(ann, id);
  expect(all!.data).toEqual({
    fields: [
      { name: '_snapshot_2', label: 'Snapshot', type: 'string' },
      ID_FIELD,
      { name: 'region', label: 'region', type: 'string' },
      { name: '_snapshot', label: '_snapshot', type: 'string' },
    ],
    rows: [
      { _snapshot_2: null, id: 1, region: 'US', _snapshot: 'x' },
      { _snapshot_2: label, id: 1, region: null, _snapshot: null },
      { _snapshot_2: label, id: 2, region: null, _snapshot: null },
    ],
    total: 3,
  });
  expect(region!.error).toEqual({ statusCode: 400, code: 'BAD_USER_INPUT', message: 'Unknown field "region"' });

  await ann.put(`${path}/g`, { filter: EU });
  const [filtered] = await dataBlocksOf(ann, id);
  expect(filtered!.error).toMatchObject({
    statusCode: 400,
    message: `The filter of the dataset reference "g" does not fit the snapshot ${label}: Unknown field "region"`,
  });
  expect((await ann.get(`${path}/g`)).body).toMatchObject({
    count: null,
    countWithoutSnapshots: 0,
    overallCount: 3,
    problem: `The snapshot ${label}: Unknown field "region"`,
  });
});

test('a dataset without rows has empty data', async ({ ann, admin, shop, report }) => {
  const id = await report([
    { id: 'b', type: 'table', dataset: 'new' },
    { id: 'n', type: 'metric', dataset: 'new', ...COUNT },
  ]);
  const { id: datasourceId } = await createSource(admin, shop, { ownerId: ann.id });
  const { id: datasetId } = await ann.creates('/datasets', { name: 'New', datasourceId, query: ORDERS_QUERY });
  await ann.creates(`/reports/${id}/dataset-refs`, { reportId: id, datasetId, alias: 'new', label: 'New' });
  expect(await dataBlocksOf(ann, id)).toMatchObject([
    { data: { fields: [], rows: [], total: 0 }, error: null },
    { data: { rows: [], total: 0 }, error: null },
  ]);
  expect((await ann.get(`/reports/${id}/dataset-refs/new`)).body).toMatchObject({
    count: 0,
    overallCount: 0,
    problem: null,
  });
});

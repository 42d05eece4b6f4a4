import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { EU, Q1, Q2, snapshotOf, test } from '../support/report-fixture.ts';
import { makeSource, ORDERS_QUERY } from '../support/shop-fixture.ts';

const COUNT = { measures: [{ fn: 'count', as: 'n' }] };
const SUM = { groupBy: [{ field: 'region' }], measures: [{ fn: 'sum', field: 'amount', as: 'sum' }], sort: 'region' };
const dataOf = async (who: Client, id: string, query = '') =>
  (await who.get(`/reports/${id}/data${query}`)).body.blocks as {
    id: string;
    type: string;
    dataset: string;
    data: any;
    error: any;
  }[];
const blockOf = async (who: Client, id: string, block = 'b') =>
  (await dataOf(who, id)).find((one) => one.id === block)!;

test('every block is resolved: text, rows, groups, visuals and charts, in both APIs', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const visual = (
    await ann.creates(`${orders.path}/visuals`, {
      component: 'bar-chart',
      config: { xAxis: 'region', yAxis: 'amount', aggregation: 'sum' },
    })
  ).id;
  const id = await report([
    { id: 'head', type: 'text', text: 'Sales' },
    { id: 'rows', type: 'table', dataset: 'sales', fields: ['id', 'amount'], sort: '-id', limit: 2 },
    { id: 'groups', type: 'chart', dataset: 'sales', ...SUM },
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
    { id: 'kept', type: 'visual', dataset: 'sales', visual },
    {
      id: 'own',
      type: 'bar-chart',
      dataset: 'sales',
      config: { xAxis: 'region', yAxis: 'amount', aggregation: 'sum' },
    },
    { id: 'eu', type: 'table', dataset: 'europe', fields: ['id'], filter: { id: { $gt: 10 } } },
  ]);
  await attach(id);
  await attach(id, { alias: 'europe', filter: EU });

  const blocks = await dataOf(ann, id);
  const sums = [
    ['APAC', 500],
    ['EU', 600],
    ['US', 450],
    [null, 550],
  ];
  expect(blocks.slice(0, 5)).toEqual([
    { id: 'head', type: 'text', dataset: null, data: null, error: null },
    {
      id: 'rows',
      type: 'table',
      dataset: 'sales',
      error: null,
      data: {
        fields: [
          { name: 'id', label: 'id', type: 'integer' },
          { name: 'amount', label: 'amount', type: 'number' },
        ],
        rows: [
          { id: 20, amount: 200 },
          { id: 19, amount: 190 },
        ],
        total: 20,
      },
    },
    {
      id: 'groups',
      type: 'chart',
      dataset: 'sales',
      error: null,
      data: {
        columns: [
          { name: 'region', label: 'region', type: 'string' },
          { name: 'sum', label: 'sum', type: 'number' },
        ],
        rows: sums,
        total: 4,
        truncated: false,
      },
    },
    { id: 'box', type: 'columns', dataset: null, data: null, error: null },
    {
      id: 'metric',
      type: 'metric',
      dataset: 'sales',
      error: null,
      data: { columns: [{ name: 'mean', label: 'mean', type: 'number' }], rows: [[20]], total: 1, truncated: false },
    },
  ]);
  const drawn = (await ann.get(`${orders.path}/visuals/${visual}/data`)).body;
  expect(drawn.rows.length).toBe(4);
  expect(blocks.slice(5).map((block) => [block.id, block.error, block.data])).toEqual([
    ['kept', null, drawn],
    ['own', null, drawn],
    [
      'eu',
      null,
      { fields: [{ name: 'id', label: 'id', type: 'integer' }], rows: [{ id: 12 }, { id: 16 }, { id: 20 }], total: 3 },
    ],
  ]);

  expect(
    (await ann.data(`{ report(id: "${id}") { data { blocks { id type dataset data error { code } } } } }`)).report.data
      .blocks,
  ).toEqual(blocks);
  expect((await dataOf(ann, id, '?blocks=metric,head')).map((block) => block.id)).toEqual(['head', 'metric']);
  expect(
    (await ann.data(`{ report(id: "${id}") { data(blocks: ["eu"]) { blocks { id data } } } }`)).report.data.blocks,
  ).toEqual([{ id: 'eu', data: blocks.at(-1)!.data }]);
  expect(await ann.get(`/reports/${id}/data?blocks=eu,nothing`)).toMatchObject({
    status: 404,
    body: { message: 'There is no block nothing' },
  });
  expect(await dataOf(ann, (await ann.creates('/reports', { name: 'Empty' })).id)).toEqual([]);
});

test('rows and groups of snapshots are told apart, and the limit is of all together', async ({
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
  const data = async () => Object.fromEntries((await dataOf(ann, id)).map((block) => [block.id, block.data]));
  const mark = { name: '_snapshot', label: 'Snapshot', type: 'string' };
  expect(await data()).toMatchObject({
    n: {
      columns: [mark, { name: 'n' }],
      rows: [
        [null, 5],
        [Q2, 4],
        [Q1, 3],
      ],
      total: 3,
      truncated: false,
    },
    rows: {
      fields: [mark, { name: 'id' }],
      rows: [
        { _snapshot: null, id: 20 },
        { _snapshot: null, id: 16 },
        { _snapshot: null, id: 12 },
        { _snapshot: Q2, id: 16 },
      ],
      total: 6,
    },
    visual: {
      columns: [mark, {}],
      rows: [
        [null, 600],
        [Q2, 400],
        [Q1, 240],
      ],
    },
  });
  await ann.put(path, { snapshots: { includeLatest: false, type: 'n', n: 1 } });
  expect(await data()).toMatchObject({
    n: { rows: [[Q2, 4]] },
    rows: {
      rows: [
        { _snapshot: Q2, id: 16 },
        { _snapshot: Q2, id: 12 },
      ],
      total: 2,
    },
  });
  await ann.put(path, { snapshots: { includeLatest: false } });
  expect(await data(), 'no moment at all').toMatchObject({
    n: { columns: [mark], rows: [], total: 0 },
    rows: { fields: [mark], rows: [], total: 0 },
  });
  await ann.put(path, { snapshots: {} });
  expect(await data()).toMatchObject({ n: { rows: [[null, 5]] } });
});

test('a moment that had other fields shows what it has', async ({ ann, service, source, report }) => {
  const { id: datasetId } = await ann.creates('/datasets', {
    name: 'Growing',
    datasourceId: source.id,
    query: 'select id from orders where id < 3',
    refresh: true,
  });
  const old = await snapshotOf(service, datasetId, 'Old', '2026-01-01');
  await ann.put(`/datasets/${datasetId}`, { query: `select id, region, 'x' as _snapshot from orders where id < 2` });
  expect(await ann.post(`/datasets/${datasetId}/_refresh`, {})).toMatchObject({ status: 200 });
  const id = await report([
    { id: 'all', type: 'table', dataset: 'g' },
    { id: 'region', type: 'table', dataset: 'g', fields: ['region'] },
  ]);
  const path = `/reports/${id}/dataset-refs`;
  await ann.creates(path, { reportId: id, datasetId, alias: 'g', label: 'G', snapshots: { snapshotDatasets: [old] } });
  const label = 'Old (2026-01-01T00:00:00.000Z)';
  expect((await blockOf(ann, id, 'all')).data).toEqual({
    fields: [
      { name: '_snapshot_2', label: 'Snapshot', type: 'string' },
      { name: 'id', label: 'id', type: 'integer' },
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
  expect((await blockOf(ann, id, 'region')).error).toEqual({
    statusCode: 400,
    code: 'BAD_USER_INPUT',
    message: 'Unknown field "region"',
  });
  await ann.put(`${path}/g`, { filter: EU });
  expect((await blockOf(ann, id, 'all')).error).toMatchObject({
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

test('what is wrong with a block is its own error', async ({ ann, bob, orders, report, attach }) => {
  const saved = (await ann.creates(`${orders.path}/filters`, { name: 'Late', criteria: { id: { $gt: 15 } } }))
    .id as string;
  const cases: [object, number, string][] = [
    [{ type: 'table', dataset: 'nobody' }, 404, 'There is no dataset reference nobody'],
    [{ type: 'chart' }, 400, 'asks nothing of its dataset'],
    [{ type: 'bar-chart' }, 400, 'asks nothing'],
    [{ type: 'visual' }, 400, 'visual must be the id of a visual'],
    [{ type: 'visual', visual: 'x' }, 404, 'There is no visual x'],
    [{ type: 'bar-chart', config: { colour: 'red' } }, 400, 'config.colour is unknown'],
    [{ type: 'bar-chart', config: {} }, 400, 'xAxis'],
    [{ type: 'table', fields: ['salary'] }, 400, 'Unknown field "salary"'],
    [{ type: 'table', fields: 'id' }, 400, 'fields must be array'],
    [{ type: 'table', limit: 1001 }, 400, 'limit must be <= 1000'],
    [{ type: 'table', limit: 0 }, 400, 'limit must be >= 1'],
    [{ type: 'table', sort: 'salary' }, 400, 'Unknown field "salary"'],
    [{ type: 'table', filter: { id: { $like: 1 } } }, 400, '$like'],
    [{ type: 'table', filter: 7 }, 400, 'filter must be criteria'],
    [{ type: 'table', filter: 'late' }, 404, 'There is no filter late'],
    [{ type: 'chart', measures: {} }, 400, 'measures must be array'],
    [{ type: 'chart', measures: [{ fn: 'median', as: 'm' }] }, 400, 'measures.0.fn must be one of count, sum'],
    [{ type: 'chart', measures: [{ fn: 'count' }] }, 400, 'measures.0'],
    [
      { type: 'chart', measures: [], groupBy: [{ field: 'id', interval: 'eon' }] },
      400,
      'groupBy.0.interval must be one of',
    ],
    [{ type: 'chart', measures: [] }, 400, 'measures is empty'],
    [{ type: 'chart', measures: [{ fn: 'sum', field: 'region', as: 's' }] }, 400, 'which is no number'],
    [{ type: 'chart', ...COUNT, limit: 5000 }, 400, 'limit must be <= 1000'],
  ];
  const id = await report([
    ...cases.map(([block], n) => ({ dataset: 'sales', ...block, id: `wrong${n}` })),
    { id: 'right', type: 'metric', dataset: 'sales', ...COUNT, filter: saved },
  ]);
  await attach(id);
  const blocks = await dataOf(ann, id);
  for (const [n, [block, statusCode, message]] of cases.entries())
    expect(blocks[n], JSON.stringify(block)).toMatchObject({
      id: `wrong${n}`,
      data: null,
      error: {
        statusCode,
        code: statusCode === 404 ? 'NOT_FOUND' : 'BAD_USER_INPUT',
        message: expect.stringContaining(message),
      },
    });
  expect(blocks.at(-1), 'a saved filter').toMatchObject({ id: 'right', data: { rows: [[5]] }, error: null });

  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });
  expect((await dataOf(bob, id)).at(-1), 'a report opens none of its datasets').toEqual({
    id: 'right',
    type: 'metric',
    dataset: 'sales',
    data: null,
    error: { statusCode: 404, code: 'NOT_FOUND', message: `There is no dataset ${orders.id}` },
  });
  const told = (
    await bob.data(
      `{ report(id: "${id}") { data(blocks: ["right"]) { blocks { data error { statusCode code message } } } } }`,
    )
  ).report.data.blocks;
  expect(told).toEqual([
    { data: null, error: { statusCode: 404, code: 'NOT_FOUND', message: `There is no dataset ${orders.id}` } },
  ]);
});

test('who sees a part of the dataset sees that part in each block, and no name that is hidden', async ({
  ann,
  bob,
  admin,
  orders,
  report,
  attach,
}) => {
  const id = await report([
    { id: 'rows', type: 'table', dataset: 'sales', sort: 'id' },
    { id: 'n', type: 'metric', dataset: 'sales', ...COUNT },
    { id: 'past', type: 'metric', dataset: 'past', ...COUNT },
    { id: 'fine', type: 'table', dataset: 'sales', fields: ['id'], filter: { id: { $gt: 15 } } },
    { id: 'secret', type: 'table', dataset: 'secret', fields: ['id'] },
    { id: 'chart', type: 'chart', dataset: 'sales', ...SUM },
  ]);
  await attach(id);
  await attach(id, { alias: 'past', snapshots: { type: 'n', n: 2 } });
  await attach(id, { alias: 'secret', filter: { criteria: [{ field: 'amount', op: 'gt', value: 100 }] } });
  const { id: datasetFilterId } = await ann.creates(`${orders.path}/filters`, {
    name: 'Part',
    criteria: { region: 'EU', amount: { $lt: 200 } },
  });
  await ann.put(`${orders.path}/shares/bob`, {
    accessLevel: 1,
    datasetFilterId,
    restrictFields: true,
    visibleFields: ['id', 'region'],
  });
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });

  const blocks = await dataOf(bob, id);
  expect(blocks).toMatchObject([
    {
      data: {
        fields: [{ name: 'id' }, { name: 'region' }],
        rows: [4, 8, 12, 16].map((n) => ({ id: n, region: 'EU' })),
        total: 4,
      },
    },
    { data: { rows: [[4]] } },
    {
      data: {
        rows: [
          [null, 4],
          [Q2, 4],
          [Q1, 3],
        ],
      },
    },
    { data: { rows: [{ id: 16 }], total: 1 } },
    {
      data: null,
      error: {
        statusCode: 400,
        message:
          'The filter of the dataset reference "secret" does not fit its dataset: It names a field that does not exist or has another type',
      },
    },
    { data: null, error: { statusCode: 400, message: 'Unknown field "amount"' } },
  ]);
  expect(JSON.stringify(blocks.slice(0, 5)), 'the chart’s own definition names it').not.toContain('amount');
  expect((await dataOf(admin, id)).map(({ error }) => error)).toEqual([null, null, null, null, null, null]);
  await ann.delete(`${orders.path}/shares/bob`);
});

test('of a hundred blocks with data at once the rest say so', async ({ ann, orders, report, attach }) => {
  expect(orders.id).toBeTypeOf('string');
  const id = await report(
    Array.from({ length: 102 }, (_, n) => ({ id: `b${n}`, type: 'metric', dataset: 'sales', ...COUNT })),
  );
  await attach(id);
  const blocks = await dataOf(ann, id);
  expect(blocks.slice(0, 100).map(({ data, error }) => [data?.rows, error])).toEqual(
    Array.from({ length: 100 }, () => [[[20]], null]),
  );
  expect(blocks.slice(100)).toMatchObject([
    {
      data: null,
      error: { statusCode: 400, message: 'blocks with data are more than 100: name those that are wanted' },
    },
    { data: null },
  ]);
  expect(await blockOf(ann, id, 'b99')).toMatchObject({ data: { rows: [[20]] } });
  expect(await dataOf(ann, id, '?blocks=b101')).toMatchObject([{ id: 'b101', data: { rows: [[20]] }, error: null }]);
});

test('a dataset without rows has none, and who may not read the report nothing', async ({
  ann,
  bob,
  admin,
  shop,
  report,
  stranger,
}) => {
  const id = await report([
    { id: 'b', type: 'table', dataset: 'new' },
    { id: 'n', type: 'metric', dataset: 'new', ...COUNT },
  ]);
  const { id: datasetId } = await ann.creates('/datasets', {
    name: 'New',
    datasourceId: (await makeSource(admin, shop, { ownerId: ann.id })).id,
    query: ORDERS_QUERY,
  });
  await ann.creates(`/reports/${id}/dataset-refs`, { reportId: id, datasetId, alias: 'new', label: 'New' });
  expect(await dataOf(ann, id)).toMatchObject([
    { data: { fields: [], rows: [], total: 0 }, error: null },
    { data: { rows: [], total: 0 }, error: null },
  ]);
  expect((await ann.get(`/reports/${id}/dataset-refs/new`)).body).toMatchObject({
    count: 0,
    overallCount: 0,
    problem: null,
  });
  for (const nobody of [bob, stranger])
    expect(await nobody.get(`/reports/${id}/data`)).toMatchObject({
      status: 404,
      body: { message: `There is no report ${id}` },
    });
});

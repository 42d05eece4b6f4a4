import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { dataBlocksOf } from '../support/report-blocks.ts';
import { test } from '../support/report-fixture.ts';

/** Blocks that name a field in all ways, and what a reader sees who sees the fields `id` and `region` only. */
const blocksOn = (field: string) => [
  { id: 'table', type: 'table', dataset: 'sales', fields: ['id', field], title: 'All', sort: 'id', limit: 1 },
  { id: 'only', type: 'table', dataset: 'sales', fields: [field] },
  { id: 'sorted', type: 'table', dataset: 'sales', sort: `-${field},id` },
  { id: 'filtered', type: 'table', dataset: 'sales', filter: { $or: [{ id: 1 }, { [field]: { $gt: 5 } }] } },
  { id: 'text', type: 'table', dataset: 'sales', filter: `{"${field}": 5}` },
  { id: 'grouped', dataset: 'sales', groupBy: [{ field: 'region' }, { field }], measures: [{ fn: 'count', as: 'n' }] },
  { id: 'measured', dataset: 'sales', groupBy: [{ field: 'region' }], measures: [{ fn: 'max', field, as: field }] },
  {
    id: 'ordered',
    dataset: 'sales',
    groupBy: [{ field: 'region' }],
    measures: [{ fn: 'count', as: 'n' }],
    sort: field,
  },
  { id: 'chart', type: 'bar-chart', dataset: 'sales', config: { xAxis: 'region', yAxis: field, aggregation: 'sum' } },
  { id: 'list', type: 'table', dataset: 'sales', config: { columns: ['id', field] } },
  { id: 'custom', type: 'custom', dataset: 'sales', config: { any: [field] } },
  { id: 'tabs', type: 'tabs', tabs: [{ id: 'inner', type: 'table', dataset: 'sales', fields: ['region', field] }] },
  { id: 'series', dataset: 'sales', series: [{ measures: [{ fn: 'sum', field, as: 's' }] }] },
  { id: 'metric', type: 'metric', dataset: 'sales', field, fn: 'sum', label: 'Sum' },
  {
    id: 'unknown',
    type: 'map',
    dataset: 'sales',
    valueField: field,
    yAxis: field,
    tooltipFields: ['id', field],
    layers: [{ x: 'region', y: field, columns: [{ field, title: 'T' }, field, 'id'], sortBy: field }],
  },
  { id: 'unused', type: 'table', dataset: 'sales', fields: ['id'], colorField: field },
];

const SHOWN = [
  { id: 'table', type: 'table', dataset: 'sales', fields: ['id'], title: 'All', sort: 'id', limit: 1 },
  { id: 'only', type: 'table', dataset: 'sales', fields: [] },
  { id: 'sorted', type: 'table', dataset: 'sales', sort: null },
  { id: 'filtered', type: 'table', dataset: 'sales', filter: {} },
  { id: 'text', type: 'table', dataset: 'sales', filter: {} },
  { id: 'grouped', dataset: 'sales', groupBy: [{ field: 'region' }], measures: [{ fn: 'count', as: 'n' }] },
  { id: 'measured', dataset: 'sales', groupBy: [{ field: 'region' }], measures: [] },
  { id: 'ordered', dataset: 'sales', groupBy: [{ field: 'region' }], measures: [{ fn: 'count', as: 'n' }], sort: null },
  { id: 'chart', type: 'bar-chart', dataset: 'sales', config: { xAxis: 'region', yAxis: null, aggregation: 'sum' } },
  { id: 'list', type: 'table', dataset: 'sales', config: { columns: ['id'] } },
  { id: 'custom', type: 'custom', dataset: 'sales', config: null },
  { id: 'tabs', type: 'tabs', tabs: [{ id: 'inner', type: 'table', dataset: 'sales', fields: ['region'] }] },
  { id: 'series', dataset: 'sales', series: [{ measures: [] }] },
  { id: 'metric', type: 'metric', dataset: 'sales', field: null, fn: 'sum', label: 'Sum' },
  {
    id: 'unknown',
    type: 'map',
    dataset: 'sales',
    valueField: null,
    yAxis: null,
    tooltipFields: ['id'],
    layers: [{ x: 'region', y: null, columns: [{ field: null, title: 'T' }, 'id'], sortBy: null }],
  },
  { id: 'unused', type: 'table', dataset: 'sales', fields: ['id'], colorField: null },
];

const ERRORS = {
  table: undefined,
  only: 'fields names an unknown field',
  sorted: 'sort names an unknown field',
  filtered: 'filter names an unknown field',
  text: 'filter names an unknown field',
  grouped: 'groupBy names an unknown field',
  measured: 'measures names an unknown field',
  ordered: 'sort names an unknown field',
  chart: 'config.yAxis names an unknown field',
  list: undefined,
  custom: 'block with a dataset must be a table, or have measures, a visual or a config',
  tabs: undefined,
  inner: undefined,
  series: 'block with a dataset must be a table, or have measures, a visual or a config',
  metric: 'block with a dataset must be a table, or have measures, a visual or a config',
  unknown: 'block with a dataset must be a table, or have measures, a visual or a config',
  unused: undefined,
};

/** Returns the blocks of a report, if REST and GraphQL agree. */
async function blocksFor(reader: Client, id: string): Promise<unknown> {
  const { blocks } = (await reader.get(`/reports/${id}`)).body.definition;
  const { report, reports } = await reader.data(
    `query ($id: ID!) { report(id: $id) { definition } reports(limit: 1000) { items { id definition } } }`,
    { id },
  );
  expect(report.definition.blocks).toEqual(blocks);
  expect(reports.items.find((item: { id: string }) => item.id === id).definition.blocks).toEqual(blocks);
  return blocks;
}

async function errorsFor(reader: Client, id: string): Promise<Record<string, string | undefined>> {
  const blocks = await dataBlocksOf(reader, id);
  const query = `query ($id: ID!) { report(id: $id) { data { blocks { id: block error { message } } } } }`;
  const { report } = await reader.data(query, { id });
  const errors = Object.fromEntries(blocks.map((block) => [block.id, block.error?.message]));
  expect(
    Object.fromEntries(
      report.data.blocks.map((block: { id: string; error: { message: string } | null }) => [
        block.id,
        block.error?.message,
      ]),
    ),
  ).toEqual(errors);
  return errors;
}

test('a hidden field and an unknown one are the same to a restricted reader, in blocks and in errors', async ({
  ann,
  bob,
  orders,
  report,
  attach,
  restrictBob,
}) => {
  await restrictBob({ region: 'EU' });
  for (const field of ['amount', 'nothing']) {
    const id = await report(blocksOn(field));
    await attach(id);
    await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });
    expect(await blocksFor(ann, id)).toEqual(blocksOn(field));
    expect(await blocksFor(bob, id)).toEqual(SHOWN);
    expect(await errorsFor(bob, id)).toEqual(ERRORS);
    expect(JSON.stringify([await blocksFor(bob, id), (await bob.get(`/reports/${id}/data`)).body])).not.toContain(
      field,
    );
    const [table] = await dataBlocksOf(bob, id);
    expect(table!.data).toMatchObject({ fields: [{ name: 'id' }], rows: [{ id: 4 }], total: 5 });
    if (field === 'nothing') expect((await errorsFor(ann, id))['table']).toBe('Unknown field "nothing"');
  }
  await ann.delete(`${orders.path}/shares/bob`);
});

test('a reader who may not read the dataset sees no names of its fields', async ({ ann, bob, report, attach }) => {
  const id = await report([
    { id: 'a', type: 'table', dataset: 'sales', fields: ['id'], sort: 'id', filter: { id: 1 }, title: 'All' },
    { id: 'b', type: 'text', text: 'No data' },
  ]);
  await attach(id);
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });
  expect(await blocksFor(bob, id)).toEqual([
    { id: 'a', type: 'table', dataset: 'sales', fields: [], sort: null, filter: {}, title: 'All' },
    { id: 'b', type: 'text', text: 'No data' },
  ]);
});

test('a restricted editor who sends blocks back changes nothing that is hidden from them', async ({
  ann,
  bob,
  orders,
  report,
  attach,
  restrictBob,
}) => {
  await restrictBob({ region: 'EU' });
  const id = await report(blocksOn('amount'));
  await attach(id);
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 2 });
  const shown = (await bob.get(`/reports/${id}`)).body;
  expect(shown.definition.blocks).toEqual(SHOWN);

  await expectBody(bob.put(`/reports/${id}`, shown), 200, { definition: { blocks: SHOWN } });
  expect(await blocksFor(ann, id)).toEqual(blocksOn('amount'));

  const blocks = SHOWN.map((block) => ({ ...block, title: 'New' })).toReversed();
  const document = `mutation ($id: ID!, $input: UpdateReportInput!) { updateReport(id: $id, input: $input) { definition } }`;
  const { updateReport } = await bob.data(document, { id, input: { definition: { blocks } } });
  expect(updateReport.definition.blocks).toEqual(blocks);
  expect(await blocksFor(ann, id)).toEqual(
    blocksOn('amount')
      .map((block) => ({ ...block, title: 'New' }))
      .toReversed(),
  );
  await ann.delete(`${orders.path}/shares/bob`);
});

test('an editor cannot move what is hidden from them to a dataset that they see', async ({
  ann,
  bob,
  orders,
  report,
  attach,
  restrictBob,
}) => {
  await restrictBob({ region: 'EU' });
  const id = await report(blocksOn('amount'));
  await attach(id);
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 2 });
  const moved = SHOWN.map((block) => (block.dataset ? { ...block, dataset: 'elsewhere' } : block));
  await expectBody(bob.put(`/reports/${id}`, { definition: { blocks: moved } }), 200, {
    definition: { blocks: moved },
  });
  expect(JSON.stringify(await blocksFor(ann, id)).match(/"amount"/g)).toHaveLength(1);
  await ann.delete(`${orders.path}/shares/bob`);
});

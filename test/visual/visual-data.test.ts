import { expect } from 'vitest';
import { test } from './visual-fixture.ts';

test('the data of a visual is aggregated by the index', async ({ ann, orders, createVisual }) => {
  const data = async (component: string, config: object, query = '') =>
    (await ann.get(`${orders.visuals}/${await createVisual(config, component)}/data${query}`)).body;
  expect(await data('bar-chart', { xAxis: 'region' })).toEqual({
    columns: [
      { name: 'region', label: 'region', type: 'string', format: null },
      { name: 'count', label: 'Count', type: 'integer', format: null },
    ],
    rows: [
      ['APAC', 5],
      ['EU', 5],
      ['US', 5],
      [null, 5],
    ],
    total: 4,
    truncated: false,
  });
  expect(await data('bar-chart', { xAxis: 'region', yAxis: 'amount' })).toMatchObject({
    columns: [{}, { name: 'sum', label: 'Sum of Amount' }],
    rows: [
      ['EU', 600],
      [null, 550],
      ['APAC', 500],
      ['US', 450],
    ],
  });
  expect(await data('bar-chart', { xAxis: 'region', yAxis: 'amount' }, '?limit=1')).toMatchObject({
    rows: [['EU', 600]],
    total: 4,
    truncated: true,
  });
  expect(
    await data(
      'bar-chart',
      { xAxis: 'region', yAxis: 'amount', groupBy: 'note', aggregation: 'max' },
      `?filter=${encodeURIComponent('{"region":"EU"}')}`,
    ),
  ).toMatchObject({
    columns: [{}, { name: 'note' }, { name: 'max', label: 'Maximum of Amount' }],
    rows: [
      ['EU', 'Rush delivery to Zoë', 200],
      ['EU', null, 160],
    ],
  });
  expect(
    await data('line-chart', { xAxis: 'ordered_on', yAxis: 'amount', dateInterval: 'month', aggregation: 'avg' }),
  ).toMatchObject({ rows: [['2026-01-01', 105]], total: 1 });
  expect(await data('line-chart', { xAxis: 'ordered_on' }, '?limit=2')).toMatchObject({
    rows: [
      ['2026-01-02', 1],
      ['2026-01-03', 1],
    ],
    total: 20,
    truncated: true,
  });
  expect(
    await data('pie-chart', { categoryField: 'region', valueField: 'amount', sortBy: 'category' }, '?q=rush'),
  ).toMatchObject({
    rows: [
      ['APAC', 100],
      ['EU', 200],
      ['US', 50],
      [null, 150],
    ],
  });
  expect(
    await data(
      'heatmap',
      { xAxis: 'region', yAxis: 'note', valueField: 'id', aggregation: 'countDistinct' },
      '?limit=1',
    ),
  ).toMatchObject({ columns: [{}, {}, { label: 'Distinct values of id' }], total: 8, truncated: true });
  expect(await data('gauge', { valueField: 'amount' })).toMatchObject({
    columns: [{ name: 'sum', label: 'Sum of Amount' }],
    rows: [[2100]],
    total: 1,
  });
  expect(await data('card', {})).toMatchObject({ columns: [{ name: 'count', label: 'Count' }], rows: [[20]] });
  expect(await data('card', { valueField: 'amount', aggregation: 'min' })).toMatchObject({ rows: [[10]] });
});

test('the data of tables and scatter plots is rows', async ({ ann, orders, createVisual }) => {
  const table = await createVisual(
    { columns: ['region', 'id'], sortBy: 'id', sortOrder: 'desc', pageSize: 3 },
    'table',
  );
  expect((await ann.get(`${orders.visuals}/${table}/data`)).body).toEqual({
    columns: [
      { name: 'region', label: 'region', type: 'string', format: null },
      { name: 'id', label: 'id', type: 'integer', format: null },
    ],
    rows: [
      ['EU', 20],
      [null, 19],
      ['APAC', 18],
    ],
    total: 20,
    truncated: true,
  });
  expect((await ann.get(`${orders.visuals}/${await createVisual({}, 'table')}/data?q=rush`)).body).toMatchObject({
    columns: [{ name: 'id' }, { name: 'region' }, { name: 'amount', label: 'Amount' }, {}, {}],
    total: 4,
    truncated: false,
  });
  const scatter = await createVisual(
    { xAxis: 'id', yAxis: 'amount', groupBy: 'region', sizeField: 'id' },
    'scatter-plot',
  );
  expect((await ann.get(`${orders.visuals}/${scatter}/data?limit=2`)).body).toMatchObject({
    columns: [{ name: 'id' }, { name: 'amount' }, { name: 'region' }],
    rows: [
      [1, 10, 'US'],
      [2, 20, 'APAC'],
    ],
    total: 20,
    truncated: true,
  });
  expect(
    await ann.data(
      `
        query ($filter: RowFilter) {
          dataset(id: "${orders.id}") { visual(id: "${scatter}") { data(filter: $filter) { rows } } }
        }
      `,
      { filter: { id: { $gte: 20 } } },
    ),
  ).toEqual({ dataset: { visual: { data: { rows: [[20, 200, 'EU']] } } } });
});

test('the data fails with the name of a missing key or unknown field', async ({
  ann,
  orders,
  createVisual,
  createDataset,
}) => {
  for (const [component, config, message] of [
    ['bar-chart', {}, 'config.xAxis is required to show a bar-chart'],
    ['line-chart', { xAxis: null }, 'config.xAxis is required'],
    ['pie-chart', {}, 'config.categoryField is required'],
    ['scatter-plot', { xAxis: 'id' }, 'config.yAxis is required'],
    ['heatmap', { xAxis: 'id' }, 'config.yAxis is required'],
    ['gauge', {}, 'config.valueField is required'],
    ['bar-chart', { xAxis: 'region', aggregation: 'avg' }, 'config.yAxis is required for avg'],
    ['card', { aggregation: 'sum' }, 'config.valueField is required for sum'],
    ['bar-chart', { xAxis: 'colour' }, 'Unknown field "colour"'],
    ['table', { columns: ['id', 'colour'] }, 'Unknown field "colour"'],
    ['table', { sortBy: 'colour' }, 'Unknown field "colour"'],
    ['card', { valueField: 'region' }, 'cannot apply sum to "region", which is not a number'],
  ] as const) {
    const id = await createVisual(config, component);
    for (const path of ['data', 'image.svg'])
      expect(await ann.get(`${orders.visuals}/${id}/${path}`), `${component} ${path}`).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT', message: expect.stringContaining(message) },
      });
    expect(await ann.gql(`{ dataset(id: "${orders.id}") { visual(id: "${id}") { data { total } } } }`)).toMatchObject({
      errors: [{ message: expect.stringContaining(message) }],
    });
  }
  const id = await createVisual({ xAxis: 'region' });
  for (const query of ['filter={"colour":1}', 'limit=0', 'limit=10001', 'limit=x', 'surprise=1'])
    expect(await ann.get(`${orders.visuals}/${id}/data?${query}`), query).toMatchObject({ status: 400 });
  const { visuals } = await createDataset('Without rows');
  const visual = await ann.creates(visuals, { component: 'bar-chart', config: { xAxis: 'region' } });
  expect((await ann.get(`${visuals}/${visual.id}/data`)).body, 'before the first refresh').toEqual({
    columns: [],
    rows: [],
    total: 0,
    truncated: false,
  });
});

import { describe, expect } from 'vitest';
import type { ProcessorDefinition } from '../../src/services/template/template-data.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { dataset, readData, readError, test, type Orders } from './template-data-fixture.ts';

describe('a processor of a dataset', () => {
  test('reads rows and fields as the data of the dataset', async ({ service, ann, orders }) => {
    const config = { datasetId: orders.id, filter: { region: 'EU' }, sort: '-id', fields: ['id', 'amount'], limit: 3 };
    expect(await readData(service, ann, [dataset(config)])).toEqual({
      orders: {
        rows: [
          { id: 20, amount: 200 },
          { id: 16, amount: 160 },
          { id: 12, amount: 120 },
        ],
        fields: [
          { name: 'id', label: 'id', type: 'integer', format: null },
          { name: 'amount', label: 'amount', type: 'number', format: null },
        ],
        total: 5,
        truncated: true,
      },
    });
    const { orders: all } = await readData(service, ann, [dataset({ datasetId: orders.id })]);
    const page = await ann.get(`/datasets/${orders.id}/data`);
    expect(all.rows).toEqual(page.body._embedded['svc:record'].map(({ _links, ...row }: any) => row));
    expect(all).toMatchObject({ total: 20, truncated: false });
    const { orders: rush } = await readData(service, ann, [dataset({ datasetId: orders.id, q: 'zoe', sort: 'id' })]);
    expect(rush.rows.map(({ id }: any) => id)).toEqual([5, 10, 15, 20]);
  });

  test('reads at most 10,000 rows by default, and 50,000 with a limit', async ({ service, ann, source }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Many',
      datasourceId: source.id,
      query: 'select n from generate_series(1, 50001) n',
      refresh: true,
    });
    const { few, many } = await readData(service, ann, [
      dataset({ datasetId: id }, 'few'),
      dataset({ datasetId: id, limit: 50_000, sort: '-n' }, 'many'),
    ]);
    expect([few.rows.length, few.total, few.truncated]).toEqual([10_000, 50_001, true]);
    expect([many.rows.length, many.total, many.truncated]).toEqual([50_000, 50_001, true]);
    expect([many.rows[0], many.rows[49_999]]).toEqual([{ n: 50_001 }, { n: 2 }]);
  });

  test('keeps numbers exact', async ({ service, ann, source }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Exact',
      datasourceId: source.id,
      query: `select 9007199254740993::bigint as big, '0.12345678901234567890'::numeric as small`,
      refresh: true,
    });
    const { orders } = await readData(service, ann, [dataset({ datasetId: id })]);
    expect(orders.rows).toEqual([{ big: '9007199254740993', small: '0.1234567890123456789' }]);
    expect(orders.fields.map(({ format }: any) => format)).toEqual(['int64', 'decimal']);
  });

  test('has no rows before the first refresh', async ({ service, ann, source }) => {
    const { id } = await ann.creates('/datasets', { name: 'New', datasourceId: source.id, query: 'select 1 as one' });
    const data = await readData(service, ann, [dataset({ datasetId: id })]);
    expect(data).toEqual({ orders: { rows: [], fields: [], total: 0, truncated: false } });
  });
});

describe('the other processors', () => {
  test('group rows, as objects', async ({ service, ann, orders }) => {
    const config = {
      datasetId: orders.id,
      groupBy: [{ field: 'region' }],
      measures: [{ fn: 'sum', field: 'amount', as: 'total' }],
      filter: { region: { $ne: null } },
      sort: '-total',
      limit: 2,
    };
    expect(await readData(service, ann, [{ name: 'totals', type: 'aggregate', config }])).toEqual({
      totals: {
        columns: [
          { name: 'region', label: 'region', type: 'string' },
          { name: 'total', label: 'total', type: 'number' },
        ],
        rows: [
          { region: 'EU', total: 600 },
          { region: 'APAC', total: 500 },
        ],
        total: 3,
        truncated: true,
      },
    });
  });

  test('draw a visual with the rows in it', async ({ service, ann, orders }) => {
    const config = { datasetId: orders.id, visualId: orders.visualId, width: 320, height: 200 };
    const { chart } = await readData(service, ann, [{ name: 'chart', type: 'visual', config }]);
    const image = await ann.get(`/datasets/${orders.id}/visuals/${orders.visualId}/image.svg?width=320&height=200`);
    expect(chart.svg).toBe(image.body);
    expect(chart.svg).toMatch(/^<svg [^>]*width="320"/);
    const [[groupName, measureName]] = [Object.keys(chart.rows[0])];
    expect(chart.rows.map((row: any) => [row[groupName!], row[measureName!]])).toEqual(
      expect.arrayContaining([
        ['EU', 600],
        ['APAC', 500],
      ]),
    );
  });

  test('run a saved query with parameters', async ({ service, ann, source }) => {
    const query = await ann.creates('/queries', {
      name: 'Large',
      datasourceId: source.id,
      query: 'select id, amount from orders where amount >= {{least}} order by id',
      params: [{ name: 'least', dataType: 'number', defaultValue: 200 }],
    });
    const stock = (params?: object): ProcessorDefinition => ({
      name: 'stock',
      type: 'query',
      config: { queryId: query.id, ...(params && { params }) },
    });
    const { stock: data } = await readData(service, ann, [stock({ least: 190 })]);
    expect(data.rows.map(({ id }: any) => id)).toEqual([19, 20]);
    expect(data.fields.map(({ name }: any) => name)).toEqual(['id', 'amount']);
    expect(data.truncated).toBe(false);
    expect((await readData(service, ann, [stock()]))['stock'].rows).toHaveLength(1);
    const hostile = '0; drop table orders --';
    expect(await readError(service, ann, [stock({ least: { $input: 'n' } })], { values: { n: hostile } })).toEqual([
      400,
      'params.n',
      'The parameter "least" must be a number',
    ]);
    expect((await readData(service, ann, [stock({ least: { $input: 'n' } })], { values: { n: 200 } }))['stock'].rows) //
      .toHaveLength(1);
  });

  test('read 20 rows each in a preview', async ({ service, ann, source }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Hundred',
      datasourceId: source.id,
      query: 'select n from generate_series(1, 100) n',
      refresh: true,
    });
    const visual = await ann.creates(`/datasets/${id}/visuals`, { component: 'table', config: { columns: ['n'] } });
    const query = await ann.creates('/queries', {
      name: 'Hundred',
      datasourceId: source.id,
      query: 'select n from generate_series(1, 100) n',
    });
    const groups = { datasetId: id, groupBy: [{ field: 'n' }], measures: [{ fn: 'count', as: 'c' }] };
    const data = await readData(
      service,
      ann,
      [
        dataset({ datasetId: id }, 'a'),
        { name: 'b', type: 'aggregate', config: groups },
        { name: 'c', type: 'visual', config: { datasetId: id, visualId: visual.id } },
        { name: 'd', type: 'query', config: { queryId: query.id } },
        dataset({ datasetId: id, limit: 5 }, 'e'),
      ],
      { preview: true },
    );
    expect(Object.entries(data).map(([name, { rows }]) => [name, rows.length])).toEqual([
      ['a', 20],
      ['b', 20],
      ['c', 20],
      ['d', 20],
      ['e', 5],
    ]);
    expect([data['a'].total, data['a'].truncated, data['d'].truncated]).toEqual([100, true, true]);
  });
});

describe('the values of inputs in a config', () => {
  const config = (orders: Orders) => ({
    datasetId: orders.id,
    filter: { region: { $input: 'region' }, amount: { $gte: { $input: 'least' } } },
    sort: 'id',
    limit: { $input: 'most' },
    fields: ['id'],
  });
  const values = { region: 'EU', least: 100, most: 2 };

  test('are bound', async ({ service, ann, orders }) => {
    const read = async (more: object) =>
      (await readData(service, ann, [dataset(config(orders))], { values: { ...values, ...more } }))['orders'];
    expect(await read({})).toMatchObject({ rows: [{ id: 12 }, { id: 16 }], total: 3, truncated: true });
    expect((await read({ most: null })).rows).toHaveLength(3);
    expect((await read({ region: null })).rows).toEqual([{ id: 11 }, { id: 15 }]);
    expect((await read({ region: '{"$ne": null}' })).rows).toEqual([]);
  });

  test('are values, never conditions', async ({ service, ann, orders }) => {
    for (const region of [{ $ne: 'x' }, [{ $ne: 'x' }]])
      expect(await readError(service, ann, [dataset(config(orders))], { values: { ...values, region } })).toEqual([
        400,
        'params.region',
        expect.stringContaining('params.region must be a text, number'),
      ]);
  });

  test.for([
    [{ least: 'many' }, 'params.least', /"amount" is of type number/],
    [{ region: 7 }, 'params.region', /"region" is of type string/],
    [{ most: 'all' }, 'params.most', /must be integer/],
    [{ most: 50_001 }, 'params.most', /<= 50000/],
  ] as const)('of a wrong type are 400: %j', async ([more, path, message], { service, ann, orders }) => {
    const reading = { values: { ...values, ...more } };
    expect(await readError(service, ann, [dataset(config(orders))], reading)).toEqual([
      400,
      path,
      expect.stringMatching(message),
    ]);
  });

  test('can be a whole filter, a list, a field and a dataset', async ({ service, ann, orders }) => {
    const whole = dataset({
      datasetId: { $input: 'from' },
      filter: { $input: 'where' },
      fields: [{ $input: 'field' }],
    });
    const given = { from: orders.id, where: { id: { $lte: 2 } }, field: 'id' };
    expect((await readData(service, ann, [whole], { values: given }))['orders'].rows).toEqual([{ id: 1 }, { id: 2 }]);
    const list = dataset({ datasetId: orders.id, filter: { id: { $in: { $input: 'ids' } } }, fields: ['id'] });
    expect((await readData(service, ann, [list], { values: { ids: [4, 2] } }))['orders'].total).toBe(2);
    expect(await readError(service, ann, [whole], { values: { ...given, from: UNKNOWN_ID } })).toEqual([
      404,
      'processors.orders',
      `processors.orders: There is no dataset ${UNKNOWN_ID}`,
    ]);
  });

  test('of an input that no longer exists are 400', async ({ service, ann, orders }) => {
    expect(await readError(service, ann, [dataset(config(orders))], { values: { region: 'EU', most: 1 } })).toEqual([
      400,
      'processors.orders.config.filter.amount.$gte.$input',
      expect.stringContaining('names no input of the template: least'),
    ]);
  });
});

import { describe, expect } from 'vitest';
import type { ProcessorDefinition } from '../../src/services/template/template-data.ts';
import { expectStatus } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { contextOf, dataset, readData, readError, test } from './template-data-fixture.ts';

describe('the data of a rendering', () => {
  test('is read in order, each under its name', async ({ service, ann, orders }) => {
    const names: string[] = [];
    const { loadTemplateData } = await import('../../src/services/template/template-data.ts');
    const data = await loadTemplateData(await contextOf(service, ann), {
      processors: [dataset({ datasetId: orders.id }, 'z'), dataset({ datasetId: orders.id }, 'a')],
      values: {},
      signal: new AbortController().signal,
      onProcessor: (name, index) => names.push(`${index} ${name}`),
    });
    expect(names).toEqual(['0 z', '1 a']);
    expect(Object.keys(data)).toEqual(['z', 'a']);
  });

  test('is 404 with the name of the processor, where something was deleted or is not shared', async ({
    service,
    ann,
    bob,
    orders,
    source,
  }) => {
    const query = await ann.creates('/queries', { name: 'Own', datasourceId: source.id, query: 'select 1 as one' });
    const { datasetId, visualId } = { datasetId: orders.id, visualId: orders.visualId };
    const own: ProcessorDefinition[] = [
      dataset({ datasetId }, 'a'),
      { name: 'b', type: 'aggregate', config: { datasetId, measures: [{ fn: 'count', as: 'n' }] } },
      { name: 'c', type: 'visual', config: { datasetId, visualId } },
      { name: 'd', type: 'query', config: { queryId: query.id } },
    ];
    const deleted = own.map((one) => ({
      ...one,
      config: Object.fromEntries(
        Object.entries(one.config).map(([key, value]) => [key, typeof value === 'string' ? UNKNOWN_ID : value]),
      ),
    }));
    for (const [who, processors] of [
      [bob, own],
      [ann, deleted],
    ] as const)
      for (const processor of processors)
        expect(await readError(service, who, [processor])).toEqual([
          404,
          `processors.${processor.name}`,
          expect.stringMatching(new RegExp(`^processors\\.${processor.name}: There is no (dataset|query) `)),
        ]);
    expect(await readError(service, ann, [{ ...own[2]!, config: { datasetId, visualId: UNKNOWN_ID } }])).toEqual([
      404,
      'processors.c',
      `processors.c: There is no visual ${UNKNOWN_ID}`,
    ]);
  });

  test('of a visual of another dataset is 404', async ({ service, ann, source, orders }) => {
    const other = await ann.creates('/datasets', { name: 'Other', datasourceId: source.id, query: ORDERS_QUERY });
    const config = { datasetId: other.id, visualId: orders.visualId };
    expect(await readError(service, ann, [{ name: 'c', type: 'visual', config }])).toEqual([
      404,
      'processors.c',
      `processors.c: There is no visual ${orders.visualId}`,
    ]);
  });

  test('of a query requires the permission to run it', async ({ service, ann, bob, source }) => {
    const query = await ann.creates('/queries', { name: 'Shared', datasourceId: source.id, query: 'select 1 as one' });
    const processor: ProcessorDefinition = { name: 'd', type: 'query', config: { queryId: query.id } };
    await expectStatus(ann.put(`/queries/${query.id}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    expect(await readError(service, bob, [processor])).toEqual([
      403,
      'processors.d',
      'processors.d: You lack the permission query:run',
    ]);
    await expectStatus(ann.put(`/queries/${query.id}/shares/${bob.id}`, { accessLevel: 2 }), 200);
    expect((await readData(service, bob, [processor]))['d'].rows).toEqual([{ one: 1 }]);
  });

  test('names the processor in the errors of a source and of an unknown field', async ({
    service,
    ann,
    source,
    orders,
  }) => {
    const query = await ann.creates('/queries', { name: 'Broken', datasourceId: source.id, query: 'select 1/0 as x' });
    expect(await readError(service, ann, [{ name: 'd', type: 'query', config: { queryId: query.id } }])).toEqual([
      400,
      'processors.d',
      expect.stringMatching(/^processors\.d: .*division by zero/),
    ]);
    for (const config of [{ filter: { nope: 1 } }, { sort: 'nope' }, { fields: ['nope'] }])
      expect(await readError(service, ann, [dataset({ datasetId: orders.id, ...config })])).toEqual([
        400,
        'processors.orders',
        'processors.orders: Unknown field "nope". Did you mean "note"?',
      ]);
  });

  test('is at most 50 MB, rows of datasets and queries together', async ({ service, ann, source }) => {
    const wide = `select n, repeat(md5(n::text), 250) as text from generate_series(1, 1900) n`;
    const { id } = await ann.creates('/datasets', {
      name: 'Wide',
      datasourceId: source.id,
      query: wide,
      refresh: true,
    });
    const query = await ann.creates('/queries', { name: 'Wide', datasourceId: source.id, query: wide });
    const three = ['a', 'b', 'c'].map((name) => dataset({ datasetId: id }, name));
    const run: ProcessorDefinition = { name: 'd', type: 'query', config: { queryId: query.id } };
    expect((await readData(service, ann, three))['c'].rows).toHaveLength(1900);
    const message = expect.stringContaining('more than 50 MB');
    expect(await readError(service, ann, [...three, run])).toEqual([413, 'processors.d', message]);
    expect(await readError(service, ann, [run, ...three])).toEqual([413, 'processors.c', message]);
  });

  test('ends with its signal, even in the middle of a query', async ({ service, ann, source, shop }) => {
    const query = await ann.creates('/queries', {
      name: 'Slow',
      datasourceId: source.id,
      query: 'select pg_sleep(600) as slept',
    });
    const stop = new AbortController();
    const reason = new Error('Cancelled by the test');
    const reading = readData(service, ann, [{ name: 'd', type: 'query', config: { queryId: query.id } }], {
      signal: stop.signal,
    });
    const running = `
      select pid from pg_stat_activity
      where datname = current_database() and query like '%pg_sleep(600)%' and state = 'active' and pid <> pg_backend_pid()`;
    await expect.poll(async () => (await shop.sql(running)).length).toBe(1);
    stop.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await expect.poll(async () => (await shop.sql(running)).length).toBe(0);
    await expect(readData(service, ann, [], { signal: stop.signal })).resolves.toEqual({});
  });
});

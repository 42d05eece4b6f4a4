import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { describe, expect, onTestFinished, test as plain, vi } from 'vitest';
import type { DatasetBenchmarkInput } from '../../src/core/operations.ts';
import { benchmarkStatistics, type BenchmarkRun } from '../../src/core/statistics.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, test as operated } from '../operation/fixture.ts';
import { filesOf, GATED, makeDataset } from '../operation/refreshable.ts';
import type { Client } from '../support/client.ts';
import { HAS_ELASTICSEARCH, HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { ask, bound, never, useSource } from '../support/postgres-source.ts';
import { makeSource, ORDERS_QUERY, test, type Shop } from '../support/shop-fixture.ts';
import { useFiles } from '../support/uploaded-source.ts';
import { rowsOf, searched } from './dataset-copy-fixture.ts';

// Runs that load rows start a process each; on two busy cores that adds up.
vi.setConfig({ testTimeout: 90_000 });

const orders = (owner: Client, source: { id: string }, more: object = {}) =>
  owner.creates('/datasets', { name: 'Orders', datasourceId: source.id, query: ORDERS_QUERY, ...more });
const QUICK = { iterations: 1, warmup: 0 };
/** Each of the three ways to run, with what the source is then busy with. */
const WAYS = [
  ['counting', {}, /^select pg_catalog\.count/, {}],
  ['reading', { includeDataTransfer: true }, /^COPY/, {}],
  ['loading', { includeIndexing: true }, /^COPY/, { includeDataTransfer: true }],
] as const;

/** Holds back queries that ask for `GATED`, until the answered function is called or the test is over. */
async function closeGate(shop: Shop): Promise<() => Promise<void>> {
  const gate = new pg.Client(shop.url);
  await gate.connect();
  await gate.query('select pg_advisory_lock(1)');
  onTestFinished(() => gate.end());
  return () => gate.end();
}
const waiting = async (shop: Shop): Promise<string[]> =>
  (
    await shop.sql(`select query from pg_stat_activity
  where datname = current_database() and state = 'active' and query like '%pg_advisory_lock_shared(1)%' and pid <> pg_backend_pid()`)
  ).map(({ query }) => String(query));

/** Every statistic once more, from the answered runs alone. */
function recomputed(results: { duration: number; records: number }[]) {
  const durations = results.map(({ duration }) => duration).sort((a, b) => a - b);
  const seconds = durations.reduce((all, one) => all + one, 0) / 1000;
  const avg = (seconds * 1000) / durations.length;
  const half = durations.length / 2;
  return {
    min: Math.min(...durations),
    max: Math.max(...durations),
    avg,
    records: results.at(-1)!.records,
    median: Number.isInteger(half) ? (durations[half - 1]! + durations[half]!) / 2 : durations[Math.floor(half)]!,
    stdDev: Math.sqrt(durations.reduce((all, one) => all + (one - avg) ** 2, 0) / durations.length),
    avgRecordsPerSecond: results.reduce((all, one) => all + one.records, 0) / seconds,
  };
}
const close = (expected: Record<string, number>) =>
  Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, expect.closeTo(value, 6)]));

describe('statistics', () => {
  const runs = (...durations: number[]): BenchmarkRun[] =>
    durations.map((duration, i) => ({ iteration: i + 1, duration, records: 10 * (i + 1) }));

  plain('are those of the population, and records go by all of the time', () => {
    expect(benchmarkStatistics(runs(4, 1, 3, 2))).toEqual({
      min: 1,
      max: 4,
      avg: 2.5,
      median: 2.5,
      stdDev: Math.sqrt(1.25),
      records: 40,
      avgRecordsPerSecond: 10_000,
    });
    expect(benchmarkStatistics(runs(30, 10, 20))).toMatchObject({
      median: 20,
      avg: 20,
      records: 30,
      avgRecordsPerSecond: 1000,
    });
    expect(benchmarkStatistics(runs(5))).toEqual({
      min: 5,
      max: 5,
      avg: 5,
      median: 5,
      stdDev: 0,
      records: 10,
      avgRecordsPerSecond: 2000,
    });
  });

  plain('of runs that took no time at all are numbers', () => {
    expect(benchmarkStatistics(runs(0, 0))).toMatchObject({ avg: 0, stdDev: 0, avgRecordsPerSecond: 0 });
  });
});

describe('a benchmark', () => {
  test('runs five times after one to warm up, and its statistics follow from its results', async ({ ann, source }) => {
    const { id } = await orders(ann, source);
    const { status, body } = await ann.post(`/datasets/${id}/_benchmark`, { progress: 'how fast' });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toEqual({
      iterations: 5,
      warmup: 1,
      results: [1, 2, 3, 4, 5].map((iteration) => ({ iteration, duration: expect.any(Number), records: 20 })),
      statistics: close(recomputed(body.results)),
      config: { iterations: 5, warmup: 1, includeDataTransfer: false, includeIndexing: false },
    });
    for (const { duration } of body.results)
      expect(duration).toSatisfy((ms: number) => ms > 0 && Math.abs(ms * 1000 - Math.round(ms * 1000)) < 1e-6);
    expect((await ann.get('/progress/how%20fast')).body).toMatchObject({
      operation: 'dataset.benchmark',
      resource: { kind: 'dataset', id },
      status: 'succeeded',
      percent: 100,
      current: 6,
      total: 6,
      unit: 'runs',
      result: body,
    });
  });

  test('takes the same in GraphQL, and answers its operation when nobody waits', async ({ ann, source }) => {
    const { id } = await orders(ann, source, {
      query: 'select id from orders where id > {{least}}',
      params: [{ name: 'least', dataType: 'number', defaultValue: 15 }],
    });
    const text = `mutation ($wait: Boolean, $config: DatasetBenchmarkConfigInput) { benchmarkDataset(id: "${id}", params: { least: 18 }, config: $config, wait: $wait) {
      operation { id status percent current total unit }
      result { iterations warmup results { iteration duration records } statistics { min max avg median stdDev records avgRecordsPerSecond } config { iterations warmup includeDataTransfer includeIndexing } } } }`;
    const { operation, result } = (await ann.data(text, { config: { iterations: 4, warmup: 0 } })).benchmarkDataset;
    expect(operation).toMatchObject({ status: 'SUCCEEDED', percent: 100, current: 4, total: 4, unit: 'runs' });
    expect(result).toEqual({
      iterations: 4,
      warmup: 0,
      results: [1, 2, 3, 4].map((iteration) => ({ iteration, duration: expect.any(Number), records: 2 })),
      statistics: close(recomputed(result.results)),
      config: { iterations: 4, warmup: 0, includeDataTransfer: false, includeIndexing: false },
    });
    const begun = (await ann.data(text, { wait: false })).benchmarkDataset;
    expect(begun).toMatchObject({ result: null });
    await expect
      .poll(async () => (await ann.get(`/progress/${begun.operation.id}`)).body, { timeout: 20_000 })
      .toMatchObject({ status: 'succeeded', result: { iterations: 5, warmup: 1 } });
  });

  test('that is not waited for answers where it can be followed', async ({ ann, source }) => {
    const { id } = await orders(ann, source);
    const { status, headers, body } = await ann.post(
      `/datasets/${id}/_benchmark`,
      { config: QUICK },
      { prefer: 'respond-async' },
    );
    expect({ status, location: headers.get('location'), body }).toMatchObject({
      status: 202,
      location: `/api/progress/${body.id}`,
      body: { operation: 'dataset.benchmark', resource: { kind: 'dataset', id } },
    });
    await expect
      .poll(async () => (await ann.get(`/progress/${body.id}`)).body, { timeout: 20_000 })
      .toMatchObject({ status: 'succeeded', result: { statistics: { records: 20 } } });
  });

  test.for(WAYS)(
    'by %s leaves the stored rows and the index as they are',
    async ([, config, , implied], { ann, source, service }) => {
      const { id } = await orders(ann, source, {
        query: 'select id from orders where id > {{least}}',
        params: [{ name: 'least', dataType: 'number', defaultValue: 15 }],
        refresh: true,
      });
      const state = async () => [
        (await ann.get(`/datasets/${id}`)).body,
        (await ann.get(`/datasets/${id}/data`)).body,
        await service.platform.index.generations(),
      ];
      const before = await state();
      expect(
        await ann.post(`/datasets/${id}/_benchmark`, {
          params: { least: 10 },
          config: { iterations: 2, warmup: 1, ...config },
        }),
      ).toMatchObject({
        status: 200,
        body: {
          results: [
            { iteration: 1, records: 10 },
            { iteration: 2, records: 10 },
          ],
          statistics: { records: 10 },
          config: {
            iterations: 2,
            warmup: 1,
            includeDataTransfer: false,
            includeIndexing: false,
            ...config,
            ...implied,
          },
        },
      });
      expect(await state()).toEqual(before);
    },
  );

  test('counts what the query answers with, and what the flow leaves of it once it is loaded', async ({
    ann,
    source,
  }) => {
    const { id } = await orders(ann, source, { flow: [{ type: 'limit', n: 3 }] });
    const records = async (config: object) =>
      (await ann.post(`/datasets/${id}/_benchmark`, { config: { ...QUICK, ...config } })).body.statistics.records;
    expect([
      await records({}),
      await records({ includeDataTransfer: true }),
      await records({ includeIndexing: true }),
    ]).toEqual([20, 20, 3]);
  });

  test('is refused before it begins where that can be known', async ({ ann, source }) => {
    const { id } = await orders(ann, source, {
      query: 'select {{region}}::text as region',
      params: [{ name: 'region', dataType: 'string', required: true }],
    });
    const refusal = (body: object) => ann.post(`/datasets/${id}/_benchmark`, body);
    const params = { region: 'EU' };
    expect(await refusal({})).toMatchObject({ status: 400, body: { message: expect.stringContaining('"region"') } });
    expect(await refusal({ params: { area: 'EU' } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('"area"') },
    });
    for (const config of [
      { iterations: 0 },
      { iterations: 101 },
      { iterations: 1.5 },
      { iterations: 'many' },
      { warmup: -1 },
      { warmup: 21 },
      { includeIndexing: 'yes' },
    ]) {
      expect(await refusal({ params, config }), JSON.stringify(config)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(`config.${Object.keys(config)[0]!}`) },
      });
    }
    expect(await refusal({ params, config: { colour: 'red' } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('colour') },
    });
    expect(
      (
        await ann.gql(
          `mutation { benchmarkDataset(id: "${id}", params: { region: "EU" }, config: { iterations: 101 }) { result { iterations } } }`,
        )
      ).errors,
    ).toMatchObject([
      { message: 'config.iterations must be a whole number from 1 to 100', extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(await refusal({ params, progress: '' })).toMatchObject({ status: 400 });
    expect(
      (await ann.get('/progress?resource=dataset')).body._embedded['svc:operation'].filter(
        ({ resource }: { resource: { id: string } }) => resource.id === id,
      ),
    ).toEqual([]);
    expect(await refusal({ params, config: QUICK })).toMatchObject({
      status: 200,
      body: { statistics: { records: 1 } },
    });
  });

  test.for(WAYS)(
    'by %s that fails says why, and leaves nothing behind',
    async ([, config], { ann, source, service }) => {
      const { id } = await orders(ann, source, { query: 'select 1 / (id - 20) as x from orders' });
      const before = await service.platform.index.generations();
      expect(await ann.post(`/datasets/${id}/_benchmark`, { config: { ...QUICK, ...config } })).toMatchObject({
        status: 500,
        body: { code: 'UPSTREAM_FAILED', message: expect.stringContaining('division by zero') },
      });
      expect(await service.platform.index.generations()).toEqual(before);
      expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({ records: 0, lastRefresh: null });
    },
  );

  test.for(WAYS)(
    'by %s is cancelled down to the statement in the source',
    async ([way, config, statement], { ann, source, shop, service }) => {
      const { id } = await orders(ann, source, { query: GATED });
      const before = await service.platform.index.generations();
      const open = await closeGate(shop);
      const running = ann.post(`/datasets/${id}/_benchmark`, { progress: way, config });
      await expect.poll(() => waiting(shop), { timeout: 20_000 }).toEqual([expect.stringMatching(statement)]);
      expect(await ann.delete(`/progress/${way}`)).toMatchObject({ status: 202 });
      expect(await running).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
      await expect.poll(() => waiting(shop), { timeout: 20_000 }).toEqual([]);
      await open();
      expect((await ann.get(`/progress/${way}`)).body).toMatchObject({ status: 'cancelled', current: 0 });
      await expect.poll(() => service.platform.index.generations(), { timeout: 20_000 }).toEqual(before);
    },
  );

  test.for(WAYS)(
    'by %s that takes too long is stopped and says so',
    async ([, config], { ann, source, shop, service }) => {
      const { id } = await orders(ann, source, { query: GATED });
      const { config: limits } = service.platform;
      const usual = limits.REFRESH_TIMEOUT_MS;
      limits.REFRESH_TIMEOUT_MS = 1500;
      const open = await closeGate(shop);
      expect(await ann.post(`/datasets/${id}/_benchmark`, { config })).toMatchObject({
        status: 500,
        body: { code: 'UPSTREAM_FAILED', message: 'query timeout after 1500 ms' },
      });
      limits.REFRESH_TIMEOUT_MS = usual;
      await expect.poll(() => waiting(shop), { timeout: 20_000 }).toEqual([]);
      await open();
    },
  );

  test('neither waits for a refresh of its dataset nor keeps one waiting', async ({ ann, source, shop }) => {
    const { id } = await orders(ann, source, {
      query:
        'select i, case when {{held}} then pg_advisory_lock_shared(1)::text end as gate from generate_series(1, 5) i',
      params: [{ name: 'held', dataType: 'boolean', defaultValue: false }],
    });
    const open = await closeGate(shop);
    const refreshed = ann.post(`/datasets/${id}/_refresh`, { params: { held: true } });
    await expect.poll(() => waiting(shop), { timeout: 20_000 }).toHaveLength(1);
    expect(await ann.post(`/datasets/${id}/_benchmark`, { config: QUICK })).toMatchObject({
      status: 200,
      body: { statistics: { records: 5 } },
    });
    await open();
    expect(await refreshed).toMatchObject({ status: 200, body: { records: 5 } });

    const openAgain = await closeGate(shop);
    const benchmarked = ann.post(`/datasets/${id}/_benchmark`, { params: { held: true }, config: QUICK });
    await expect.poll(() => waiting(shop), { timeout: 20_000 }).toHaveLength(1);
    expect(await ann.post(`/datasets/${id}/_refresh`)).toMatchObject({ status: 200, body: { records: 5 } });
    await openAgain();
    expect(await benchmarked).toMatchObject({ status: 200 });
  });
});

describe('who may', () => {
  test('benchmark is who may refresh, on the owner’s right to the datasource', async ({
    admin,
    ann,
    bob,
    stranger,
    anonymous,
    source,
  }) => {
    const team = await admin.creates('/teams', { name: 'Timers' });
    await admin.put(`/teams/${team.id}/members/ann`, { role: 'memberPlus' });
    await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
    const { id } = await orders(ann, source);
    for (const path of ['_benchmark', '_benchmark-internal']) {
      expect(await bob.post(`/datasets/${id}/${path}`), path).toMatchObject({ status: 404 });
      expect(await stranger.post(`/datasets/${id}/${path}`), path).toMatchObject({ status: 404 });
      expect(await anonymous.post(`/datasets/${id}/${path}`), path).toMatchObject({ status: 401 });
    }
    await ann.put(`/datasets/${id}`, { ownerId: `team:${team.id}` });
    expect(await bob.post(`/datasets/${id}/_benchmark`)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('dataset:refresh') },
    });
    expect(await ann.post(`/datasets/${id}/_benchmark`)).toMatchObject({ status: 403 }); // the team has no right to ann’s datasource
  });

  test('superusers benchmark without that right, nobody else', async ({ admin, ann, bob, shop }) => {
    const { id: sourceId } = await makeSource(admin, shop, { ownerId: ann.id });
    const { id } = await orders(ann, { id: sourceId });
    await ann.put(`/datasets/${id}`, { ownerId: bob.id });
    const internal = `mutation { benchmarkDatasetInternal(id: "${id}", config: { iterations: 1, warmup: 0 }) { result { statistics { records } } } }`;
    expect(await admin.post(`/datasets/${id}/_benchmark`)).toMatchObject({ status: 403 });
    expect(await bob.post(`/datasets/${id}/_benchmark-internal`)).toMatchObject({
      status: 403,
      body: { message: 'Only superusers and workers benchmark a dataset this way' },
    });
    expect((await bob.gql(internal)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect(await admin.post(`/datasets/${id}/_benchmark-internal`, { config: QUICK })).toMatchObject({
      status: 200,
      body: { statistics: { records: 20 } },
    });
    expect(await admin.data(internal)).toEqual({
      benchmarkDatasetInternal: { result: { statistics: { records: 20 } } },
    });
  });
});

operated('a benchmark whose worker dies is recorded failed and does not start again', async ({ world }) => {
  const ann = await world.caller();
  const dataset = await makeDataset(world, ann);
  const doomed = await world.worker('real');
  const open = await dataset.closeGate();
  const [{ datasourceId } = { datasourceId: '' }] = await ann.query<{ datasourceId: string }>({
    text: 'select datasource_id as "datasourceId" from dws.dataset',
  });
  const input: DatasetBenchmarkInput = {
    datasetId: dataset.id,
    datasourceId,
    query: GATED,
    parameters: [],
    config: { iterations: 1, warmup: 0, includeDataTransfer: true, includeIndexing: true },
  };
  const id = await ann.transaction((tx) =>
    operations.start(ann, tx, {
      operation: 'dataset.benchmark',
      resource: { kind: 'dataset', id: dataset.id },
      input,
    }),
  );
  await eventually(async () => (await dataset.running()).length > 0);
  await doomed.kill('SIGKILL');
  await world.worker('real');
  await expect(wait(ann, id)).rejects.toMatchObject({ status: 500, code: 'INTERNAL' });
  await open();
  await eventually(async () => (await filesOf(world.dataDir)).length === 0);
  await dataset.drop();
});

describe('Postgres counts', () => {
  const source = useSource();
  const count = (text: string, parameters: Parameters<typeof ask>[1] = []) =>
    source.connection.count(ask(text, parameters), never);

  plain('the rows of any query, with its values bound', async () => {
    expect(await count('select 1 as id, null as id, 3 as id -- all the same')).toBe(1);
    expect(
      await count('with a as (select generate_series(1, 1000) as i) select * from a where i > {{least}} order by i;', [
        bound('least', 600),
      ]),
    ).toBe(400);
    expect(
      await count(`values ('x', '{}'::json, row(1, 2), array[1], null::xml), (null, null, null, null, null)`),
    ).toBe(2);
    expect(await count(`select pg_sleep(0) from generate_series(1, 3)`)).toBe(3);
    expect(await count('select 1 where false')).toBe(0);
    expect(await count(`select ${Array.from({ length: 1600 }, (_, i) => i).join()}`)).toBe(1);
  });

  plain('what nobody reads as well, so that its errors show', async () => {
    await expect(count('select 1 / (i - 3) as x from generate_series(1, 5) i')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('division by zero'),
    });
  });

  plain('nothing but one select, which writes nothing', async () => {
    await source.sql('create table t (i int)');
    for (const text of [
      'show timezone',
      'insert into t values (1) returning i',
      'select 1; select 2',
      'select 1) as q; drop table t; select (1',
    ])
      await expect(count(text), text).rejects.toMatchObject({ status: 400 });
    await expect(count(`select nextval(pg_get_serial_sequence('t', 'i'))::int, lo_create(0)`)).rejects.toMatchObject({
      message: expect.stringContaining('read-only'),
    });
    expect(await source.sql('select * from t')).toEqual([]);
  });

  plain('no longer than it may', async () => {
    await expect(source.connection.count(ask('select pg_sleep(60)', [], 300), never)).rejects.toMatchObject({
      message: 'query timeout after 300 ms',
    });
    await expect.poll(() => source.busy()).toEqual([]);
  });
});

describe.skipIf(!HAS_MARIADB)('MySQL counts', () => {
  const source = HAS_MARIADB ? useMysqlSource() : null!;
  const count = (text: string, parameters: Parameters<typeof ask>[1] = []) =>
    source.connection.count(ask(text, parameters), never);

  plain('the rows of any query, with its values bound', async () => {
    expect(await count('select 1 as id, null as id, 3 as id # all the same')).toBe(1);
    expect(
      await count(
        'with a as (select seq from seq_1_to_1000) select * from a where seq > {{least}} order by seq limit {{most}};',
        [bound('least', 600), bound('most', 300)],
      ),
    ).toBe(300);
    expect(
      await count(`select json_object('a', 1), x'00', null, point(1, 2) union all select null, null, null, null`),
    ).toBe(2);
    expect(await count('select 1 from dual where false')).toBe(0);
  });

  plain('nothing but one select', async () => {
    for (const text of ['show tables', 'select 1; select 2', 'select 1) select 1 -- ', 'nonsense'])
      await expect(count(text), text).rejects.toMatchObject({ status: 400 });
  });

  plain('until it is stopped, or its time is up', async () => {
    const stop = new AbortController();
    const counting = source.connection
      .count(ask('select sleep(60), 7 as n'), stop.signal)
      .catch((error: unknown) => error);
    await expect.poll(() => source.busy(), { timeout: 20_000 }).toEqual([expect.stringContaining('sleep')]);
    stop.abort();
    expect(await counting).toMatchObject({ code: 'CANCELLED' });
    await expect(source.connection.count(ask('select sleep(60)', [], 500), never)).rejects.toMatchObject({
      status: 500,
      message: 'query timeout after 500 ms',
    });
    await expect.poll(() => source.busy(), { timeout: 20_000 }).toEqual([]);
  });
});

describe('an uploaded file counts', () => {
  const files = useFiles();

  /** The same 1000 rows as a SQLite file and as CSV, by the driver's id. */
  async function made(driver: string) {
    if (driver === 'file') {
      await writeFile(
        files.path('numbers.csv'),
        `i,w\n${Array.from({ length: 1000 }, (_, i) => `${i + 1},w${i + 1}`).join('\n')}\n`,
      );
      return files.open('file', 'numbers.csv', { format: 'csv' }).connection;
    }
    const database = new DatabaseSync(files.path('numbers.sqlite'));
    database.exec(
      `drop table if exists data; create table data (i integer, w text); with recursive r(i) as (values (1) union all select i + 1 from r where i < 1000) insert into data select i, 'w' || i from r`,
    );
    database.close();
    return files.open('sqlite', 'numbers.sqlite').connection;
  }

  plain.for(['sqlite', 'file'])('the rows of any query, with its values bound (%s)', async (driver) => {
    const connection = await made(driver);
    expect(
      await connection.count(
        ask('select i, i, w from data where i > {{least}} order by w -- all', [bound('least', 600)]),
        never,
      ),
    ).toBe(400);
    expect(
      await connection.count(ask('with d as (select w from data) select distinct substr(w, 1, 2) from d;'), never),
    ).toBe(9);
    expect(await connection.count(ask('select null as n from data where i < 0'), never)).toBe(0);
    for (const text of ['pragma table_info(data)', 'select 1; select 2', 'delete from data', 'select 1) select (1'])
      await expect(connection.count(ask(text), never), text).rejects.toMatchObject({ status: 400 });
  });

  plain.for(['sqlite', 'file'])('until it is stopped, or its time is up (%s)', async (driver) => {
    const connection = await made(driver);
    const endless = 'select a.w from data a, data b, data c, data d where a.w || b.w || c.w || d.w = {{never}}';
    const query = (timeout: number) => ask(endless, [bound('never', 'x')], timeout);
    await expect(connection.count(query(1500), never)).rejects.toMatchObject({
      status: 500,
      message: 'query timeout after 1500 ms',
    });
    const stop = new AbortController();
    const counting = connection.count(query(60_000), stop.signal).catch((error: unknown) => error);
    stop.abort();
    expect(await counting).toMatchObject({ code: 'CANCELLED' });
  });
});

describe.skipIf(!HAS_ELASTICSEARCH)('with rows in Elasticsearch', () => {
  searched(
    'a benchmark that loads rows leaves nothing there, and the dataset’s rows as they are',
    async ({ service, ann, orders: made }) => {
      const { id, esIndex } = await made();
      const answer = await ann.post(`/datasets/${id}/_benchmark`, {
        config: { iterations: 2, warmup: 1, includeIndexing: true },
      });
      expect(answer).toMatchObject({
        status: 200,
        body: {
          iterations: 2,
          warmup: 1,
          results: [
            { iteration: 1, records: 20 },
            { iteration: 2, records: 20 },
          ],
          statistics: { records: 20 },
          config: { includeDataTransfer: true, includeIndexing: true },
        },
      });
      expect(await service.platform.index.generations()).toEqual([{ id: esIndex, complete: true }]);
      expect(await rowsOf(ann, id)).toHaveLength(20);
    },
  );
});

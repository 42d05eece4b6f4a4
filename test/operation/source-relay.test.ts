import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import { newId } from '../../src/core/id.ts';
import { Interrupted } from '../../src/operations/handler.ts';
import type { LoadJob } from '../../src/operations/load-job.ts';
import { startLoad } from '../../src/operations/load-process.ts';
import type { Progress } from '../../src/services/operation/operation-repository.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { queryProcesses, rejectionOf, waitUntil } from '../support/uploaded-source.ts';
import { loaderOf } from './refreshable.ts';

let platform: Parameters<typeof startLoad>[0];
const ROWS = 300_000;
const ENDLESS_QUERY = 'select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 9';

let dir: string;
let database: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  database = await createDatabase('template0');
  dir = await mkdtemp(join(tmpdir(), 'dws-relay-'));
  const { drivers } = createDrivers({ ownDatabase: null });
  platform = { drivers, index: openDuckdbIndex({ dir: join(dir, 'index') }), log: pino({ level: 'silent' }) };
  // More than two segments.
  const lines = Array.from({ length: ROWS }, (_, i) => `${i},${'x'.repeat(80)}\n`);
  await writeFile(join(dir, 'file'), `i,s\n${lines.join('')}`);
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
  await database.drop();
});

/** Creates a load of a query of the file. */
const createJob = (text: string): LoadJob => ({
  databaseUrl: database.url,
  index: { dir: join(dir, 'index'), engine: null },
  ownDatabase: null,
  generationId: newId(),
  source: { type: 'file', config: { format: 'csv' }, secrets: {}, file: join(dir, 'file') },
  query: boundQuery(text),
  lastRows: null,
  plan: { flow: [], maxRows: 0 },
});

/** Returns the folders of loads that have not ended. */
const unfinished = async (): Promise<string[]> =>
  (await readdir(join(dir, 'index')).catch(() => [])).filter((name) => name.includes('loading'));

test('a load of an uploaded file stores its rows, reports them, and its query process ends first', async () => {
  const reports: Progress[] = [];
  const load = startLoad(platform, createJob('select * from data'), neverAborted, (update) => reports.push(update));
  await waitUntil(() => queryProcesses().length === 1);
  const generation = await load.generation;
  expect(queryProcesses()).toEqual([]);
  expect([generation.records, generation.fields.map(({ name, type }) => `${name} ${type}`)]).toEqual([
    ROWS,
    ['i integer', 's string'],
  ]);
  expect(reports.some(({ total }) => total! > 0)).toBe(true);
  expect(reports.at(-1)).toMatchObject({ current: ROWS, message: 'Building the index' });
  await load.release();
  expect(await loaderOf(process.pid)).toBeUndefined();
});

test('a load whose later rows contradict the types of the first begins again with the types of all', async () => {
  const path = join(dir, 'late.sqlite');
  const sqlite = new DatabaseSync(path);
  sqlite.exec(
    `create table t (v boolean);
    with recursive r(i) as (values (1) union all select i + 1 from r where i < 5000) insert into t select 1 from r;
    insert into t values ('last')`,
  );
  sqlite.close();
  const job = createJob('select v from t');
  const load = startLoad(
    platform,
    { ...job, source: { type: 'sqlite', config: {}, secrets: {}, file: path } },
    neverAborted,
    () => {},
  );
  expect(await load.generation).toMatchObject({ records: 5001, fields: [{ name: 'v', type: 'string' }] });
  expect([queryProcesses(), await unfinished()]).toEqual([[], []]);
  await load.release();
});

test('a load without rows stores none', async () => {
  const load = startLoad(platform, createJob('select * from data where i < 0'), neverAborted, () => {});
  expect((await load.generation).records).toBe(0);
  await load.release();
});

test.each([
  ['select nothing from data', 'nothing'],
  ['select cast(s as integer) as s from data where i = 250000', 'x'],
])(
  '%s fails with the error of the source, and no file remains',
  async (text, message) => {
    const load = startLoad(platform, createJob(text), neverAborted, () => {});
    expect(await rejectionOf(load.generation)).toMatchObject({
      status: 400,
      code: 'BAD_USER_INPUT',
      message: expect.stringContaining(message) as string,
    });
    expect([queryProcesses(), await unfinished()]).toEqual([[], []]);
    await load.release();
  },
  60_000,
);

test('aborting a load ends its query process', async () => {
  const stop = new AbortController();
  const load = startLoad(platform, createJob(ENDLESS_QUERY), stop.signal, () => {});
  const outcome = rejectionOf(load.generation);
  await waitUntil(() => queryProcesses().length === 1);
  stop.abort(new Error('enough'));
  expect(await outcome).toMatchObject({ message: 'enough' });
  expect([queryProcesses(), await unfinished()]).toEqual([[], []]);
  await load.release();
});

test('the death of a loader interrupts the load and ends its query process', async () => {
  const load = startLoad(platform, createJob(ENDLESS_QUERY), neverAborted, () => {});
  const outcome = rejectionOf(load.generation);
  await waitUntil(() => queryProcesses().length === 1);
  process.kill((await loaderOf(process.pid))!, 'SIGKILL');
  expect(await outcome).toBeInstanceOf(Interrupted);
  expect(queryProcesses()).toEqual([]);
  await load.release();
});

test('the death of a query process fails the load', async () => {
  const load = startLoad(platform, createJob(ENDLESS_QUERY), neverAborted, () => {});
  const outcome = rejectionOf(load.generation);
  await waitUntil(() => queryProcesses().length === 1);
  process.kill(queryProcesses()[0]!, 'SIGKILL');
  expect(await outcome).toMatchObject({
    code: 'UPSTREAM_FAILED',
    message: 'The file could not be read: its query process ended unexpectedly',
  });
  await load.release();
});

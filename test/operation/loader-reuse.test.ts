import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import { keepSpares } from '../../src/adapters/process/spare-process.ts';
import { newId } from '../../src/core/id.ts';
import type { LoadJob } from '../../src/operations/load-job.ts';
import { startLoad } from '../../src/operations/load-process.ts';
import { configOf, neverAborted } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { isAlive, sparesOf, waitUntil } from '../support/uploaded-source.ts';
import { childrenOf, loaderOf } from './refreshable.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let dir: string;
let platform: Parameters<typeof startLoad>[0];
let endSpares: () => void;

beforeAll(async () => {
  database = await createDatabase('template0');
  dir = await mkdtemp(join(tmpdir(), 'dws-reuse-'));
  const { drivers } = createDrivers({ ownDatabase: null });
  platform = { drivers, index: openDuckdbIndex({ dir }), log: pino({ level: 'silent' }) };
  endSpares = keepSpares();
});

afterAll(async () => {
  endSpares();
  await waitUntil(async () => (await childrenOf(process.pid)).filter(isAlive).length === 0);
  await platform.index.close();
  await rm(dir, { recursive: true, force: true });
  await database.drop();
});

const createJob = (text: string): LoadJob => ({
  databaseUrl: database.url,
  index: { dir, engine: null },
  ownDatabase: null,
  generationId: newId(),
  source: { type: 'postgres', ...configOf(database.url), file: null },
  query: { text, parameters: [], timeout: 60_000 },
  lastRows: null,
  plan: { flow: [], maxRows: 0 },
});

const begin = (text: string, signal: AbortSignal = neverAborted) =>
  startLoad(platform, createJob(text), signal, () => {});

/** Returns the processes that wait for a load: one, or none after a minute. */
async function onlySpare(): Promise<number> {
  let spares: number[] = [];
  await waitUntil(async () => (spares = await sparesOf()).length === 1);
  return spares[0]!;
}

/** Loads and publishes rows. Returns the process that did. */
async function publish(text: string): Promise<number> {
  const load = begin(text);
  const generation = await load.generation;
  const loader = await loaderOf(process.pid);
  await load.release(generation);
  return loader!;
}

test('a loader that has published its rows is used for the next load', async () => {
  const first = await publish('select i from generate_series(1, 5) i');
  expect(await onlySpare()).toBe(first);
  expect(await publish(`select 'text ' || i as s from generate_series(1, 7) i`)).toBe(first);
  expect(await onlySpare()).toBe(first);
});

test('loads at the same time have processes of their own, and one of them is kept', async () => {
  const loads = [begin('select 1 as i'), begin('select 2 as i'), begin('select 3 as i')];
  const generations = await Promise.all(loads.map(({ generation }) => generation));
  expect(generations.map(({ records }) => records)).toEqual([1, 1, 1]);
  await Promise.all(loads.map((load, at) => load.release(generations[at])));
  const kept = await onlySpare();
  await waitUntil(async () => (await childrenOf(process.pid)).filter(isAlive).length === 1);
  expect(await publish('select 4 as i')).toBe(kept);
});

test('a loader ends after a load that failed, was not published or was aborted, and another one follows', async () => {
  const before = await onlySpare();
  const failed = begin('select 1 / 0 as i');
  await expect(failed.generation).rejects.toMatchObject({ message: 'division by zero' });
  await failed.release();
  expect(isAlive(before)).toBe(false);
  const second = await onlySpare();
  const unpublished = begin('select 1 as i');
  await unpublished.generation;
  await unpublished.release();
  expect(isAlive(second)).toBe(false);
  const third = await onlySpare();
  const stop = new AbortController();
  const aborted = begin('select pg_sleep(60)::text as s', stop.signal);
  stop.abort(new Error('stopped'));
  await expect(aborted.generation).rejects.toThrow('stopped');
  await aborted.release();
  expect(isAlive(third)).toBe(false);
  await onlySpare();
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keepSpares } from '../../src/adapters/process/spare-process.ts';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import type { DatasetIndex } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import type { LoadJob } from '../../src/operations/load-job.ts';
import { startLoad } from '../../src/operations/load-process.ts';
import { configOf, neverAborted } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { isAlive, waitUntil } from '../support/uploaded-source.ts';
import { childrenOf, loaderOf } from './refreshable.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let dir: string;
let index: DatasetIndex;
let endSpares: () => void;

beforeAll(async () => {
  database = await createDatabase('template0');
  dir = await mkdtemp(join(tmpdir(), 'dws-reuse-'));
  index = openDuckdbIndex({ dir });
  endSpares = keepSpares();
});

afterAll(async () => {
  endSpares();
  await waitUntil(async () => (await childrenOf(process.pid)).filter(isAlive).length === 0);
  await index.close();
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
  startLoad({ index, drivers: createDrivers(), log: console as never }, createJob(text), signal, () => {});

/** Returns the process that waits for the next load. */
async function idleLoader(): Promise<number> {
  let found: number | undefined;
  await waitUntil(async () => (found = await loaderOf(process.pid)) === undefined);
  return found!;
}

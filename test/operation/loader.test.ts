import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { folder } from '../../src/adapters/dataset-index/duckdb/generation-files.ts';
import type { Generation } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import type { FromLoader, LoadJob, ToLoader } from '../../src/operations/load-job.ts';
import type { Progress } from '../../src/services/operation/operation-repository.ts';
import { loadTexts, createColumn, NEVER } from '../dataset-index/generation-fixture.ts';
import { configOf } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';

/** Returns the unfinished files in a generation's folder. */
const unfinishedFiles = async (dir: string, id: string): Promise<string[]> =>
  (await readdir(folder(dir, id)).catch(() => [])).filter((name) => name.endsWith('.building'));

async function untilWordsAreSplit(dir: string, id: string): Promise<void> {
  while ((await unfinishedFiles(dir, id)).length === 0) await sleep(5);
}

const forkLoader = () =>
  fork(new URL('../../src/operations/loader.ts', import.meta.url), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });

/** Creates a load of a query of the database into a folder. */
const createJob = (databaseUrl: string, dir: string, text: string): LoadJob => ({
  databaseUrl,
  index: { dir, engine: null },
  ownDatabase: null,
  generationId: newId(),
  source: { type: 'postgres', ...configOf(databaseUrl), file: null },
  query: { text, parameters: [], timeout: 60_000 },
  lastRows: null,
  plan: { flow: [], maxRows: 0 },
});

test('a loader reports rows as they arrive, even if they are few and slow', async () => {
  const database = await createDatabase('template0');
  const dir = await mkdtemp(join(tmpdir(), 'dws-loader-'));
  const gate = new pg.Client({ connectionString: database.url });
  await gate.connect();
  const child = forkLoader();
  try {
    await gate.query('select pg_advisory_lock(1)');
    // Wide rows, because Postgres gathers narrow ones in its buffer.
    const wait = `case when i > 3 then pg_advisory_lock_shared(1)::text end`;
    const query = `select repeat('x', 40000), ${wait} as wait from generate_series(1, 5) i`;
    const reports: Progress[] = [];
    const loaded = new Promise<Generation>((resolve, reject) =>
      child.on('message', (message: FromLoader) => {
        if (message.kind === 'loaded') resolve(message.generation);
        else if (message.kind !== 'progress' && message.kind !== 'source-ended')
          reject(new Error(JSON.stringify(message)));
        else if (message.kind === 'progress' && reports.push(message.progress) && message.progress.current)
          void gate.end();
      }),
    );
    child.send({ kind: 'load', job: createJob(database.url, dir, query) } satisfies ToLoader);
    expect((await loaded).records).toBe(5);
    const rows = reports.map(({ current }) => current!);
    expect(rows.find((current) => current > 0)).toBeOneOf([2, 3]);
    expect(rows).toEqual(rows.toSorted());
    // The planner knows the rows of `generate_series`.
    expect(reports.slice(0, 2)).toEqual([
      { current: 0, message: 'Reading rows' },
      { current: 0, total: 5, percent: 0 },
    ]);
    expect(reports.at(-1)).toEqual({ current: 5, total: 5, percent: 100, message: 'Building the index' });
    expect(new Set(reports.map((report) => JSON.stringify(report))).size).toBe(reports.length);
  } finally {
    child.kill('SIGKILL');
    await gate.end();
    await rm(dir, { recursive: true, force: true });
    await database.drop();
  }
});

test('a loader exits when its parent exits, even while it splits words', async () => {
  const database = await createDatabase('template0');
  const dir = await mkdtemp(join(tmpdir(), 'dws-loader-'));
  const child = forkLoader();
  try {
    const job = createJob(
      database.url,
      dir,
      `select n, 'Zoë ŁÓDŹ straße ' || n as x from generate_series(1, 600000) n`,
    );
    const { generationId } = job;
    const send = (message: ToLoader) => child.send(message);
    const loaded = new Promise<Generation>((resolve, reject) =>
      child.on('message', (message: FromLoader) => {
        if (message.kind === 'loaded') resolve(message.generation);
        else if (message.kind !== 'progress' && message.kind !== 'source-ended')
          reject(new Error(JSON.stringify(message)));
      }),
    );
    send({ kind: 'load', job });
    send({ kind: 'published', generation: await loaded });
    await untilWordsAreSplit(dir, generationId);
    child.disconnect();
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
  } finally {
    child.kill('SIGKILL');
    await rm(dir, { recursive: true, force: true });
    await database.drop();
  }
});

test('closing the index stops the splitting of words and deletes its files', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'dws-closing-'));
  const index = openDuckdbIndex({ dir });
  try {
    const generation = await loadTexts(
      index,
      [createColumn('x', 'string')],
      Array.from({ length: 400_000 }, (_, n) => [`Zoë ŁÓDŹ straße ${n}`]),
    );
    const outcome = index.prepareWords(generation, NEVER).catch((error: unknown) => error);
    await untilWordsAreSplit(dir, generation.id);
    await index.close();
    expect(await outcome).toMatchObject({ status: 503 });
    expect(await readdir(folder(dir, generation.id))).toEqual(['rows.duckdb']);
  } finally {
    await index.close();
    await rm(dir, { recursive: true, force: true });
  }
});

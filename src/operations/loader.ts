/**
 * The loader: a process of its own that reads one query's rows into one generation (architecture, "Refresh"). It is plain Node without decorators, so that
 * it runs from the sources as well. It ends when its parent's channel closes, and holds the lock of its generation until then.
 */
import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type pg from 'pg';
import { FILE_LOCK } from '../adapters/database/file-lock.ts';
import { acquireGenerationLock } from '../adapters/database/generation-lock.ts';
import { loadingFolder } from '../adapters/dataset-index/duckdb/generation-files.ts';
import { openIndex, type IndexPlace } from '../adapters/dataset-index/open-index.ts';
import { createDrivers } from '../adapters/drivers/driver-registry.ts';
import type { Generation } from '../core/dataset-index.ts';
import { ApiError } from '../core/errors.ts';
import type { Segment, SourceConnection } from '../core/row-source.ts';
import type { FromLoader, LoadJob, ToLoader } from './load-job.ts';

const stop = new AbortController();
const interrupted = (why: string) => () => stop.abort(new Interruption(why));

class Interruption extends Error {}

/** At once: `process.exit` would wait for DuckDB's threads, which may wait for this one to split words. What is half made is known by its name, and swept. */
const end = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

const tell = (message: FromLoader): void => {
  process.send?.(message);
};

let place: IndexPlace;

async function load(job: LoadJob): Promise<Generation> {
  place = job.index;
  const lock = await lockGeneration(job);
  lock.on('error', interrupted('The connection that holds the lock was lost'));
  const index = await openIndex(place);
  const source = createDrivers({ ownDatabase: job.ownDatabase })
    .driverOf(job.source.type)
    .connect(job.source.config, job.source.secrets, job.source.file);
  try {
    const columns = await source.describe(job.query, stop.signal);
    const plan = { ...job.plan, signal: stop.signal, progress: (rows: number) => tell({ kind: 'progress', rows }) };
    return await index.load(job.generationId, columns, segments(job, source), plan);
  } finally {
    await source.close();
    await index.close();
  }
}

/** The words of `q`, before somebody asks for them and has to wait. Whatever goes wrong, the first `q` makes them. */
async function prepareWords(generation: Generation): Promise<void> {
  await openIndex(place, '128MB')
    .then((index) => index.prepareWords(generation, stop.signal))
    .catch(() => {});
  end();
}

/** Segments lie in the generation's own folder, which the index makes first; whatever becomes of them, they go with it. */
async function* segments(job: LoadJob, source: SourceConnection): AsyncGenerator<Segment> {
  const dir = loadingFolder(place.dir, job.generationId);
  await mkdir(dir, { recursive: true });
  yield* source.segments(job.query, dir, stop.signal);
}

/** While this connection lives the janitor spares the generation, and the file it is made of. */
async function lockGeneration(job: LoadJob): Promise<pg.Client> {
  try {
    const client = await acquireGenerationLock(job.databaseUrl, job.generationId, 'dws loader');
    if (job.source.file)
      await client.query(`select pg_advisory_lock_shared(${FILE_LOCK})`, [basename(job.source.file)]);
    return client;
  } catch (error) {
    throw new Interruption(
      `The generation could not be locked: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function failure(error: unknown): FromLoader {
  const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
  if (reason instanceof Interruption) return { kind: 'interrupted', why: reason.message };
  if (reason instanceof ApiError)
    return { kind: 'failed', failure: { statusCode: reason.status, code: reason.code, message: reason.message } };
  return { kind: 'broken', message: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason) };
}

process.on('disconnect', end);
process.on('SIGTERM', interrupted('The loader was told to end'));
process.on('message', (message: ToLoader) => {
  if (message.kind === 'abort') interrupted('The load was stopped')();
  if (message.kind === 'done') end();
  if (message.kind === 'published') void prepareWords(message.generation);
  if (message.kind === 'load')
    load(message.job).then(
      (generation) => tell({ kind: 'loaded', generation }),
      (error: unknown) => tell(failure(error)),
    );
});

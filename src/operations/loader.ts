/**
 * The loader: a separate process that loads the rows of one query into one generation. It locks the generation and
 * exits when its parent's channel closes. It uses no decorators, so Node also runs it from the sources. See
 * docs/architecture.md#refresh.
 */
import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { FILE_LOCK } from '../adapters/database/file-lock.ts';
import { acquireGenerationLock } from '../adapters/database/generation-lock.ts';
import { loadingFolder } from '../adapters/dataset-index/duckdb/generation-files.ts';
import { openIndex, type IndexLocation } from '../adapters/dataset-index/open-index.ts';
import { createDrivers } from '../adapters/drivers/driver-registry.ts';
import { clientErrorOf, stackOf } from '../adapters/process/program-error.ts';
import { showSpare } from '../adapters/process/spare-process.ts';
import { withFinalColumns } from '../core/columns-changed.ts';
import type { Generation } from '../core/dataset-index.ts';
import { BUILDING } from '../core/operations.ts';
import type { Segment, SourceConnection } from '../core/row-source.ts';
import { spanCode } from '../core/tracing.ts';
import { LoadProgress } from '../services/operation/load-progress.ts';
import type { FromLoader, LoadJob, ToLoader } from './load-job.ts';
import { ParentSource } from './parent-source.ts';

/** Part of a load into a search engine that is done when all rows are read. DuckDB stores rows as they arrive. */
const ENGINE_READ_SHARE = 0.5;

const stop = new AbortController();
const interrupt = (why: string): void => stop.abort(new Interruption(why));

class Interruption extends Error {}

/**
 * Kills this process. `process.exit` would wait for DuckDB's threads, which may wait for this one to split words. The
 * janitor recognizes unfinished files by their names and drops them.
 */
const exitNow = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

const send = (message: FromLoader): void => {
  process.send?.(message);
};

const parentSource = new ParentSource(send);
let location: IndexLocation;

async function load(job: LoadJob): Promise<Generation> {
  location = job.index;
  const index = await openIndex(location);
  const source = job.source.file === null ? openSource(job) : parentSource;
  try {
    const progress = createProgress(job);
    // The generation has no files before its rows are read, so that the source is asked without waiting for the lock.
    const [provisional] = await Promise.all([
      source.describe(job.query, stop.signal, { provisional: true }),
      lockGeneration(job),
    ]);
    const plan = { ...job.plan, signal: stop.signal, progress: progress.read, stored: progress.stored };
    return await withFinalColumns(provisional, (columns) =>
      index.load(job.generationId, columns, segments(job, source, progress), plan),
    );
  } finally {
    await source.close();
    await index.close();
  }
}

const openSource = ({ ownDatabase, source }: LoadJob): SourceConnection =>
  createDrivers({ ownDatabase }).driverOf(source.type).connect(source.config, source.secrets, source.file);

const createProgress = ({ index, lastRows }: LoadJob): LoadProgress =>
  new LoadProgress(
    (update) => send({ kind: 'progress', progress: update }),
    lastRows,
    index.engine ? ENGINE_READ_SHARE : 1,
  );

/** Starts DuckDB once, as its first start takes longer. */
const prepare = async (): Promise<void> => (await DuckDBInstance.create(':memory:', { threads: '1' })).closeSync();

/** Prepares the search words of a generation and exits. After an error the first search with `q` prepares them. */
async function prepareWords(generation: Generation): Promise<void> {
  await openIndex(location, '128MB')
    .then((index) => index.prepareWords(generation, stop.signal))
    .catch(() => {});
  exitNow();
}

/** Yields the segments of the query. They are in the generation's own folder and are deleted with it. */
async function* segments(
  job: LoadJob,
  source: Pick<SourceConnection, 'segments'>,
  progress: LoadProgress,
): AsyncGenerator<Segment> {
  const dir = loadingFolder(location.dir, job.generationId);
  await mkdir(dir, { recursive: true });
  const onEstimate = job.lastRows === null ? progress.estimate : undefined;
  const startedAt = Date.now();
  let rows = 0;
  let error: string | null = null;
  try {
    for await (const segment of source.segments(job.query, dir, stop.signal, progress.read, onEstimate)) {
      rows += segment.rows;
      yield segment;
    }
  } catch (failure) {
    error = spanCode(failure);
    throw failure;
  } finally {
    send({ kind: 'source-ended', startedAt, endedAt: Date.now(), rows, error });
  }
  progress.readAll(rows, BUILDING);
}

/** Locks the generation, and the file of an uploaded source, against the janitor while the connection is open. */
async function lockGeneration(job: LoadJob): Promise<void> {
  try {
    const client = await acquireGenerationLock(job.databaseUrl, job.generationId, 'dws loader');
    if (job.source.file)
      await client.query(`select pg_advisory_lock_shared(${FILE_LOCK})`, [basename(job.source.file)]);
    client.on('error', () => interrupt('The connection that holds the lock was lost'));
  } catch (error) {
    throw new Interruption(`Could not lock the generation: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function failureMessage(error: unknown): FromLoader {
  const reason: unknown = stop.signal.aborted ? stop.signal.reason : error;
  if (reason instanceof Interruption) return { kind: 'interrupted', why: reason.message };
  const known = clientErrorOf(reason);
  if (!known) return { kind: 'broken', message: stackOf(reason) };
  return { kind: 'failed', failure: { statusCode: known.status, code: known.code, message: known.message } };
}

process.umask(0o077);
process.on('disconnect', exitNow);
// The parent may have ended before.
if (!process.connected) exitNow();
process.on('SIGTERM', () => interrupt('The loader received SIGTERM'));
process.on('message', (message: ToLoader) => {
  parentSource.receive(message);
  showSpare(message.kind === 'prepare');
  if (message.kind === 'prepare') void prepare().catch(() => {});
  if (message.kind === 'abort') interrupt('The load was aborted');
  if (message.kind === 'done') exitNow();
  if (message.kind === 'published') void prepareWords(message.generation);
  if (message.kind === 'load')
    load(message.job).then(
      (generation) => send({ kind: 'loaded', generation }),
      (error: unknown) => send(failureMessage(error)),
    );
});

/**
 * The loader: a separate process that runs loads, one after the other. A load stores the rows of a query in a generation. It
 * locks the generation and exits when its parent's channel closes. It uses no decorators, so Node also runs it from the sources.
 * See docs/architecture.md#refresh.
 */
import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type pg from 'pg';
import { FILE_LOCK } from '../adapters/database/file-lock.ts';
import { acquireGenerationLock } from '../adapters/database/generation-lock.ts';
import { loadingFolder } from '../adapters/dataset-index/duckdb/generation-files.ts';
import { openIndex } from '../adapters/dataset-index/open-index.ts';
import { createDrivers } from '../adapters/drivers/driver-registry.ts';
import { clientErrorOf, stackOf } from '../adapters/process/program-error.ts';
import { showSpare } from '../adapters/process/spare-process.ts';
import { withFinalColumns } from '../core/columns-changed.ts';
import type { Generation } from '../core/dataset-index.ts';
import { isDiskFull } from '../core/disk-full.ts';
import { tooLarge, type ApiError } from '../core/errors.ts';
import { BUILDING } from '../core/operations.ts';
import type { Segment, SourceConnection } from '../core/row-source.ts';
import { spanCode } from '../core/tracing.ts';
import { LoadProgress } from '../services/operation/load-progress.ts';
import type { FromLoader, LoadJob, ToLoader } from './load-job.ts';
import { ParentSource } from './parent-source.ts';

/** Part of a load into a search engine that is done when all rows are read. DuckDB stores rows as they arrive. */
const ENGINE_READ_SHARE = 0.5;

/** Memory of this process, in bytes, above which it loads no further generation. An idle loader has about 100 MB. */
const MAX_IDLE_MEMORY = 200_000_000;

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

/** One load, from its job to the end of the preparation of its search words. */
class Load {
  readonly #job: LoadJob;
  readonly #stop = new AbortController();
  readonly #parentSource = new ParentSource(send);
  #lock: pg.Client | undefined;

  constructor(job: LoadJob) {
    this.#job = job;
  }

  interrupt(why: string): void {
    this.#stop.abort(new Interruption(why));
  }

  /** Receives messages of the parent about its source. */
  receive(message: ToLoader): void {
    this.#parentSource.receive(message);
  }

  /** Loads the rows, and sends the generation or the failure to the parent. */
  async run(): Promise<void> {
    send(
      await this.#load().then(
        (generation): FromLoader => ({ kind: 'loaded', generation }),
        (error: unknown) => failureMessage(this.#stop.signal.aborted ? this.#stop.signal.reason : error),
      ),
    );
  }

  /** Prepares the search words of the generation. After an error the first search with `q` prepares them. */
  async prepareWords(generation: Generation): Promise<void> {
    const index = await openIndex(this.#job.index, '128MB');
    try {
      await index.prepareWords(generation, this.#stop.signal).catch(() => {});
    } finally {
      await index.close();
      await this.#lock?.end();
    }
  }

  async #load(): Promise<Generation> {
    const job = this.#job;
    const { signal } = this.#stop;
    const index = await openIndex(job.index);
    const source = job.source.file === null ? openSource(job) : this.#parentSource;
    try {
      const progress = createProgress(job);
      // The generation has no files before its rows are read, so that the source is asked without waiting for the lock.
      const [provisional] = await Promise.all([
        source.describe(job.query, signal, { provisional: true }),
        this.#lockGeneration(),
      ]);
      const plan = { ...job.plan, signal, progress: progress.read, stored: progress.stored };
      return await withFinalColumns(provisional, (columns) =>
        index.load(job.generationId, columns, this.#segments(source, progress), plan),
      );
    } finally {
      await source.close();
      await index.close();
    }
  }

  /** Yields the segments of the query. They are in the generation's own folder and are deleted with it. */
  async *#segments(source: Pick<SourceConnection, 'segments'>, progress: LoadProgress): AsyncGenerator<Segment> {
    const job = this.#job;
    const dir = loadingFolder(job.index.dir, job.generationId);
    await mkdir(dir, { recursive: true });
    const onEstimate = job.lastRows === null ? progress.estimate : undefined;
    const startedAt = Date.now();
    let rows = 0;
    let error: string | null = null;
    try {
      for await (const segment of source.segments(job.query, dir, this.#stop.signal, progress.read, onEstimate)) {
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
  async #lockGeneration(): Promise<void> {
    const { databaseUrl, generationId, source } = this.#job;
    try {
      const client = await acquireGenerationLock(databaseUrl, generationId, 'dws loader');
      this.#lock = client;
      if (source.file) await client.query(`select pg_advisory_lock_shared(${FILE_LOCK})`, [basename(source.file)]);
      client.on('error', () => this.interrupt('The connection that holds the lock was lost'));
    } catch (error) {
      throw new Interruption(
        `Could not lock the generation: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
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

/** Returns the error of rows that take more memory than DuckDB may use here, e.g. of a flow that doubles a text again and again. */
const memoryErrorOf = (reason: unknown): ApiError | undefined =>
  reason instanceof Error && reason.message.startsWith('Out of Memory Error') && !isDiskFull(reason)
    ? tooLarge('The rows, as the flow computes them, take more memory than a load may use')
    : undefined;

function failureMessage(reason: unknown): FromLoader {
  if (reason instanceof Interruption) return { kind: 'interrupted', why: reason.message };
  const known = clientErrorOf(reason) ?? memoryErrorOf(reason);
  if (!known) return { kind: 'broken', message: stackOf(reason) };
  return { kind: 'failed', failure: { statusCode: known.status, code: known.code, message: known.message } };
}

/** Starts DuckDB once, as its first start takes longer. */
const prepare = async (): Promise<void> => (await DuckDBInstance.create(':memory:', { threads: '1' })).closeSync();

/** The load of this process, until it has ended. */
let current: Load | undefined;

function interrupt(why: string): void {
  if (current) current.interrupt(why);
  else exitNow();
}

/** Prepares the words of the published generation, then offers this process to the parent for another load, or exits. */
async function finish(load: Load, generation: Generation): Promise<void> {
  try {
    await load.prepareWords(generation);
  } catch {
    exitNow();
  }
  if (process.memoryUsage.rss() > MAX_IDLE_MEMORY) return exitNow();
  current = undefined;
  showSpare(true);
  send({ kind: 'idle' });
}

process.umask(0o077);
process.on('disconnect', exitNow);
// The parent may have ended before.
if (!process.connected) exitNow();
process.on('SIGTERM', () => interrupt('The loader received SIGTERM'));
process.on('message', (message: ToLoader) => {
  current?.receive(message);
  if (message.kind === 'prepare') {
    showSpare(true);
    void prepare().catch(() => {});
  }
  if (message.kind === 'load') {
    showSpare(false);
    current = new Load(message.job);
    void current.run();
  }
  if (message.kind === 'abort') interrupt('The load was aborted');
  if (message.kind === 'published') void finish(current!, message.generation);
  if (message.kind === 'done') exitNow();
});

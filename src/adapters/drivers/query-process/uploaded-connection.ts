import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ColumnsChanged } from '../../../core/columns-changed.ts';
import { badInput } from '../../../core/errors.ts';
import type { Column } from '../../../core/fields.ts';
import type {
  BoundQuery,
  ConnectionTest,
  DetectedFile,
  QueryResult,
  Segment,
  SourceConnection,
  SourceTable,
} from '../../../core/row-source.ts';
import { connectionTest } from '../connection-test.ts';
import { QueryProcess } from './one-process.ts';
import { doWork, doWorkIn, segmentsOf } from './query-process.ts';
import type { ColumnsFrom, Job, Work } from './work.ts';

/** Milliseconds for tasks without a query's limit: testing, listing tables, detecting a file's config. */
const CATALOG_TIMEOUT = 60_000;

/** Maximum size of a file whose next task runs in the process that detected its config, in bytes. */
const SMALL_FILE = 1024 ** 2;

/**
 * Opens a connection to an uploaded file. Each task runs in its own process, or in one that has read the same file.
 * Throws BAD_USER_INPUT if the file does not exist yet.
 */
export function connectUploaded(
  engine: Job['engine'],
  config: Record<string, unknown>,
  file: string | null,
): SourceConnection {
  if (file === null) throw badInput('The datasource has no file: upload one first');
  return new UploadedConnection({ engine, config, file });
}

/** Detects the config of an uploaded file in a process (`UploadedSource.detectConfig`). */
export async function detectUploadedConfig(
  engine: Job['engine'],
  file: string,
  filename: string,
  signal: AbortSignal,
  given: Record<string, unknown> = {},
  columnsFrom: ColumnsFrom = 'user',
): Promise<DetectedFile | null> {
  const job: Job = { engine, file, config: given, work: { kind: 'detectConfig', filename, columnsFrom } };
  const process = new QueryProcess(file);
  const found = (await doWorkIn(process, job, { signal, timeout: CATALOG_TIMEOUT })) as DetectedFile | null;
  // An upload reads the file next. A large file may have left much in memory.
  if (found && (await stat(file)).size <= SMALL_FILE) await process.giveBack();
  else await process.end();
  return found;
}

/** A described query, and the process that described it until a task takes it. */
interface Described {
  query: BoundQuery;
  columns: Column[];
  provisional: boolean;
  process: QueryProcess | null;
}

class UploadedConnection implements SourceConnection {
  readonly #source: Omit<Job, 'work'>;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** A refresh describes a query and then reads it, in the same process. */
  #described: Described | undefined;

  constructor(source: Omit<Job, 'work'>) {
    this.#source = source;
  }

  #signal(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closed.signal]);
  }

  #do<T>(work: Work, signal: AbortSignal, timeout = CATALOG_TIMEOUT): Promise<T> {
    return this.#track(doWork({ ...this.#source, work }, { signal: this.#signal(signal), timeout })) as Promise<T>;
  }

  #track<T>(running: Promise<T>): Promise<T> {
    const settled = running
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return running;
  }

  async describe(query: BoundQuery, signal: AbortSignal, { provisional } = { provisional: false }): Promise<Column[]> {
    await this.#endDescribed();
    const limits = { signal: this.#signal(signal), timeout: query.timeout };
    const process = new QueryProcess(this.#source.file);
    const job: Job = { ...this.#source, work: { kind: 'describe', query, provisional } };
    const columns = (await this.#track(doWorkIn(process, job, limits))) as Column[];
    this.#described = { query, columns, provisional, process };
    if (this.#closed.signal.aborted) await this.#endDescribed();
    return columns;
  }

  async #endDescribed(): Promise<void> {
    const described = this.#described;
    this.#described = undefined;
    await described?.process?.end();
  }

  /** Returns the process that described the query, once, or a new one. */
  #processOf(described: Described | undefined): QueryProcess {
    const { process } = described ?? {};
    if (described) described.process = null;
    // Only the process that has read the first rows can check provisional columns.
    if (described?.provisional) this.#described = undefined;
    return process ?? new QueryProcess(this.#source.file);
  }

  segments(
    query: BoundQuery,
    dir: string,
    signal: AbortSignal,
    onRows?: (rows: number) => void,
    onEstimate?: (rows: number) => void,
  ): AsyncIterable<Segment> {
    const described = isDeepStrictEqual(this.#described?.query, query) ? this.#described : undefined;
    const { columns } = described ?? {};
    const estimate = onEstimate && this.#estimator(columns ?? [], onEstimate);
    return this.#noteColumns(
      query,
      segmentsOf(
        { ...this.#source, work: { kind: 'segments', query, dir, columns } },
        dir,
        { signal: this.#signal(signal), timeout: query.timeout },
        (working) => void this.#track(working),
        (rows, bytes) => {
          onRows?.(rows);
          estimate?.(rows, bytes);
        },
        () => this.#processOf(described),
      ),
    );
  }

  /** Keeps the final columns of a query for the next reading of its rows. */
  async *#noteColumns(query: BoundQuery, segments: AsyncIterable<Segment>): AsyncGenerator<Segment> {
    try {
      yield* segments;
    } catch (error) {
      if (error instanceof ColumnsChanged)
        this.#described = { query, columns: error.columns, provisional: false, process: null };
      throw error;
    }
  }

  /**
   * Returns a function that estimates the rows by the bytes of a text file: the rows read so far, and the bytes that
   * they have in the file. The bytes of other files say nothing about their rows.
   */
  #estimator(columns: Column[], onEstimate: (rows: number) => void): (rows: number, bytes: number) => void {
    const { file, config } = this.#source;
    const { format } = config;
    if (format !== 'csv' && format !== 'json' && format !== 'ndjson') return () => {};
    // A row of JSON repeats the names.
    const added = format === 'csv' ? 0 : columns.reduce((sum, { name }) => sum + Buffer.byteLength(name) + 3, 0);
    const stats = stat(file).catch(() => undefined);
    return (rows, bytes) =>
      void stats.then((known) => {
        if (known) onEstimate(Math.max(rows, Math.round((rows * known.size) / (bytes + rows * added))));
      });
  }

  async query(query: BoundQuery, limit: number, signal: AbortSignal): Promise<QueryResult> {
    const start = performance.now();
    const result = await this.#do<Omit<QueryResult, 'duration'>>({ kind: 'rows', query, limit }, signal, query.timeout);
    return { ...result, duration: Math.round(performance.now() - start) };
  }

  async count(query: BoundQuery, signal: AbortSignal): Promise<number> {
    const dir = await mkdtemp(join(tmpdir(), 'dws-count-'));
    try {
      return await this.#do<number>({ kind: 'count', query, dir }, signal, query.timeout);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }

  schema(signal: AbortSignal): Promise<SourceTable[]> {
    return this.#do({ kind: 'tables' }, signal);
  }

  test(signal: AbortSignal): Promise<ConnectionTest> {
    return connectionTest(signal, () => this.#do({ kind: 'inspect' }, signal));
  }

  /** Ends all tasks and waits until their processes have ended. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([...this.#running, this.#endDescribed()]);
  }
}

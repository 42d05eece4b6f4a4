import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
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
import { doWork, segmentsOf } from './query-process.ts';
import type { Job, Work } from './work.ts';

/** Milliseconds for tasks without a query's limit: testing, listing tables, detecting a file's config. */
const CATALOG_TIMEOUT = 60_000;

/**
 * Opens a connection to an uploaded file. Each task runs in its own process. Throws BAD_USER_INPUT where there is no
 * file yet.
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
): Promise<DetectedFile | null> {
  return (await doWork(
    { engine, file, config: given, work: { kind: 'detectConfig', filename } },
    { signal, timeout: CATALOG_TIMEOUT },
  )) as DetectedFile | null;
}

class UploadedConnection implements SourceConnection {
  readonly #source: Omit<Job, 'work'>;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** A refresh describes a query and then reads it, so the columns are stored. */
  #described: { query: BoundQuery; columns: Column[] } | undefined;

  constructor(source: Omit<Job, 'work'>) {
    this.#source = source;
  }

  #signal(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closed.signal]);
  }

  #do<T>(work: Work, signal: AbortSignal, timeout = CATALOG_TIMEOUT): Promise<T> {
    const running = doWork({ ...this.#source, work }, { signal: this.#signal(signal), timeout }) as Promise<T>;
    this.#track(running);
    return running;
  }

  #track(running: Promise<unknown>): void {
    const settled = running
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }

  async describe(query: BoundQuery, signal: AbortSignal): Promise<Column[]> {
    const columns = await this.#do<Column[]>({ kind: 'describe', query }, signal, query.timeout);
    this.#described = { query, columns };
    return columns;
  }

  segments(
    query: BoundQuery,
    dir: string,
    signal: AbortSignal,
    onRows?: (rows: number) => void,
    onEstimate?: (rows: number) => void,
  ): AsyncIterable<Segment> {
    const columns = isDeepStrictEqual(this.#described?.query, query) ? this.#described?.columns : undefined;
    const segments = segmentsOf(
      { ...this.#source, work: { kind: 'segments', query, dir, columns } },
      dir,
      { signal: this.#signal(signal), timeout: query.timeout },
      (working) => this.#track(working),
      onRows,
    );
    return onEstimate ? this.#estimate(segments, columns ?? [], onEstimate) : segments;
  }

  /**
   * Estimates the rows by the bytes of a text file: the rows read so far, and the bytes that they have in the file. The
   * bytes of other files say nothing about their rows.
   */
  async *#estimate(
    segments: AsyncIterable<Segment>,
    columns: Column[],
    onEstimate: (rows: number) => void,
  ): AsyncGenerator<Segment> {
    const { file, config } = this.#source;
    const { format } = config;
    const isText = format === 'csv' || format === 'json' || format === 'ndjson';
    const size = isText ? (await stat(file)).size : null;
    // A row of JSON repeats the names.
    const added = format === 'csv' ? 0 : columns.reduce((sum, { name }) => sum + Buffer.byteLength(name) + 3, 0);
    let rows = 0;
    let bytes = 0;
    for await (const segment of segments) {
      rows += segment.rows;
      bytes += segment.bytes + segment.rows * added;
      if (size !== null && rows > 0) onEstimate(Math.max(rows, Math.round((rows * size) / bytes)));
      yield segment;
    }
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
    await Promise.all(this.#running);
  }
}

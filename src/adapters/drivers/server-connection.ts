import { rm } from 'node:fs/promises';
import type { Column } from '../../core/fields.ts';
import type {
  BoundQuery,
  ConnectionTest,
  QueryResult,
  Segment,
  SourceConnection,
  SourceTable,
} from '../../core/row-source.ts';
import { connectionTest } from './connection-test.ts';
import { toQueryResult } from './json-forms.ts';
import { reportRows } from './row-reports.ts';
import { SegmentQueue, SegmentWriter } from './segment-files.ts';
import type { WorkLimits } from './server-session.ts';

/** Milliseconds for tasks without a query's limit: testing, listing tables. */
const CATALOG_TIMEOUT = 30_000;

/**
 * The tasks of a driver for database servers on its own kind of session. `Statement` is a user's query, verified as one
 * complete SELECT.
 */
export interface ServerWork<Session extends { signal: AbortSignal }, Statement extends { columns: Column[] }> {
  withSession<T>(limits: WorkLimits, work: (session: Session) => Promise<T>): Promise<T>;
  /** Verifies and prepares a query without running any of it. */
  prepare(session: Session, query: BoundQuery): Promise<Statement>;
  /** Begins the read-only transaction in which the statement runs. */
  begin(session: Session, statement: Statement): Promise<void>;
  /** Returns the planner's estimate of the rows in the transaction that runs the statement; null without one. */
  estimate(session: Session, statement: Statement): Promise<number | null>;
  /** Runs the statement and writes all of its rows. */
  copy(session: Session, statement: Statement, writer: SegmentWriter): Promise<void>;
  /**
   * Runs the statement for at most `limit` rows, each value as its text in the dialect of segments, and returns
   * whether there are more.
   */
  select(
    session: Session,
    statement: Statement,
    limit: number,
  ): Promise<{ rows: (string | null)[][]; truncated: boolean }>;
  /** Runs the statement and counts its rows in the server. */
  count(session: Session, statement: Statement): Promise<number>;
  schema(session: Session): Promise<SourceTable[]>;
  /** Returns the server's version, and a warning for every privilege that a source's role does not need. */
  inspect(session: Session): Promise<Pick<ConnectionTest, 'version' | 'warnings'>>;
}

/** Each task has a session of its own, so tasks are independent and can run concurrently. */
export class ServerConnection<
  Session extends { signal: AbortSignal },
  Statement extends { columns: Column[] },
> implements SourceConnection {
  readonly #load: () => Promise<ServerWork<Session, Statement>>;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** `load` loads the driver's part for the first session. */
  constructor(load: () => Promise<ServerWork<Session, Statement>>) {
    this.#load = load;
  }

  #session<T>(
    signal: AbortSignal,
    timeout: number,
    run: (session: Session, work: ServerWork<Session, Statement>) => Promise<T>,
  ): Promise<T> {
    const limits = { signal: AbortSignal.any([signal, this.#closed.signal]), timeout };
    const running = this.#load().then((work) => work.withSession(limits, (session) => run(session, work)));
    const settled = running
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return running;
  }

  describe(query: BoundQuery, signal: AbortSignal): Promise<Column[]> {
    return this.#session(signal, query.timeout, async (session, work) => (await work.prepare(session, query)).columns);
  }

  async *segments(
    query: BoundQuery,
    dir: string,
    signal: AbortSignal,
    onRows: (rows: number) => void = () => {},
    onEstimate?: (rows: number) => void,
  ): AsyncGenerator<Segment, void> {
    const queue = new SegmentQueue();
    const stopped = new AbortController();
    const filling = this.#session(AbortSignal.any([signal, stopped.signal]), query.timeout, (session, work) =>
      fill(session, work, query, dir, queue, { onRows, onEstimate }),
    ).then(
      () => queue.end(),
      (error: unknown) => queue.fail(error),
    );
    try {
      for await (const segment of queue) {
        if (!signal.aborted) yield segment;
        else await discardAborted(segment, queue, filling, signal);
      }
    } finally {
      stopped.abort();
      await filling;
      await queue.discard();
    }
  }

  query(query: BoundQuery, limit: number, signal: AbortSignal): Promise<QueryResult> {
    return this.#session(signal, query.timeout, async (session, work) => {
      const statement = await work.prepare(session, query);
      const start = performance.now();
      await work.begin(session, statement);
      const { rows, truncated } = await work.select(session, statement, limit);
      return { ...toQueryResult(statement.columns, rows, truncated), duration: Math.round(performance.now() - start) };
    });
  }

  count(query: BoundQuery, signal: AbortSignal): Promise<number> {
    return this.#session(signal, query.timeout, async (session, work) => {
      const statement = await work.prepare(session, query);
      await work.begin(session, statement);
      return work.count(session, statement);
    });
  }

  schema(signal: AbortSignal): Promise<SourceTable[]> {
    return this.#session(signal, CATALOG_TIMEOUT, (session, work) => work.schema(session));
  }

  test(signal: AbortSignal): Promise<ConnectionTest> {
    return connectionTest(signal, () =>
      this.#session(signal, CATALOG_TIMEOUT, (session, work) => work.inspect(session)),
    );
  }

  /** Cancels all tasks and waits until they have ended in the source. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running);
  }
}

/** Discards a segment of an aborted query and waits for the session. Throws its error, or the reason of the abort. */
async function discardAborted(
  { path }: Segment,
  queue: SegmentQueue,
  filling: Promise<void>,
  signal: AbortSignal,
): Promise<never> {
  await rm(path, { force: true });
  await filling;
  queue.throwIfFailed();
  throw signal.reason;
}

/** Runs the query and puts its rows into the queue, segment by segment. */
async function fill<Session extends { signal: AbortSignal }, Statement extends { columns: Column[] }>(
  session: Session,
  { prepare, begin, estimate, copy }: ServerWork<Session, Statement>,
  query: BoundQuery,
  dir: string,
  queue: SegmentQueue,
  { onRows, onEstimate }: { onRows: (rows: number) => void; onEstimate?: ((rows: number) => void) | undefined },
): Promise<void> {
  const statement = await prepare(session, query);
  await begin(session, statement);
  const estimated = onEstimate ? await estimate(session, statement) : null;
  if (estimated !== null) onEstimate?.(estimated);
  const writer = new SegmentWriter(dir, queue, session.signal);
  const stopReports = reportRows(() => writer.rowsWritten, onRows);
  try {
    await copy(session, statement, writer);
  } finally {
    stopReports();
    await writer.discard();
  }
}

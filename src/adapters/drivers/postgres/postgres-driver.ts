import { Fault } from '../../../core/errors.ts';
import type { Column } from '../../../core/fields.ts';
import type { BoundQuery, ConnectionTest, Driver, QueryResult, Segment, SourceConnection, SourceTable } from '../../../core/row-source.ts';
import { toQueryResult } from '../json-forms.ts';
import { SegmentQueue, SegmentWriter } from '../segment-files.ts';
import type { DatabaseIdentity } from '../source-guard.ts';
import { inspectRole, readSchema } from './catalog.ts';
import { copyOut } from './copy-out.ts';
import { configSchema, readTarget, secretsSchema, type PostgresTarget } from './postgres-config.ts';
import { selectRows } from './select-rows.ts';
import { withSession, type Session } from './session.ts';
import { begin, prepare } from './statement.ts';

/** Milliseconds for what no query limits: testing, listing tables. */
const CATALOG_TIMEOUT = 30_000;

/** The driver of Postgres databases, 10 and newer. `ownDatabase` is refused as a source. */
export function createPostgresDriver(ownDatabase: DatabaseIdentity | null): Driver {
  return {
    id: 'postgres', name: 'PostgreSQL', defaultPort: 5432, features: ['sql', 'parameters', 'schema', 'cancel', 'ssl'], configSchema, secretsSchema,
    connect: (config, secrets) => new PostgresConnection(readTarget(config, secrets), ownDatabase),
  };
}

/** Each piece of work has a session of its own, so nothing of one shows in the next and all may run at once. */
class PostgresConnection implements SourceConnection {
  readonly #target: PostgresTarget;
  readonly #ownDatabase: DatabaseIdentity | null;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(target: PostgresTarget, ownDatabase: DatabaseIdentity | null) {
    this.#target = target;
    this.#ownDatabase = ownDatabase;
  }

  #session<T>(signal: AbortSignal, timeout: number, work: (session: Session) => Promise<T>): Promise<T> {
    const limits = { target: this.#target, ownDatabase: this.#ownDatabase, signal: AbortSignal.any([signal, this.#closed.signal]), timeout };
    const running = withSession(limits, work);
    const settled = running.then(() => {}, () => {}).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return running;
  }

  describe(query: BoundQuery, signal: AbortSignal): Promise<Column[]> {
    return this.#session(signal, query.timeout, async (session) => (await prepare(session, query)).columns);
  }

  async *segments(query: BoundQuery, dir: string, signal: AbortSignal): AsyncGenerator<Segment, void> {
    const queue = new SegmentQueue();
    const left = new AbortController();
    const filling = this.#session(AbortSignal.any([signal, left.signal]), query.timeout, (session) => fill(session, query, dir, queue))
      .then(() => queue.end(), (error: unknown) => queue.fail(error));
    try {
      yield* queue;
    } finally {
      left.abort();
      await filling;
      await queue.discard();
    }
  }

  query(query: BoundQuery, limit: number, signal: AbortSignal): Promise<QueryResult> {
    return this.#session(signal, query.timeout, async (session) => {
      const statement = await prepare(session, query);
      const start = performance.now();
      await begin(session, statement);
      const { rows, truncated } = await selectRows(session, statement.select, limit);
      return { ...toQueryResult(statement.columns, rows, truncated), duration: Math.round(performance.now() - start) };
    });
  }

  schema(signal: AbortSignal): Promise<SourceTable[]> {
    return this.#session(signal, CATALOG_TIMEOUT, readSchema);
  }

  /** A source that cannot be used is an answer, not an error. Only an abort is thrown. */
  async test(signal: AbortSignal): Promise<ConnectionTest> {
    const start = performance.now();
    const encrypted = this.#target.ssl !== 'disable';
    try {
      const found = await this.#session(signal, CATALOG_TIMEOUT, (session) => inspectRole(session, encrypted));
      return { ok: true, latency: Math.round(performance.now() - start), ...found, message: null };
    } catch (error) {
      if (signal.aborted || !(error instanceof Fault)) throw error;
      return { ok: false, latency: Math.round(performance.now() - start), version: null, warnings: [], message: error.message };
    }
  }

  /** Cancels what runs and waits until the source is rid of it. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running);
  }
}

/** Runs the query and puts its rows into the queue, segment by segment. */
async function fill(session: Session, query: BoundQuery, dir: string, queue: SegmentQueue): Promise<void> {
  const statement = await prepare(session, query);
  await begin(session, statement);
  const writer = new SegmentWriter(dir, queue, session.signal);
  try {
    // An empty text alone in its row would be an empty line, which readers of CSV pass over: there, values are quoted.
    const quotes = statement.columns.length === 1 ? ', FORCE_QUOTE *' : '';
    await copyOut(session, `COPY (\n${statement.select}\n) TO STDOUT (FORMAT csv, NULL '\\N'${quotes})`, writer);
  } finally {
    await writer.discard();
  }
}

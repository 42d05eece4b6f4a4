import type pg from 'pg';
import type { SqlRow, Statement } from '../../core/database.ts';
import { breaksConnection, databaseError } from './pool.ts';
import { runBatch } from './statement-batch.ts';

/** How a transaction gets a connection. */
export interface ConnectionSource {
  connect(): Promise<pg.PoolClient>;
  /** Returns the statements to run before the first one of the transaction. A rollback undoes them. */
  before?(client: pg.PoolClient): Statement[];
  /** Called after the commit. */
  committed?(client: pg.PoolClient): void;
}

interface QueuedStatement {
  statement: Statement;
  done(rows: SqlRow[]): void;
  failed(error: unknown): void;
}

const BEGIN: Statement = { text: 'begin' };
const COMMIT: Statement = { text: 'commit' };
const ROLLBACK: Statement = { text: 'rollback' };

/**
 * A transaction whose statements are sent in batches: the statements of one tick take one round trip, the first batch
 * with `begin`, the last with `commit`. It takes a connection when it has something to send.
 */
export class PipelinedTransaction {
  readonly #source: ConnectionSource;
  #client: pg.PoolClient | undefined;
  #queue: QueuedStatement[] = [];
  #isScheduled = false;
  /** Whether there is anything to commit. */
  #isUsed = false;
  #sending: Promise<void> = Promise.resolve();
  #failure: { error: unknown } | undefined;
  /** The error of the last batch, as Postgres or the connection returned it. */
  #lastError: unknown;
  #hasEnded = false;

  constructor(source: ConnectionSource) {
    this.#source = source;
  }

  /** Runs a statement and returns its rows. Await it: its error is not reported elsewhere. */
  query<R extends SqlRow>(statement: Statement): Promise<R[]> {
    const rows = this.#add(statement);
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      process.nextTick(() => void this.#send());
    }
    return rows as Promise<R[]>;
  }

  /**
   * Runs a statement with the next one or the commit. If it fails, `errorOf` replaces the error, and the transaction
   * fails.
   */
  execute(statement: Statement, errorOf: (error: unknown) => unknown = (error) => error): void {
    this.#add(statement, errorOf).catch(() => {});
  }

  /** Runs `work` and commits, or undoes everything if `work`, a statement or the commit fails. Throws their error. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      await this.#commit();
      return result;
    } catch (error) {
      await this.#rollback(error);
      throw error;
    }
  }

  async #commit(): Promise<void> {
    if (this.#isUsed) this.execute(COMMIT);
    this.#hasEnded = true;
    await this.#send();
    if (this.#failure) throw this.#failure.error;
    if (this.#client) this.#source.committed?.(this.#client);
    this.#client?.release();
    this.#client = undefined;
  }

  async #rollback(error: unknown): Promise<void> {
    this.#hasEnded = true;
    this.#failure ??= { error };
    // Queued statements are never sent, even if the work that queued them still runs.
    for (const { failed } of this.#queue.splice(0)) failed(error);
    await this.#sending;
    const client = this.#client;
    if (!client) return;
    const isBroken = breaksConnection(this.#lastError) || (await runBatch(client, [ROLLBACK])).error !== null;
    client.release(isBroken);
  }

  #add(statement: Statement, errorOf = (error: unknown): unknown => error): Promise<SqlRow[]> {
    if (this.#hasEnded) return Promise.reject(new Error('The transaction has ended'));
    this.#isUsed = true;
    return new Promise((done, failed) => {
      this.#queue.push({ statement, done, failed: (error) => failed(this.#fail(error, errorOf)) });
    });
  }

  /** Sends the queue after the running batch. */
  #send(): Promise<void> {
    return (this.#sending = this.#sending.then(() => this.#sendQueue()));
  }

  async #sendQueue(): Promise<void> {
    this.#isScheduled = false;
    const queue = this.#queue.splice(0);
    if (queue.length === 0) return;
    if (this.#failure) return queue.forEach(({ failed }) => failed(this.#failure!.error));
    try {
      await this.#sendBatch(queue);
    } catch (error) {
      for (const { failed } of queue) failed(error);
    }
  }

  async #sendBatch(queue: readonly QueuedStatement[]): Promise<void> {
    const before: Statement[] = [];
    if (!this.#client) {
      this.#client = await this.#source.connect();
      if (this.#failure) throw this.#failure.error;
      before.push(...(this.#source.before?.(this.#client) ?? []), BEGIN);
    }
    const { results, error } = await runBatch(this.#client, [...before, ...queue.map(({ statement }) => statement)]);
    this.#lastError = error;
    const completed = results.slice(before.length);
    for (const [index, { done, failed }] of queue.entries()) {
      const rows = completed[index];
      if (rows) done(rows);
      else failed(databaseError(error));
    }
  }

  /**
   * Keeps the first error, which belongs to the statement that failed. The commit throws it even if the caller of the
   * statement ignores it.
   */
  #fail(error: unknown, errorOf: (error: unknown) => unknown): unknown {
    this.#failure ??= { error: errorOf(error) };
    return this.#failure.error;
  }
}

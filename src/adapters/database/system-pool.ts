import type pg from 'pg';
import { DatabaseUnavailable } from '../../core/database-unavailable.ts';
import type { SqlRow, Statement } from '../../core/database.ts';
import type { LockingDatabase } from '../../core/platform.ts';
import { PipelinedTransaction } from './pipelined-transaction.ts';
import { connect, databaseError, openPool, runAndRelease } from './pool.ts';
import { runBatch } from './statement-batch.ts';

/**
 * A small second pool with role `dws_system`, for work without a tenant or across tenants: lookup of logins and tokens,
 * scheduler, reconciler, janitor (docs/architecture.md#tenants). A test lists the files that may use it.
 */
export class SystemPool implements LockingDatabase {
  readonly #pool: pg.Pool;

  constructor(url: string, size = 3) {
    this.#pool = openPool(url, 'dws_system', size);
  }

  /** Runs one statement. */
  async query<R extends SqlRow>(statement: Statement): Promise<R[]> {
    return runAndRelease<R>(await connect(this.#pool), [statement]);
  }

  /** Runs `work` in one transaction. */
  async transaction<T>(
    work: (query: <R extends SqlRow>(statement: Statement) => Promise<R[]>) => Promise<T>,
  ): Promise<T> {
    const open = new PipelinedTransaction({ connect: () => connect(this.#pool) });
    return open.run(() => work((statement) => open.query(statement)));
  }

  /**
   * Runs work under an advisory lock of one connection, which does nothing else. The lock ends with the connection,
   * even if the process is killed.
   */
  async runExclusively(lock: number, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const client = await connect(this.#pool);
    const lost = new AbortController();
    const lose = (): void =>
      lost.abort(new DatabaseUnavailable(undefined, 'The connection that holds the lock was lost'));
    client.once('end', lose);
    try {
      const { results, error } = await runBatch(client, [
        { text: 'select pg_try_advisory_lock($1) as "isLocked"', values: [lock] },
      ]);
      if (error) throw databaseError(error);
      if (!results[0]![0]!['isLocked']) return false;
      await work(lost.signal);
      return true;
    } finally {
      client.off('end', lose);
      const { error } = await runBatch(client, [{ text: 'select pg_advisory_unlock_all()' }]);
      client.release(error !== null);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

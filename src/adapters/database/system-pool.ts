import type pg from 'pg';
import type { SqlRow, Statement } from '../../core/database.ts';
import { PipelinedTransaction } from './pipelined-transaction.ts';
import { connect, openPool, runAndRelease } from './pool.ts';

/**
 * A small second pool with role `dws_system`, for work without a tenant or across tenants: lookup of logins and tokens,
 * scheduler, reconciler, janitor (docs/architecture.md#tenants). A test lists the files that may use it.
 */
export class SystemPool {
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

  close(): Promise<void> {
    return this.#pool.end();
  }
}

import type pg from 'pg';
import type { SqlRow, Statement } from '../../core/database.ts';
import { connect, databaseError, openPool, runAndRelease } from './tenant-pool.ts';

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
    return runAndRelease<R>(await connect(this.#pool), statement);
  }

  /** Runs `work` in one transaction. */
  async transaction<T>(
    work: (query: <R extends SqlRow>(statement: Statement) => Promise<R[]>) => Promise<T>,
  ): Promise<T> {
    const client = await connect(this.#pool);
    try {
      await client.query('begin');
      const result = await work(
        async <R extends SqlRow>(statement: Statement) => (await client.query<R>(statement)).rows,
      );
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      await client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      );
      throw databaseError(error);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

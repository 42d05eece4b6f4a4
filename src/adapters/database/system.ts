import type pg from 'pg';
import type { SqlRow, Statement } from '../../core/database.ts';
import { connect, databaseError, openPool, runAndRelease } from './database.ts';

/**
 * The small second pool, as `dws_system`, for what precedes or crosses a tenant: login and token lookup, scheduler, reconciler, janitor.
 * Reachable only from the files that need it (a rule of dependency-cruiser).
 */
export class SystemPool {
  readonly #pool: pg.Pool;

  constructor(url: string, size = 3) {
    this.#pool = openPool(url, 'dws_system', size);
  }

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

import pg from 'pg';
import type { SqlRow, Statement } from '../../core/database.ts';
import { connect, runAndRelease } from './database.ts';

/**
 * The small second pool, as `dws_system`, for what precedes or crosses a tenant: login and token lookup, scheduler, reconciler, janitor.
 * Reachable only from the files that need it (a rule of dependency-cruiser).
 */
export class SystemPool {
  readonly pool: pg.Pool;

  constructor(url: string, size = 3) {
    this.pool = new pg.Pool({ connectionString: url, max: size, options: '-c role=dws_system', connectionTimeoutMillis: 10_000, application_name: 'dws system' });
    this.pool.on('error', () => {});
  }

  async query<R extends SqlRow>(statement: Statement): Promise<R[]> {
    return runAndRelease<R>(await connect(this.pool), statement);
  }

  /** Runs `work` in one transaction. */
  async transaction<T>(work: (query: <R extends SqlRow>(statement: Statement) => Promise<R[]>) => Promise<T>): Promise<T> {
    const client = await connect(this.pool);
    try {
      await client.query('begin');
      const result = await work(async <R extends SqlRow>(statement: Statement) => (await client.query<R>(statement)).rows);
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      await client.query('rollback').then(() => client.release(), () => client.release(true));
      throw error;
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import { isConnectionLoss } from '../../core/connection-loss.ts';
import type { Statement, SqlRow } from '../../core/database.ts';
import { unavailable } from '../../core/errors.ts';
import { run } from './prepared-query.ts';

/** Counts and sizes stay below 2^53, so a bigint is a number to us. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Remembers which tenant a connection was last set to; a connection serves another tenant only after it was told so. */
const tenantOf = new WeakMap<pg.PoolClient, string>();
const currentTenant = new AsyncLocalStorage<string>();

/** A statement of ours takes no longer than this; a server that went silent is given up a little later. Milliseconds. */
const STATEMENT_TIMEOUT = 60_000;

/** A pool whose connections take the role and bound every statement. */
export function openPool(url: string, role: 'dws_app' | 'dws_system', max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: role === 'dws_app' ? 'dws' : 'dws system',
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 0,
    query_timeout: STATEMENT_TIMEOUT + 5000,
    keepAlive: true,
    options: `-c role=${role} -c statement_timeout=${STATEMENT_TIMEOUT} -c idle_in_transaction_session_timeout=${STATEMENT_TIMEOUT}`,
  });
  // A connection that the server drops, idle or not, is replaced at the next use; without a listener it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * The pool through which tenants' rows are read and written. `acquire` is the only way to a connection, so none can be used without a tenant;
 * forced row-level security stands behind it (architecture, "Tenants").
 */
export class TenantPool {
  readonly #pool: pg.Pool;

  constructor(url: string, size: number) {
    this.#pool = openPool(url, 'dws_app', size);
  }

  async acquire(tenantId: string): Promise<pg.PoolClient> {
    const client = await connect(this.#pool);
    if (tenantOf.get(client) === tenantId) return client;
    try {
      tenantOf.delete(client);
      await client.query({ name: 'tenant', text: `select set_config('app.tenant', $1, false)`, values: [tenantId] });
      tenantOf.set(client, tenantId);
      return client;
    } catch (error) {
      client.release(true);
      throw databaseError(error);
    }
  }

  /** Runs one statement on a connection of the tenant. */
  async query<R extends SqlRow>(tenantId: string, statement: Statement): Promise<R[]> {
    const client = await this.acquire(tenantId);
    return runAndRelease<R>(client, statement);
  }

  /** Kysely's dialect for MikroORM: its connections are of the tenant of the surrounding `within`. */
  dialect(): PostgresDialect {
    const connectTenant = async () => {
      const tenantId = currentTenant.getStore();
      if (!tenantId) throw new Error('A connection was asked for outside of any tenant');
      return selfReleasing(await this.acquire(tenantId));
    };
    // Kysely asks of a pool no more than these two; its types also describe cursors, which we do not use.
    return new PostgresDialect({ pool: { connect: connectTenant, end: async () => {} } as unknown as PostgresPool });
  }

  /** Everything `work` does through MikroORM happens in this tenant. */
  within<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return currentTenant.run(tenantId, work);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/**
 * Kysely forgets to give a connection back whose `begin` or `rollback` failed; after a restart of Postgres the pool would be empty for ever.
 * This one gives itself back as soon as it breaks.
 */
function selfReleasing(
  client: pg.PoolClient,
): Pick<pg.PoolClient, 'release'> & { query(text: string, values: unknown[]): Promise<pg.QueryResult> } {
  let held = true;
  const release = (broken: boolean) => {
    if (!held) return;
    held = false;
    client.release(broken);
  };
  return {
    release: () => release(false),
    async query(text, values) {
      try {
        return await client.query(text, values);
      } catch (error) {
        if (isConnectionLoss(error)) release(true);
        throw error;
      }
    },
  };
}

/** A connection of the pool, or 503 when Postgres does not answer. */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw databaseError(error);
  }
}

/** Runs one statement and gives the connection back, broken ones to the scrap heap. */
export async function runAndRelease<R extends SqlRow>(client: pg.PoolClient, statement: Statement): Promise<R[]> {
  let failure: unknown;
  try {
    return await run<R>(client, statement);
  } catch (error) {
    failure = error;
    throw databaseError(error);
  } finally {
    client.release(isConnectionLoss(failure));
  }
}

/** 503 where Postgres is away; any other error as it is. */
export const databaseError = (error: unknown): unknown =>
  isConnectionLoss(error)
    ? unavailable('The database does not respond', { cause: error, headers: { 'retry-after': '2' } })
    : error;

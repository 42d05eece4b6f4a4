import { AsyncLocalStorage } from 'node:async_hooks';
import { PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import { isConnectionLoss } from '../../core/connection-loss.ts';
import type { Statement, SqlRow } from '../../core/database.ts';
import { unavailable } from '../../core/errors.ts';
import { reportPool } from '../../core/metrics.ts';
import { runStatement } from './prepared-query.ts';
import { endSilentConnection } from './silent-connection.ts';

/** Counts and sizes stay below 2^53, so a bigint is parsed as a number. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** The tenant that each connection is set to. */
const tenantOf = new WeakMap<pg.PoolClient, string>();
const currentTenant = new AsyncLocalStorage<string>();

const STATEMENT_TIMEOUT_MS = 60_000;
/** The client's own timeout is longer, for a server that does not respond at all. */
const CLIENT_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5000;

/** Opens a pool whose connections have a role and a time limit for statements. */
export function openPool(url: string, role: 'dws_app' | 'dws_system', max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: role === 'dws_app' ? 'dws' : 'dws system',
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 0,
    keepAlive: true,
    options: [
      `-c role=${role}`,
      `-c statement_timeout=${STATEMENT_TIMEOUT_MS}`,
      `-c idle_in_transaction_session_timeout=${STATEMENT_TIMEOUT_MS}`,
    ].join(' '),
  });
  // A connection that the server closes is replaced at the next use. Without a listener its error would end the
  // process.
  pool.on('error', () => {});
  reportPool(role, pool);
  pool.on('connect', (client) => {
    client.on('error', () => {});
    endSilentConnection(client, CLIENT_TIMEOUT_MS);
  });
  return pool;
}

/**
 * The pool for tenants' rows. `acquire` is the only access to a connection, so none can be used without a tenant.
 * Forced row-level security is the second barrier (docs/architecture.md#tenants).
 */
export class TenantPool {
  readonly #pool: pg.Pool;

  constructor(url: string, size: number) {
    this.#pool = openPool(url, 'dws_app', size);
  }

  /** Returns a connection that is set to the tenant. Throws UNAVAILABLE if Postgres does not respond. */
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

  /** Returns Kysely's dialect for MikroORM. Its connections are set to the tenant of the surrounding `within`. */
  dialect(): PostgresDialect {
    const connectTenant = async () => {
      const tenantId = currentTenant.getStore();
      if (!tenantId) throw new Error('A connection was requested without a tenant');
      return selfReleasing(await this.acquire(tenantId));
    };
    // Kysely calls only these two methods. Its types also require cursors, which are not used here.
    return new PostgresDialect({ pool: { connect: connectTenant, end: async () => {} } as unknown as PostgresPool });
  }

  /** Runs `work`. All that it does through MikroORM belongs to the tenant. */
  within<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return currentTenant.run(tenantId, work);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/**
 * Wraps a connection so that it is released as soon as it breaks. Kysely does not release a connection whose `begin` or
 * `rollback` failed, so after a restart of Postgres the pool would stay empty.
 */
function selfReleasing(
  client: pg.PoolClient,
): Pick<pg.PoolClient, 'release'> & { query(text: string, values: unknown[]): Promise<pg.QueryResult> } {
  let isAcquired = true;
  const release = (broken: boolean) => {
    if (!isAcquired) return;
    isAcquired = false;
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

/** Returns a connection of the pool. Throws UNAVAILABLE if Postgres does not respond. */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw databaseError(error);
  }
}

/** Runs one statement and releases the connection. A broken connection is removed from the pool. */
export async function runAndRelease<R extends SqlRow>(client: pg.PoolClient, statement: Statement): Promise<R[]> {
  let failure: unknown;
  try {
    return await runStatement<R>(client, statement);
  } catch (error) {
    failure = error;
    throw databaseError(error);
  } finally {
    client.release(isConnectionLoss(failure));
  }
}

/** Returns UNAVAILABLE for a lost connection, other errors as they are. */
export const databaseError = (error: unknown): unknown =>
  isConnectionLoss(error)
    ? unavailable('The database does not respond', { cause: error, headers: { 'retry-after': '2' } })
    : error;

import pg from 'pg';
import { isConnectionLoss } from '../../core/connection-loss.ts';
import { DatabaseUnavailable } from '../../core/database-unavailable.ts';
import type { Statement, SqlRow } from '../../core/database.ts';
import { reportPool } from '../../core/reported-resources.ts';
import { endSilentConnection } from './silent-connection.ts';
import { runBatch } from './statement-batch.ts';

/** Counts and sizes stay below 2^53, so a bigint is parsed as a number. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

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

/** Returns a connection of the pool. Throws UNAVAILABLE if Postgres does not respond. */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw databaseError(error);
  }
}

/**
 * Runs statements in one round trip, releases the connection and returns the rows of the last one. Calls `succeeded`
 * before the release. A broken connection is removed from the pool.
 */
export async function runAndRelease<R extends SqlRow>(
  client: pg.PoolClient,
  statements: readonly Statement[],
  succeeded?: () => void,
): Promise<R[]> {
  const { results, error } = await runBatch(client, statements);
  if (!error) succeeded?.();
  client.release(breaksConnection(error));
  if (error) throw databaseError(error);
  return results.at(-1) as R[];
}

/** SQLSTATE of a prepared statement that does not exist, or whose columns a migration has changed. */
const STALE_STATEMENT = new Set(['26000', '0A000']);

/**
 * Returns whether a connection must not be used again after an error: it is lost, its prepared statements are outdated,
 * or the error is not Postgres's, so that the state of the connection is unknown.
 */
export const breaksConnection = (error: unknown): boolean =>
  error != null &&
  (!(error instanceof pg.DatabaseError) || isConnectionLoss(error) || STALE_STATEMENT.has(error.code ?? ''));

/** Returns `DatabaseUnavailable` for a lost connection, other errors unchanged. */
export const databaseError = (error: unknown): unknown =>
  isConnectionLoss(error) ? new DatabaseUnavailable(error) : error;

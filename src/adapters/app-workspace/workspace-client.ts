import pg from 'pg';
import { STATEMENT_LIMITS } from '../../core/app-workspace.ts';
import { guardWire } from '../database/wire-guard.ts';
import type { ServerAddress } from './server-address.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** A message has names and lengths in addition to the values of a row. */
const MAX_MESSAGE_BYTES = STATEMENT_LIMITS.bytes + 1024 * 1024;

/** A login for one connection. */
export interface ClientLogin extends Pick<pg.ClientConfig, 'user' | 'password'> {
  database: string;
  /** Schema of names without one. */
  searchPath: string;
}

/**
 * Settings that outrank the settings that a role may have stored for itself. `discard all` returns to them. The memory
 * settings are not a bound, because apps may change them.
 */
const SETTINGS = {
  hash_mem_multiplier: '1',
  max_parallel_workers_per_gather: '0',
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  default_transaction_read_only: 'off',
  default_transaction_isolation: 'read\\ committed',
  client_min_messages: 'error',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  row_security: 'on',
};

/** Returns the option of a connection with settings for its session. */
export const sessionOptions = (searchPath: string): string =>
  Object.entries({ ...SETTINGS, search_path: searchPath })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Connects to the server of the apps. The caller ends the connection. */
export async function openClient(
  { host, port, ssl }: ServerAddress,
  { user, password, database, searchPath }: ClientLogin,
  maxMessageBytes = MAX_MESSAGE_BYTES,
): Promise<pg.Client> {
  const client = new pg.Client({
    host,
    port,
    database,
    ssl,
    ...(user && { user }),
    // A function, because without a password pg would read PGPASSWORD and ~/.pgpass.
    ...(password !== undefined && { password: () => password as string }),
    application_name: 'dws apps',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    options: sessionOptions(searchPath),
  });
  // A lost connection is reported to the pending statement; the unhandled event would end the process.
  client.on('error', () => {});
  guardWire(client.connection, maxMessageBytes);
  await client.connect();
  return client;
}

/** Ends a connection even when the server does not respond. */
export function destroyClient(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Returns the process id of a connection in the server. */
export const backendOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;

/** Returns whether a connection is in a transaction. */
export const isInTransaction = (client: pg.Client): boolean => client.getTransactionStatus() !== 'I';

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../adapters/embedded-postgres/embedded-postgres.ts';
import type { Config } from '../core/config.ts';
import { isConnectionLoss } from '../core/connection-loss.ts';
import { checkFolderFinished } from './backup/unfinished-restore.ts';
import { openDataDir, protectDataDir, removeOldBackupLinks } from './data-dir.ts';

type Address = Pick<Config, 'HOST' | 'PORT'>;

/**
 * Checks the requirements of a start before it creates anything, then creates and protects `DATA_DIR` and removes
 * leftovers. Returns its real path. Throws a sentence that names the variable.
 */
export async function prepareStart(config: Config): Promise<string> {
  const { DATABASE_URL, DATA_DIR } = config;
  const startsPostgres = !DATABASE_URL;
  // If another process already runs the cluster, the error of its start names that process.
  const isHeld =
    startsPostgres && existsSync(DATA_DIR) && runningEmbeddedPostgres(openDataDir(DATA_DIR, startsPostgres));
  if (!isHeld) await checkAddress(config);
  if (DATABASE_URL) await checkDatabaseUrl(DATABASE_URL);
  const folder = openDataDir(DATA_DIR, startsPostgres);
  checkFolderFinished(folder);
  protectDataDir(folder, startsPostgres);
  removeOldBackupLinks(folder);
  return folder;
}

/** Checks that this process can listen. */
async function checkAddress({ HOST, PORT }: Address): Promise<void> {
  const server = createServer().listen({ host: HOST, port: PORT, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenFailure(error, { HOST, PORT });
  }
  server.close();
  await once(server, 'close');
}

/** Returns the error of a server that cannot listen, with the variable to set. */
export function listenFailure(error: unknown, { HOST, PORT }: Address): unknown {
  const { code } = error as { code?: string };
  if (code === 'EADDRINUSE') return new Error(`Port ${PORT} is in use: set PORT`, { cause: error });
  if (code === 'EACCES') return new Error(`Port ${PORT} is not allowed for this user: set PORT`, { cause: error });
  const isForeign = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL', 'EAFNOSUPPORT'].includes(code ?? '');
  return isForeign ? new Error(`HOST ${HOST} is not an address of this machine`, { cause: error }) : error;
}

/** Checks that `DATABASE_URL` accepts connections. Throws a sentence that names the variable, without the password. */
export async function checkDatabaseUrl(url: string): Promise<void> {
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: url, application_name: 'dws', connectionTimeoutMillis: 10_000 });
    await client.connect();
  } catch (error) {
    const isSilent = isConnectionLoss(error) || error instanceof AggregateError;
    throw new Error(`DATABASE_URL ${isSilent ? 'does not respond' : 'cannot be used'}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  await client.end();
}

/** Returns the reason of an error. An error for several addresses has no message of its own. */
export function reasonOf(error: unknown): string {
  const { message, errors } = error as Error & { errors?: Error[] };
  return message || errors?.[0]?.message || String(error);
}

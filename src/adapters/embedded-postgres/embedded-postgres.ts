import type { ChildProcess } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isAlive } from '../process/process-alive.ts';
import { openCluster } from './cluster.ts';
import { unlockDataDir, lockDataDir } from './data-dir-lock.ts';
import { postmasterOf, startPostmaster, StartFailed, stopLeftover, stopPostmaster } from './postmaster.ts';
import { readRecord, urlOf, writeRecord } from './record.ts';

/**
 * A Postgres in `DATA_DIR`, on a loopback port. It is restarted on the same port when it ends unexpectedly, and ends
 * with this process.
 */
export interface EmbeddedPostgres {
  /** URL of the database `dws` as the cluster's superuser. It contains the password: never log it. */
  url: string;
  port: number;
  /** Stops Postgres and releases `DATA_DIR`. Idempotent. */
  close(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** An existing folder. When this process is root, the Postgres user must be able to enter it. */
  dataDir: string;
  /** False only for data that may be lost with the machine, as in tests: writes do not wait for the disk. */
  durable?: boolean;
}

/**
 * Starts the Postgres with its data in `dataDir`, and creates cluster and database at the first start. Throws a
 * sentence for the console: which process already holds the folder, or why Postgres did not start.
 */
export async function startEmbeddedPostgres({
  dataDir,
  durable = true,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const folder = realpathSync(dataDir);
  if (!lockDataDir(folder)) {
    const holder = readRecord(folder)?.holder;
    throw new Error(
      `The embedded Postgres in ${folder} is in use by ${holder ? `process ${holder}` : 'another process'}.` +
        ' Stop that process first, or choose another DATA_DIR.',
    );
  }
  try {
    const cluster = openCluster(folder, durable);
    await stopLeftover(cluster.record.cluster);
    const settings = { ...SETTINGS, ...(durable ? {} : THROW_AWAY) };
    const start = (port: number) => startPostmaster(cluster, port, settings, join(folder, 'postgres.log'));
    const [child, port] = await onFreePort(cluster.record.port, start);
    const record = { ...cluster.record, port };
    writeRecord(folder, record);
    const stop = keepUp(child, () => start(port));
    await createDatabase(urlOf(record, port)).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    let closing: Promise<void> | undefined;
    return { url: urlOf(record, port), port, close: () => (closing ??= stop().finally(() => unlockDataDir(folder))) };
  } catch (error) {
    unlockDataDir(folder);
    throw error;
  }
}

/**
 * Returns the URL of the Postgres that another process runs in `dataDir`; undefined when none accepts connections
 * there now.
 */
export function runningEmbeddedPostgres(dataDir: string): string | undefined {
  const record = readRecord(resolve(dataDir));
  const running = record && postmasterOf(record.cluster);
  return running?.ready && isAlive(running.pid) ? urlOf(record!, running.port) : undefined;
}

/**
 * No statement and no row value is logged, because both may contain secrets. Replication is off, so the write-ahead
 * log stays small.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_logical_replication_workers: 0,
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_timezone: 'UTC',
  timezone: 'UTC',
  jit: 'off',
};
const THROW_AWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' };

/**
 * Starts on the preferred port or, if it is in use, on a free one. Waits for processes of a crashed predecessor to
 * end.
 */
async function onFreePort(
  preferred: number | undefined,
  start: (port: number) => Promise<ChildProcess>,
): Promise<[ChildProcess, number]> {
  let port = preferred ?? (await freePort());
  for (let attempt = 1; ; attempt++) {
    try {
      return [await start(port), port];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const passes =
        error instanceof StartFailed && /could not bind|pre-existing shared memory/.test(reason) && attempt < 50;
      if (!passes) throw new Error(`The embedded Postgres did not start: ${reason}`, { cause: error });
      if (reason.includes('could not bind')) port = await freePort();
      else await sleep(200);
    }
  }
}

/** Restarts Postgres whenever it ends unexpectedly. The returned function stops it for good. */
function keepUp(first: ChildProcess, start: () => Promise<ChildProcess>): () => Promise<void> {
  let stopping = false;
  let current: Promise<ChildProcess> = Promise.resolve(first);
  const again = async (): Promise<ChildProcess> => {
    while (!stopping) {
      try {
        return watch(await start());
      } catch {
        await sleep(500);
      }
    }
    throw new Error('stopped before it was up again');
  };
  const watch = (child: ChildProcess): ChildProcess =>
    child.once('exit', () => {
      if (stopping) return;
      current = again();
      current.catch(() => undefined);
    });
  watch(first);
  return async () => {
    stopping = true;
    await current.then(stopPostmaster, () => undefined);
  };
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url.replace(/dws$/, 'postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query(`select from pg_database where datname = 'dws'`);
    if (!rowCount) await client.query('create database dws');
  } finally {
    await client.end();
  }
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer()
      .once('error', failed)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        server.close(() => found(port));
      });
  });
}

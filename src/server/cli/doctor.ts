import { constants, existsSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig, type Config } from '../../core/config.ts';
import {
  checkIndex,
  checkKeys,
  checkMigrations,
  checkPostgresVersion,
  checkQueue,
  checkRowSecurity,
} from './doctor-database.ts';
import { withDatabase } from './operator-database.ts';

/** Minimum free disk space for refreshes and Postgres. */
const MIN_FREE_BYTES = 1_000_000_000;

/**
 * Runs one check and prints its line. Returns whether it passed. `check` returns what was found, or throws an error
 * with the reason.
 */
type RunCheck = (name: string, check: () => string | Promise<string>) => Promise<boolean>;

/**
 * Checks everything that the service needs. Prints one line for each check: `ok` or `FAIL`, name, and what was found.
 * Returns whether all checks passed. Changes nothing; an embedded Postgres that is not running is started for the
 * checks.
 */
export async function doctor(print: (line: string) => void): Promise<boolean> {
  let isHealthy = true;
  const runCheck: RunCheck = async (name, check) => {
    try {
      print(`ok    ${name.padEnd(12)}${await check()}`);
      return true;
    } catch (error) {
      isHealthy = false;
      print(`FAIL  ${name.padEnd(12)}${reasonOf(error)}`);
      return false;
    }
  };
  await runCheck('node', checkNode);
  if (!(await runCheck('config', () => `read, ROLE=${readConfig().ROLE}`))) return isHealthy;
  const config = readConfig();
  const folder = config.DATA_DIR;
  await runCheck('data folder', () =>
    existsSync(folder) ? checkFolder(folder) : `${folder} does not exist yet; the first start creates it`,
  );
  if (existsSync(folder)) await runCheck('disk', () => checkDisk(folder));
  if (config.DATABASE_URL || existsSync(join(folder, 'postgres.json'))) await checkDatabase(config, runCheck);
  else await runCheck('postgres', () => 'none yet; the first start creates an embedded one');
  return isHealthy;
}

async function checkDatabase(config: Config, runCheck: RunCheck): Promise<void> {
  try {
    await withDatabase(config, async ({ url, ownStart }) => {
      const client = new pg.Client({ connectionString: url, application_name: 'dws doctor' });
      await client.connect();
      try {
        await runCheck(
          'postgres',
          async () => `${await checkPostgresVersion(client)}${ownStart ? ', started for this check' : ''}`,
        );
        await runCheck('migrations', () => checkMigrations(client));
        await runCheck('roles', () => checkRowSecurity(client));
        await runCheck('queue', () => checkQueue(client));
        await runCheck('key ring', () => checkKeys(client, config));
        await runCheck('index', () => checkIndex(client, config));
      } finally {
        await client.end();
      }
    });
  } catch (error) {
    await runCheck('postgres', () => {
      throw error;
    });
  }
}

/** Returns the reason of an error. An error for several addresses has no message of its own. */
const reasonOf = (error: unknown): string => {
  const { message, errors } = error as Error & { errors?: Error[] };
  return message || errors?.[0]?.message || String(error);
};

function checkNode(): string {
  if (Number(process.versions.node.split('.')[0]) < 24)
    throw new Error(`${process.version} is too old; Node 24 or newer is required`);
  return process.version;
}

/** Checks that the folder is writable, and that other users can neither list it nor read its secrets. */
async function checkFolder(folder: string): Promise<string> {
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new Error(`${folder} is not writable for this user`);
  });
  const mode = (path: string) => stat(path).then((found) => found.mode & 0o777);
  const folderMode = await mode(folder);
  if (folderMode & 0o066)
    throw new Error(
      `${folder} has mode ${folderMode.toString(8)}, so other users can list it; run chmod 700 on it (711 for root)`,
    );
  for (const name of ['secret', 'postgres.json']) {
    const file = join(folder, name);
    if (existsSync(file) && (await mode(file)) & 0o077)
      throw new Error(`${file} has mode ${(await mode(file)).toString(8)} and contains a secret; run chmod 600 on it`);
  }
  return `${folder}, mode ${folderMode.toString(8)}`;
}

async function checkDisk(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(folder);
  const free = `${((bavail * bsize) / 1e9).toFixed(1)} GB free`;
  if (bavail * bsize < MIN_FREE_BYTES) throw new Error(`only ${free} in ${folder}`);
  return free;
}

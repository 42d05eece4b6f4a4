import { constants, existsSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig, type Config } from '../../core/config.ts';
import { checkIndex, checkKeys, checkMigrations, checkPostgresVersion, checkQueue, checkRowSecurity } from './doctor-database.ts';
import { withDatabase } from './operator-database.ts';

/** Bytes that a refresh and Postgres should find free. */
const MIN_FREE_BYTES = 1_000_000_000;

/** Runs one check, says its line and answers whether all was well. A check answers what was found, or throws a sentence. */
type RunCheck = (name: string, look: () => string | Promise<string>) => Promise<boolean>;

/**
 * Checks everything the service needs and says one line for each: `ok` or `FAIL`, what, and what was found. Answers whether all is well.
 * Nothing is changed, but that an embedded Postgres which nobody runs is started for as long as it takes.
 */
export async function doctor(say: (line: string) => void): Promise<boolean> {
  let isHealthy = true;
  const check: RunCheck = async (name, look) => {
    try {
      say(`ok    ${name.padEnd(12)}${await look()}`);
      return true;
    } catch (error) {
      isHealthy = false;
      say(`FAIL  ${name.padEnd(12)}${reasonOf(error)}`);
      return false;
    }
  };
  await check('node', checkNode);
  if (!(await check('config', () => `read, ROLE=${readConfig().ROLE}`))) return isHealthy;
  const config = readConfig();
  const folder = config.DATA_DIR;
  await check('data folder', () =>
    existsSync(folder) ? checkFolder(folder) : `${folder} does not exist yet; the first start makes it`,
  );
  if (existsSync(folder)) await check('disk', () => checkDisk(folder));
  if (config.DATABASE_URL || existsSync(join(folder, 'postgres.json'))) await checkDatabase(config, check);
  else await check('postgres', () => 'none yet; the first start makes an embedded one');
  return isHealthy;
}

async function checkDatabase(config: Config, check: RunCheck): Promise<void> {
  try {
    await withDatabase(config, async ({ url, ownStart }) => {
      const client = new pg.Client({ connectionString: url, application_name: 'dws doctor' });
      await client.connect();
      try {
        await check(
          'postgres',
          async () => `${await checkPostgresVersion(client)}${ownStart ? ', started for this check' : ''}`,
        );
        await check('migrations', () => checkMigrations(client));
        await check('roles', () => checkRowSecurity(client));
        await check('queue', () => checkQueue(client));
        await check('key ring', () => checkKeys(client, config));
        await check('index', () => checkIndex(client, config));
      } finally {
        await client.end();
      }
    });
  } catch (error) {
    await check('postgres', () => {
      throw error;
    });
  }
}

/** Several addresses that all refuse make an error without a message. */
const reasonOf = (error: unknown): string => {
  const { message, errors } = error as Error & { errors?: Error[] };
  return message || errors?.[0]?.message || String(error);
};

function checkNode(): string {
  if (Number(process.versions.node.split('.')[0]) < 24)
    throw new Error(`${process.version} is too old; Node 24 or newer is needed`);
  return process.version;
}

/** Others must neither list the folder nor read what is secret in it. */
async function checkFolder(folder: string): Promise<string> {
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new Error(`${folder} is not writable for this user`);
  });
  const mode = (path: string) => stat(path).then((found) => found.mode & 0o777);
  const own = await mode(folder);
  if (own & 0o066)
    throw new Error(`${folder} has mode ${own.toString(8)}, so others can look into it; chmod 700 it (711 for root)`);
  for (const name of ['secret', 'postgres.json']) {
    const file = join(folder, name);
    if (existsSync(file) && (await mode(file)) & 0o077)
      throw new Error(`${file} has mode ${(await mode(file)).toString(8)} and holds a secret; chmod 600 it`);
  }
  return `${folder}, mode ${own.toString(8)}`;
}

async function checkDisk(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(folder);
  const free = `${((bavail * bsize) / 1e9).toFixed(1)} GB free`;
  if (bavail * bsize < MIN_FREE_BYTES) throw new Error(`only ${free} in ${folder}`);
  return free;
}

import { readdirSync } from 'node:fs';
import pg from 'pg';
import { LOCKS } from '../core/locks.ts';
import { checkDatabaseFinished } from './backup/unfinished-restore.ts';
import { replaceFunctions } from './database-functions.ts';
import { checkRoles, ensureRoles } from './roles.ts';

const FOLDER = new URL('../migrations/', import.meta.url);

/** The files of the migrations, `m<number>-<name>` in src/migrations, in the order of numbers. */
const FILES = readdirSync(FOLDER)
  .filter((name) => /^m\d{3}-[\w-]+\.[jt]s$/.test(name))
  .toSorted();

/** The name of every migration, in order. */
export const MIGRATIONS: readonly string[] = FILES.map((file) => file.replace(/\.[jt]s$/, ''));

/**
 * Updates the database at `url`: roles, schema `dws`, each missing migration in its own transaction, and the functions of
 * schema/functions, one process at a time. Returns the names of the migrations that ran. Throws if a restore has not
 * finished. A restore passes `restore`, with the `last` migration to run, by default all. See
 * docs/architecture.md#migrations.
 */
export async function migrate(url: string, restore?: { last?: string }): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'dws migrate',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    await client.query(`set lock_timeout = '10min'`);
    await client.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    if (!restore) await checkDatabaseFinished(client);
    await client.query('create schema if not exists dws');
    await ensureRoles(client);
    const isComplete = (await missingMigrations(client)).length === 0;
    const ran = isComplete ? [] : await runMissing(url, restore?.last);
    if (isComplete || (await missingMigrations(client)).length === 0) await replaceFunctions(client);
    if (!restore?.last) await checkRoles(client);
    return ran;
  } finally {
    await client.end();
  }
}

async function runMissing(url: string, last?: string): Promise<string[]> {
  const { runMigrations } = await import('./run-migrations.ts');
  return runMigrations(
    url,
    FILES.map((file) => new URL(file, FOLDER)),
    last,
  );
}

/** Returns the names of the migrations that have run in a database. */
export async function appliedMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ found: string | null }>(`select to_regclass('dws.migration') as found`);
  if (!rows[0]!.found) return [];
  return (await client.query<{ name: string }>('select name from dws.migration')).rows.map(({ name }) => name);
}

/** Returns the names of the migrations that have not run in a database. */
export async function missingMigrations(client: pg.Client): Promise<string[]> {
  const applied = new Set(await appliedMigrations(client));
  return MIGRATIONS.filter((name) => !applied.has(name));
}

import { readdirSync } from 'node:fs';
import type { Constructor } from '@mikro-orm/core';
import type { Migration } from '@mikro-orm/migrations';
import pg from 'pg';
import { MikroORM, ormOptions } from '../adapters/database/orm.ts';
import { checkDatabaseFinished } from './backup/unfinished-restore.ts';
import { checkRoles, ensureRoles } from './roles.ts';

const FOLDER = new URL('../migrations/', import.meta.url);

/** Imports the migrations: the only export of each file `m<number>-<name>` in src/migrations, in the order of numbers. */
async function importMigrations(): Promise<{ name: string; class: Constructor<Migration> }[]> {
  const files = readdirSync(FOLDER).filter((name) => /^m\d{3}-[\w-]+\.[jt]s$/.test(name));
  return Promise.all(
    files.toSorted().map(async (file) => {
      const exported = (await import(new URL(file, FOLDER).href)) as Record<string, Constructor<Migration>>;
      return { name: file.replace(/\.[jt]s$/, ''), class: Object.values(exported)[0]! };
    }),
  );
}

/** Every migration, in order. */
export const MIGRATIONS = await importMigrations();

/** An arbitrary key, the same in every process. */
const MIGRATION_LOCK = 4_711_001;

/**
 * Updates the database at `url`: roles, schema `dws`, and each missing migration in its own transaction, one process at
 * a time. Returns the names of the migrations that ran. Throws if a restore has not finished. A restore passes
 * `restore`, with the `last` migration to run, by default all. See docs/architecture.md#migrations.
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
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    if (!restore) await checkDatabaseFinished(client);
    await client.query('create schema if not exists dws');
    await ensureRoles(client);
    const orm = await MikroORM.init(
      ormOptions({
        clientUrl: url,
        pool: { min: 0, max: 1 },
        migrations: {
          migrationsList: MIGRATIONS,
          tableName: 'dws.migration',
          transactional: true,
          allOrNothing: false,
          snapshot: false,
          silent: true,
        },
      }),
    );
    try {
      const ran = await orm.migrator.up(restore?.last ? { to: restore.last } : undefined);
      if (!restore?.last) await checkRoles(client);
      return ran.map(({ name }) => name);
    } finally {
      await orm.close(true);
    }
  } finally {
    await client.end();
  }
}

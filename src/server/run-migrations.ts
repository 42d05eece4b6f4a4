import { basename } from 'node:path';
import type { Constructor } from '@mikro-orm/core';
import { Migrator, type Migration } from '@mikro-orm/migrations';
import { MikroORM, ormOptions } from '../adapters/database/orm.ts';

/**
 * Runs the migrations in `files` that are missing, each in its own transaction, up to `last`. Returns the names of the
 * migrations that ran. Only `migrate` imports this module, and only when a migration is missing.
 */
export async function runMigrations(url: string, files: URL[], last?: string): Promise<string[]> {
  const migrationsList = await Promise.all(files.map(importMigration));
  const orm = await MikroORM.init(
    ormOptions({
      clientUrl: url,
      extensions: [Migrator],
      pool: { min: 0, max: 1 },
      migrations: {
        migrationsList,
        tableName: 'dws.migration',
        transactional: true,
        allOrNothing: false,
        snapshot: false,
        silent: true,
      },
    }),
  );
  try {
    const ran = await orm.migrator.up(last ? { to: last } : undefined);
    return ran.map(({ name }) => name);
  } finally {
    await orm.close(true);
  }
}

/** Imports a migration: the only export of its file, named after the file. */
async function importMigration({ href }: URL): Promise<{ name: string; class: Constructor<Migration> }> {
  const exported = (await import(href)) as Record<string, Constructor<Migration>>;
  return { name: basename(href).replace(/\.[jt]s$/, ''), class: Object.values(exported)[0]! };
}

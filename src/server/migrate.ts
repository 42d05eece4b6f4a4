import pg from 'pg';
import { MikroORM, ormOptions } from '../adapters/database/orm.ts';
import { Foundation } from '../migrations/m001-foundation.ts';
import { MailAndPasswordReset } from '../migrations/m002-mail.ts';
import { StoredFiles } from '../migrations/m003-stored-file.ts';
import { Resources } from '../migrations/m004-resource.ts';
import { Search } from '../migrations/m005-search.ts';
import { SavedFilters } from '../migrations/m006-saved-filter.ts';
import { Notifications } from '../migrations/m007-notification.ts';
import { Visuals } from '../migrations/m008-visual.ts';
import { DatasetReferences } from '../migrations/m009-dataset-reference.ts';
import { Drafts } from '../migrations/m010-draft.ts';
import { RefreshPreviews } from '../migrations/m011-refresh-preview.ts';
import { Vocabulary } from '../migrations/m012-vocabulary.ts';
import { checkRoles, ensureRoles } from './roles.ts';

/** Every migration, in order. */
export const MIGRATIONS = [
  { name: 'm001-foundation', class: Foundation },
  { name: 'm002-mail', class: MailAndPasswordReset },
  { name: 'm003-stored-file', class: StoredFiles },
  { name: 'm004-resource', class: Resources },
  { name: 'm005-search', class: Search },
  { name: 'm006-saved-filter', class: SavedFilters },
  { name: 'm007-notification', class: Notifications },
  { name: 'm008-visual', class: Visuals },
  { name: 'm009-dataset-reference', class: DatasetReferences },
  { name: 'm010-draft', class: Drafts },
  { name: 'm011-refresh-preview', class: RefreshPreviews },
  { name: 'm012-vocabulary', class: Vocabulary },
];

/** An arbitrary key, the same in every process. */
const MIGRATION_LOCK = 4_711_001;

/**
 * Updates the database at `url`: roles, schema `dws`, and each missing migration in its own transaction, one process at
 * a time. Returns the names of the migrations that ran. See docs/architecture.md#migrations.
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'dws migrate',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    await client.query(`set lock_timeout = '10min'`);
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
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
      const ran = await orm.migrator.up();
      await checkRoles(client);
      return ran.map(({ name }) => name);
    } finally {
      await orm.close(true);
    }
  } finally {
    await client.end();
  }
}

import { Migration } from '@mikro-orm/migrations';

/** The tables that the update of the rows reads or changes. */
const TABLES = ['library_sync', 'library', 'integration'] as const;

/**
 * Stores the folders of drives that a sync could not open, and the folders whose contents it does not know. The next
 * syncs with Dropbox are full, because its paths are compared in another way from now on.
 */
export class ClosedFolders extends Migration {
  override up(): void {
    this.addSql(
      `alter table dws.library_sync_folder add column is_unread boolean not null default false, add column error jsonb;`,
    );
    this.addSql(
      `create index library_sync_folder_error on dws.library_sync_folder (scope_id) where error is not null;`,
    );
    // Policies bind the owner of a table, too, unless they are not forced.
    for (const table of TABLES) this.addSql(`alter table dws.${table} no force row level security;`);
    this.addSql(`update dws.library_sync s set valid_for = ''
      from dws.library l join dws.integration i on i.id = l.integration_id
      where l.id = s.library_id and i.type = 'dropbox';`);
    for (const table of TABLES) this.addSql(`alter table dws.${table} force row level security;`);
  }
}

import { Migration } from '@mikro-orm/migrations';

const OWNED = ['datasource', 'saved_query', 'dataset', 'report', 'app'];

/**
 * Gives each tenant folder ids of its own. Clients choose them, so an id that was unique across tenants revealed the
 * folders of other tenants.
 */
export class FolderIds extends Migration {
  override up(): void {
    for (const table of OWNED) this.addSql(`alter table dws.${table} drop constraint ${table}_folder_id_fkey;`);
    this.addSql(`alter table dws.folder drop constraint folder_parent_id_fkey, drop constraint folder_pkey;`);
    this.addSql(`alter table dws.folder add primary key (tenant_id, id),
      add foreign key (tenant_id, parent_id) references dws.folder on delete cascade;`);
    for (const table of OWNED)
      this.addSql(`alter table dws.${table} add foreign key (tenant_id, folder_id) references dws.folder
        on delete set null (folder_id);`);
  }
}

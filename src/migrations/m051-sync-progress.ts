import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/**
 * Stores how far syncs are within folders and downloads, so that one that takes over repeats less, and the clients as which
 * toolkits are registered.
 */
export class SyncProgress extends Migration {
  override up(): void {
    this.addSql(`alter table dws.library_sync rename column binding to valid_for;`);
    this.addSql(`alter table dws.library_sync add column listing_folder_id text;`);
    this.addSql(`alter table dws.library_sync_change add column download_ids uuid[] not null default '{}';`);
    // In this order: a look-up by `folder_id` must not take this index for its `scope_id`.
    this.addSql(`drop index dws.library_sync_folder_parent;`);
    this.addSql(`create index library_sync_folder_parent on dws.library_sync_folder (parent_id, scope_id);`);

    // `started_at` is the start of the first authorization since one was completed.
    this.addSql(`create table dws.oauth_registration (
      toolkit_id uuid primary key references dws.toolkit on delete cascade,
      tenant_id uuid not null references dws.tenant, sealed text not null, started_at timestamptz);`);
    this.addSql(ofTenants('oauth_registration'));
  }
}

import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

const SCOPE = 'scope_id uuid not null references dws.library_sync on delete cascade';
const TENANT = 'tenant_id uuid not null references dws.tenant';

/**
 * Creates the state of syncs of libraries: their progress, the folders of drives, and reported items that are not
 * synced yet.
 */
export class LibrarySyncs extends Migration {
  override up(): void {
    this.addSql(`create table dws.library_sync (scope_id uuid primary key, ${TENANT},
      library_id uuid not null references dws.library on delete cascade, binding text not null, root_id text not null,
      phase text not null check (phase in ('listing', 'changes', 'folders', 'files', 'done')),
      cursor text not null, listing_cursor text, is_full boolean not null, purges boolean not null,
      is_tree_stale boolean not null, work_id uuid not null, counts jsonb not null,
      updated_at timestamptz not null default now());`);
    this.addSql(`create index library_sync_library on dws.library_sync (library_id);`);
    this.addSql(ofTenants('library_sync'));
    this.addSql(`create table dws.library_sync_folder (${SCOPE}, ${TENANT}, folder_id text not null, parent_id text,
      name text not null, path text, is_listed boolean not null, primary key (scope_id, folder_id));`);
    this.addSql(`create index library_sync_folder_parent on dws.library_sync_folder (scope_id, parent_id);`);
    this.addSql(ofTenants('library_sync_folder'));
    this.addSql(`create table dws.library_sync_change (${SCOPE}, ${TENANT}, file_id text not null, item jsonb,
      path_key text collate "C", is_done boolean not null default false, error jsonb, primary key (scope_id, file_id));`);
    this.addSql(
      `create index library_sync_change_path_key on dws.library_sync_change (scope_id, path_key) where path_key is not null;`,
    );
    this.addSql(
      `create index library_sync_change_error on dws.library_sync_change (scope_id) where error is not null;`,
    );
    this.addSql(ofTenants('library_sync_change'));
    this.addSql(`alter table dws.library_file add column parent_id text, add column revision text,
      add column path_key text collate "C";`);
    this.addSql(`create index library_file_parent on dws.library_file (library_id, parent_id);`);
    this.addSql(
      `create index library_file_path_key on dws.library_file (library_id, path_key) where path_key is not null;`,
    );
    this.addSql(`alter table dws.job_action add column library_id uuid references dws.library;`);
    this.addSql(`create index job_action_library_id on dws.job_action (library_id) where library_id is not null;`);
  }
}

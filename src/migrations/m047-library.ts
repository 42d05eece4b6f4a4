import { Migration } from '@mikro-orm/migrations';
import { ownedTable } from './owned-table.ts';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates libraries, the integrations with which they connect, and their files. */
export class Libraries extends Migration {
  override up(): void {
    this.addSql(`create table dws.integration (${ROW},
      name text not null, type text not null, embedded boolean not null default false, own_library_id uuid,
      created_by uuid references dws.app_user on delete set null, auth_type text not null, client_id text not null,
      sealed_client_secret text, auth_uri text not null, token_uri text not null, revoke_uri text, api_uri text not null,
      content_uri text, scope text not null, check (embedded = (own_library_id is not null)));`);
    this.addSql(`create index integration_name on dws.integration (tenant_id, lower(name), id);`);
    this.addSql(ofTenants('integration'));
    const columns = [
      'integration_id uuid references dws.integration',
      `settings jsonb not null default '{}'`,
      'file_count integer not null default 0',
      'bytes bigint not null default 0',
      'last_sync_at timestamptz',
      'last_sync jsonb',
    ];
    for (const sql of ownedTable('library', 'library', columns)) this.addSql(sql);
    this.addSql(`create index library_integration on dws.library (integration_id) where integration_id is not null;`);
    this.addSql(
      `alter table dws.integration add foreign key (own_library_id) references dws.library on delete cascade;`,
    );
    this.addSql(
      `create index integration_library on dws.integration (own_library_id) where own_library_id is not null;`,
    );
    this.addSql(`create table dws.library_file (${ROW},
      library_id uuid not null references dws.library on delete cascade, file_id text not null,
      name text not null, path text collate "C" not null, content_type text not null, size bigint, hash text,
      status text not null check (status in ('synced', 'skipped', 'failed')), reason text, url text,
      modified_at timestamptz, synced_at timestamptz, stored_file_id uuid references dws.stored_file,
      unique (library_id, file_id));`);
    this.addSql(`create index library_file_path on dws.library_file (library_id, path, id);`);
    this.addSql(
      `create index library_file_stored on dws.library_file (stored_file_id) where stored_file_id is not null;`,
    );
    this.addSql(ofTenants('library_file'));
  }
}

import { Migration } from '@mikro-orm/migrations';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates the releases of apps. A release shares stored files with the app until one of both has others. */
export class AppReleases extends Migration {
  override up(): void {
    this.addSql(`create table dws.app_release (${ROW},
      app_id uuid not null references dws.app on delete cascade,
      number integer not null, active boolean not null default false,
      deployed_by uuid references dws.app_user on delete set null, deployed_at timestamptz not null,
      routes jsonb not null default '[]', webhooks jsonb not null default '[]', unique (app_id, number));`);
    this.addSql(`create unique index app_release_active on dws.app_release (app_id) where active;`);
    this.addSql(`create index app_release_user on dws.app_release (deployed_by) where deployed_by is not null;`);
    this.addSql(`create table dws.app_release_file (
      tenant_id uuid not null references dws.tenant,
      release_id uuid not null references dws.app_release on delete cascade,
      path text collate "C" not null, content_type text not null,
      file_id uuid not null references dws.stored_file, primary key (release_id, path));`);
    this.addSql(`create index app_release_file_file_id on dws.app_release_file (file_id);`);
    for (const table of ['app_release', 'app_release_file']) this.addSql(ofTenants(table));
    // The lock orders those who remove references, so that the last one sees that it is the last.
    this.addSql(`create or replace function dws.forget_app_file() returns trigger language plpgsql as $$
      begin
        perform from dws.stored_file where tenant_id = old.tenant_id and id = old.file_id for update;
        delete from dws.stored_file f
        where f.tenant_id = old.tenant_id and f.id = old.file_id
          and not exists (select from dws.app_file a where a.file_id = old.file_id)
          and not exists (select from dws.app_release_file r where r.file_id = old.file_id);
        return null;
      end $$;`);
    this.addSql(
      `create trigger forget_file_of_row after delete on dws.app_release_file
        for each row execute function dws.forget_app_file();`,
    );
  }
}

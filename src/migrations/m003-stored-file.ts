import { Migration } from '@mikro-orm/migrations';

const row = `id uuid primary key, tenant_id uuid not null references dws.tenant, version integer not null default 1,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()`;

/** Files that people give to the service, and datasources that are such files. */
export class StoredFiles extends Migration {
  override up(): void {
    this.addSql(`create table dws.stored_file (${row}, filename text not null, content_type text not null, size bigint not null, sha256 text not null);`);
    this.addSql(`create index stored_file_of_tenant on dws.stored_file (tenant_id);`);
    this.addSql(`alter table dws.datasource add column file_id uuid references dws.stored_file;`);
    this.addSql(`create index datasource_file on dws.datasource (file_id) where file_id is not null;`);

    const tenant = `(select current_setting('app.tenant')::uuid)`;
    this.addSql(`alter table dws.stored_file enable row level security; alter table dws.stored_file force row level security;
      create policy tenant on dws.stored_file to dws_app using (tenant_id = ${tenant}) with check (tenant_id = ${tenant});
      create policy system on dws.stored_file to dws_system using (true) with check (true);
      grant select, insert, update, delete on dws.stored_file to dws_app, dws_system;`);
  }
}

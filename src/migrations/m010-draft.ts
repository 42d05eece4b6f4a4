import { Migration } from '@mikro-orm/migrations';

/** Drafts of datasets, one for each user, and what users keep for datasets. */
export class Drafts extends Migration {
  override up(): void {
    this.addSql(`alter table dws.dataset add draft_base jsonb;`);
    this.addSql(`create unique index dataset_draft on dws.dataset (parent_id, owner_id) where is_draft;`);
    this.addSql(`create table dws.user_setting (id uuid primary key, tenant_id uuid not null references dws.tenant, version integer not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
      dataset_id uuid not null references dws.dataset on delete cascade, user_id uuid not null references dws.app_user on delete cascade, settings jsonb not null, unique (dataset_id, user_id));`);
    this.addSql(`create index user_setting_user on dws.user_setting (user_id);`);
    const tenant = `(select current_setting('app.tenant')::uuid)`;
    this.addSql(`alter table dws.user_setting enable row level security; alter table dws.user_setting force row level security;
      create policy tenant on dws.user_setting to dws_app using (tenant_id = ${tenant}) with check (tenant_id = ${tenant});
      create policy system on dws.user_setting to dws_system using (true) with check (true);
      grant select, insert, update, delete on dws.user_setting to dws_app, dws_system;`);
  }
}

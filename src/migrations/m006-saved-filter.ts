import { Migration } from '@mikro-orm/migrations';

/** Saved filters, and shares that show a part of a dataset. */
export class SavedFilters extends Migration {
  override up(): void {
    this.addSql(`create table dws.saved_filter (id uuid primary key, tenant_id uuid not null references dws.tenant, version integer not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
      dataset_id uuid not null references dws.dataset on delete cascade, name text not null, description text, owner_id text not null, criteria jsonb not null);`);
    this.addSql(`create index saved_filter_dataset on dws.saved_filter (dataset_id);`);
    this.addSql(`create index saved_filter_owner on dws.saved_filter (tenant_id, owner_id);`);
    const tenant = `(select current_setting('app.tenant')::uuid)`;
    this.addSql(`alter table dws.saved_filter enable row level security; alter table dws.saved_filter force row level security;
      create policy tenant on dws.saved_filter to dws_app using (tenant_id = ${tenant}) with check (tenant_id = ${tenant});
      create policy system on dws.saved_filter to dws_system using (true) with check (true);
      grant select, insert, update, delete on dws.saved_filter to dws_app, dws_system;`);

    // A share must never lose its filter and so show more: it goes with the dataset, or first. The check waits for the end of the transaction, where both may be gone.
    this.addSql(`alter table dws.share add dataset_filter_id uuid references dws.saved_filter deferrable initially deferred, add restrict_fields boolean not null default false, add visible_fields jsonb,
      add check (kind = 'dataset' or dataset_filter_id is null and not restrict_fields and visible_fields is null), add check (not restrict_fields or visible_fields is not null);`);
    this.addSql(`create index share_filter on dws.share (dataset_filter_id) where dataset_filter_id is not null;`);
  }
}

import { Migration } from '@mikro-orm/migrations';

/** Charts and tables of datasets. */
export class Visuals extends Migration {
  override up(): void {
    // Places are exchanged row by row, so that they are compared when a transaction ends.
    this.addSql(`create table dws.visual (id uuid primary key, tenant_id uuid not null references dws.tenant, version integer not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
      dataset_id uuid not null references dws.dataset on delete cascade, owner_id uuid references dws.app_user on delete set null, name text not null, description text,
      component text not null check (component in ('bar-chart', 'line-chart', 'pie-chart', 'table', 'scatter-plot', 'heatmap', 'gauge', 'card')), config jsonb not null default '{}',
      embedded boolean not null default false, pinned boolean not null default false, position integer not null check (position >= 0),
      unique (dataset_id, position) deferrable initially deferred);`);
    this.addSql(`create index visual_owner on dws.visual (owner_id);`);
    const tenant = `(select current_setting('app.tenant')::uuid)`;
    this.addSql(`alter table dws.visual enable row level security; alter table dws.visual force row level security;
      create policy tenant on dws.visual to dws_app using (tenant_id = ${tenant}) with check (tenant_id = ${tenant});
      create policy system on dws.visual to dws_system using (true) with check (true);
      grant select, insert, update, delete on dws.visual to dws_app, dws_system;`);
  }
}

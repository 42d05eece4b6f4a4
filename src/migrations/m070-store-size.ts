import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Creates the table of stored bytes for each tenant and app, which workers measure. */
export class StoreSizes extends Migration {
  override up(): void {
    // `store` is a table of this schema, or `workspace`: the tables of an app.
    this.addSql(`create table dws.store_size (tenant_id uuid not null references dws.tenant,
      app_id uuid references dws.app on delete cascade,
      store text not null, bytes bigint not null, measured_at timestamptz not null default now(),
      unique nulls not distinct (tenant_id, store, app_id));`);
    this.addSql(`create index store_size_app on dws.store_size (app_id) where app_id is not null;`);
    this.addSql(ofTenants('store_size'));
  }
}

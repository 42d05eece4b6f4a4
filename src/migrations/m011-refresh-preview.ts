import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Refreshes that were rehearsed: at most one for each dataset. */
export class RefreshPreviews extends Migration {
  override up(): void {
    // A row keeps a generation (`id`) that no reader sees, with what the dataset was made of when its rows were loaded. The query is not kept: a digest tells whether it is the same.
    this.addSql(`create table dws.refresh_preview (id uuid primary key, tenant_id uuid not null references dws.tenant,
      dataset_id uuid not null unique references dws.dataset on delete cascade, fields jsonb not null, records bigint not null, size bigint not null,
      base_generation_id uuid, base_definition text not null, created_at timestamptz not null default now(), expires_at timestamptz not null);`);
    this.addSql(ofTenants('refresh_preview'));
  }
}

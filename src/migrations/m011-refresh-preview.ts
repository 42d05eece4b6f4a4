import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Creates refresh previews, at most one per dataset. */
export class RefreshPreviews extends Migration {
  override up(): void {
    // `id` is a generation that no reader sees. The base columns describe the dataset when the rows were loaded: its
    // generation, and a digest of its definition to detect changes.
    this.addSql(`create table dws.refresh_preview (id uuid primary key, tenant_id uuid not null references dws.tenant,
      dataset_id uuid not null unique references dws.dataset on delete cascade, fields jsonb not null,
      records bigint not null, size bigint not null,
      base_generation_id uuid, base_definition text not null, created_at timestamptz not null default now(),
      expires_at timestamptz not null);`);
    this.addSql(ofTenants('refresh_preview'));
  }
}

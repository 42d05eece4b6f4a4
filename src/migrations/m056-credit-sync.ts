import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Creates the state of the sync with the license manager, one row for each tenant. */
export class CreditSyncs extends Migration {
  override up(): void {
    // `hour` is the last one for which a worker has claimed the sync.
    this.addSql(`create table dws.credit_sync (tenant_id uuid primary key, hour timestamptz not null,
      included numeric(15, 6) check (included >= 0), synced_at timestamptz,
      failed_at timestamptz, failure_code text,
      check ((included is null) = (synced_at is null)), check ((failed_at is null) = (failure_code is null)));`);
    this.addSql(ofTenants('credit_sync'));
  }
}

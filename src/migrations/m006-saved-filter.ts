import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates saved filters, and restricts shares to part of a dataset. */
export class SavedFilters extends Migration {
  override up(): void {
    this.addSql(`create table dws.saved_filter (${ROW},
      dataset_id uuid not null references dws.dataset on delete cascade, name text not null,
      description text, owner_id text not null, criteria jsonb not null);`);
    this.addSql(`create index saved_filter_dataset on dws.saved_filter (dataset_id);`);
    this.addSql(`create index saved_filter_owner on dws.saved_filter (tenant_id, owner_id);`);
    this.addSql(ofTenants('saved_filter'));

    // A share must never lose its filter, because it would then show more rows. The foreign key is checked at the end
    // of the transaction, when both may be deleted.
    this.addSql(`alter table dws.share
      add dataset_filter_id uuid references dws.saved_filter deferrable initially deferred,
      add restrict_fields boolean not null default false, add visible_fields jsonb,
      add check (kind = 'dataset' or dataset_filter_id is null and not restrict_fields and visible_fields is null),
      add check (not restrict_fields or visible_fields is not null);`);
    this.addSql(`create index share_filter on dws.share (dataset_filter_id) where dataset_filter_id is not null;`);
  }
}

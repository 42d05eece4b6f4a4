import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates the references of reports to datasets. */
export class DatasetReferences extends Migration {
  override up(): void {
    // A dataset that a report references cannot be deleted. A snapshot can, which removes it from the reference.
    this.addSql(`create table dws.dataset_reference (${ROW},
      report_id uuid not null references dws.report on delete cascade,
      dataset_id uuid not null references dws.dataset, alias text not null, label text not null,
      filter jsonb not null default '{}', chips jsonb not null default '[]', snapshots jsonb, unique (report_id,
      alias));`);
    this.addSql(`create index dataset_reference_dataset on dws.dataset_reference (dataset_id);`);
    this.addSql(`create table dws.dataset_reference_snapshot (tenant_id uuid not null references dws.tenant,
      reference_id uuid not null references dws.dataset_reference on delete cascade,
      dataset_id uuid not null references dws.dataset on delete cascade, position integer not null,
      primary key (reference_id, dataset_id));`);
    this.addSql(`create index dataset_reference_snapshot_dataset on dws.dataset_reference_snapshot (dataset_id);`);
    for (const table of ['dataset_reference', 'dataset_reference_snapshot']) this.addSql(ofTenants(table));
  }
}

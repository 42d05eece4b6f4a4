import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates visuals: charts and tables of datasets. */
export class Visuals extends Migration {
  override up(): void {
    // Reordering updates row by row, so uniqueness of positions is checked at the end of the transaction.
    this.addSql(`create table dws.visual (${ROW},
      dataset_id uuid not null references dws.dataset on delete cascade,
      owner_id uuid references dws.app_user on delete set null, name text not null, description text,
      component text not null check (component in ('bar-chart', 'line-chart', 'pie-chart', 'table',
      'scatter-plot', 'heatmap', 'gauge', 'card')), config jsonb not null default '{}',
      embedded boolean not null default false, pinned boolean not null default false,
      position integer not null check (position >= 0),
      unique (dataset_id, position) deferrable initially deferred);`);
    this.addSql(`create index visual_owner on dws.visual (owner_id);`);
    this.addSql(ofTenants('visual'));
  }
}

import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates drafts of datasets, one per user and dataset, and user settings of datasets. */
export class Drafts extends Migration {
  override up(): void {
    this.addSql(`alter table dws.dataset add draft_base jsonb;`);
    this.addSql(`create unique index dataset_draft on dws.dataset (parent_id, owner_id) where is_draft;`);
    this.addSql(`create table dws.user_setting (${ROW},
      dataset_id uuid not null references dws.dataset on delete cascade,
      user_id uuid not null references dws.app_user on delete cascade, settings jsonb not null,
      unique (dataset_id, user_id));`);
    this.addSql(`create index user_setting_user on dws.user_setting (user_id);`);
    this.addSql(ofTenants('user_setting'));
  }
}

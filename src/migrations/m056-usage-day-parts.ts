import { Migration } from '@mikro-orm/migrations';

/**
 * Lets several rows add up to a total of a day, so that metering inserts a row instead of changing one, on which other
 * transactions would wait. A worker merges them.
 */
export class UsageDayParts extends Migration {
  override up(): void {
    this.addSql(`alter table dws.usage_day drop constraint usage_day_pkey;`);
    this.addSql(`create index usage_day_actor on dws.usage_day (tenant_id, day, actor);`);
    this.addSql(`revoke update on dws.usage_day from dws_app;`);
  }
}

import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Adds budgets to the resources that usage is charged to, the exceeded budgets, and the sync of the credit pool. */
export class UsageReports extends Migration {
  override up(): void {
    for (const table of ['app', 'job', 'assistant']) {
      this.addSql(`alter table dws.${table} add column monthly_budget numeric(15, 6) check (monthly_budget >= 0);`);
      this.addSql(`create index ${table}_budget on dws.${table} (tenant_id) where monthly_budget is not null;`);
    }
    // A draft has the budget of its job.
    this.addSql(`create function dws.budget_job_draft() returns trigger language plpgsql as $$
      begin
        update dws.job set monthly_budget = new.monthly_budget where tenant_id = new.tenant_id and parent_id = new.id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger budget_draft after update of monthly_budget on dws.job for each row
        when (new.parent_id is null and new.monthly_budget is distinct from old.monthly_budget)
        execute function dws.budget_job_draft();`,
    );
    // One row for each budget and month in which it was exceeded. No key to the tenant, see m017-cheaper-writes.ts.
    this.addSql(`create table dws.budget_warning (tenant_id uuid not null, entity_type text not null,
      entity_id uuid not null, month date not null, created_at timestamptz not null default now(),
      primary key (tenant_id, entity_id, month));`);
    this.addSql(`create index budget_warning_age on dws.budget_warning (month);`);
    this.addSql(ofTenants('budget_warning'));

    // One row for each tenant. `hour` is the last one for which a worker has claimed the sync.
    this.addSql(`create table dws.credit_sync (tenant_id uuid primary key, hour timestamptz not null,
      included numeric(15, 6) check (included >= 0), synced_at timestamptz,
      failed_at timestamptz, failure_code text,
      check ((included is null) = (synced_at is null)), check ((failed_at is null) = (failure_code is null)));`);
    this.addSql(ofTenants('credit_sync'));
  }
}

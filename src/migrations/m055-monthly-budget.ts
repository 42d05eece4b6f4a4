import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Adds budgets to what usage is charged to, and records which were exceeded. */
export class MonthlyBudgets extends Migration {
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
  }
}

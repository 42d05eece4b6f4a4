import { Migration } from '@mikro-orm/migrations';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates the runs of jobs. */
export class JobRuns extends Migration {
  override up(): void {
    this.addSql(`create table dws.job_run (${ROW},
      job_id uuid not null references dws.job on delete cascade,
      trigger text not null check (trigger in ('manual', 'schedule', 'catch-up', 'retry')),
      status text not null default 'queued'
        check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
      success boolean, started_at timestamptz, finished_at timestamptz, duration double precision,
      history jsonb not null default '[]', error text, logs jsonb not null default '{}', due_at timestamptz,
      is_draft boolean not null default false,
      user_id uuid references dws.app_user on delete set null,
      retry_of_id uuid references dws.job_run on delete set null,
      operation_id uuid,
      unique (job_id, due_at));`);
    this.addSql(`create index job_run_job on dws.job_run (job_id, created_at desc, id desc);`);
    this.addSql(`create index job_run_user on dws.job_run (user_id) where user_id is not null;`);
    this.addSql(`create index job_run_retry on dws.job_run (retry_of_id) where retry_of_id is not null;`);
    // Not a partial index: the planner would read all of it in place of one entry, as its statistics are often old.
    this.addSql(`create index job_run_status on dws.job_run (job_id, status);`);
    this.addSql(`create index job_run_open on dws.job_run (id) where finished_at is null;`);
    this.addSql(`create index job_run_created on dws.job_run (created_at);`);
    this.addSql(ofTenants('job_run'));
  }
}

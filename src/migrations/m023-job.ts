import { Migration } from '@mikro-orm/migrations';
import { ownedTable } from './owned-table.ts';
import { ofTenants, ROW } from './tenant-table.ts';

const WHEN = 'timestamptz';

/** Creates jobs with their datasets, actions and run conditions. A draft is a job with a parent. */
export class Jobs extends Migration {
  override up(): void {
    this.createJobs();
    // A dataset that a job works on cannot be deleted. A snapshot can, which removes it from the job.
    // A commit of a draft may swap aliases, so their uniqueness is checked at the end of the transaction.
    this.addSql(`create table dws.job_dataset (${ROW},
      job_id uuid not null references dws.job on delete cascade,
      dataset_id uuid not null references dws.dataset, alias text not null,
      position integer not null, snapshot_time text check (snapshot_time in ('before', 'after')),
      original_id uuid references dws.job_dataset on delete set null,
      unique (job_id, alias) deferrable initially deferred);`);
    this.addSql(`create index job_dataset_dataset on dws.job_dataset (dataset_id);`);
    this.addSql(`create index job_dataset_original on dws.job_dataset (original_id) where original_id is not null;`);
    this.addSql(`create table dws.job_dataset_snapshot (tenant_id uuid not null references dws.tenant,
      reference_id uuid not null references dws.job_dataset on delete cascade,
      dataset_id uuid not null references dws.dataset on delete cascade, position integer not null,
      primary key (reference_id, dataset_id));`);
    this.addSql(`create index job_dataset_snapshot_dataset on dws.job_dataset_snapshot (dataset_id);`);

    // Reordering updates row by row, so uniqueness of positions is checked at the end of the transaction.
    this.addSql(`create table dws.job_action (${ROW},
      job_id uuid not null references dws.job on delete cascade,
      type text not null, name text not null, position integer not null check (position >= 0),
      data jsonb not null default '{}', secrets text, dataset_id uuid references dws.dataset,
      file_id uuid references dws.stored_file,
      original_id uuid references dws.job_action on delete set null, original_file_id uuid,
      unique (job_id, position) deferrable initially deferred);`);
    for (const column of ['dataset_id', 'file_id', 'original_id'])
      this.addSql(`create index job_action_${column} on dws.job_action (${column}) where ${column} is not null;`);
    this.addSql(`create table dws.job_action_condition (${ROW},
      job_action_id uuid not null references dws.job_action on delete cascade,
      type text not null check (type in ('success', 'failure', 'always', 'criteria')),
      data jsonb not null default '{}', dataset_id uuid references dws.dataset,
      original_id uuid references dws.job_action_condition on delete set null);`);
    this.addSql(`create index job_action_condition_action on dws.job_action_condition (job_action_id);`);
    for (const column of ['dataset_id', 'original_id'])
      this.addSql(
        `create index job_action_condition_${column} on dws.job_action_condition (${column})
          where ${column} is not null;`,
      );
    this.forgetFiles();
    for (const table of ['job_dataset', 'job_dataset_snapshot', 'job_action', 'job_action_condition'])
      this.addSql(ofTenants(table));
  }

  /** Deletes the row of a file with the last action that has it. A draft and its job share files. */
  private forgetFiles(): void {
    this.addSql(`create function dws.forget_job_file() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' and new.file_id is not distinct from old.file_id then return null; end if;
        delete from dws.stored_file f
        where f.tenant_id = old.tenant_id and f.id = old.file_id
          and not exists (select from dws.job_action a where a.file_id = old.file_id);
        return null;
      end $$;`);
    this.addSql(
      `create trigger forget_file after delete or update of file_id on dws.job_action
        for each row when (old.file_id is not null) execute function dws.forget_job_file();`,
    );
  }

  private createJobs(): void {
    const columns = [
      'type text not null',
      'interval text',
      `interval_type text check (interval_type in ('cron', 'simple', 'once'))`,
      'timezone text not null',
      'enabled boolean not null default false',
      `next_run_at ${WHEN}`,
      `start_on ${WHEN}`,
      `end_on ${WHEN}`,
      `scheduled_at ${WHEN} not null default now()`,
      `locked_at ${WHEN}`,
      `heartbeat ${WHEN}`,
      `data jsonb not null default '{}'`,
      'notes text',
      'source text',
      'source_id text',
      'parent_id uuid references dws.job on delete cascade',
      // Only jobs that are enabled, and no drafts, are due.
      'constraint job_next_run check (next_run_at is null or enabled and parent_id is null)',
    ];
    for (const sql of ownedTable('job', 'job', columns, 'r.parent_id is not null')) this.addSql(sql);
    // Runs write their state to the row every few seconds, which changes nothing that the search contains.
    this.addSql(`drop trigger search_entry on dws.job;`);
    this.addSql(
      `create trigger search_entry after insert or delete
        or update of name, slug, description, owner_id, parent_id, updated_at on dws.job
        for each row execute function dws.search_job();`,
    );
    this.addSql(`create index job_next_run on dws.job (next_run_at) where next_run_at is not null;`);
    this.addSql(`create index job_locked on dws.job (heartbeat) where locked_at is not null;`);
    this.addSql(`create unique index job_draft on dws.job (parent_id);`);

    // A draft belongs to the owner of its job.
    this.addSql(`create function dws.own_job_draft() returns trigger language plpgsql as $$
      begin
        update dws.job set owner_id = new.owner_id where tenant_id = new.tenant_id and parent_id = new.id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger own_draft after update of owner_id on dws.job for each row
        when (new.parent_id is null and new.owner_id is distinct from old.owner_id)
        execute function dws.own_job_draft();`,
    );
  }
}

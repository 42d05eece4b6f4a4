import { Migration } from '@mikro-orm/migrations';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates agents and their runs, and marks the events of apps that were dispatched to them. */
export class Agents extends Migration {
  override up(): void {
    this.addSql(`create table dws.agent (${ROW},
      name text not null,
      assistant_id uuid not null references dws.assistant on delete cascade,
      owner_id uuid not null references dws.app_user on delete cascade,
      events jsonb not null default '[]', instructions text,
      usage_profile_id uuid references dws.usage_profile,
      enabled boolean not null default true, accepted boolean not null default true,
      monthly_budget numeric(15, 6));`);
    this.addSql(`create index agent_assistant on dws.agent (assistant_id, lower(name), id);`);
    this.addSql(`create index agent_owner on dws.agent (owner_id);`);
    this.addSql(`create index agent_tenant on dws.agent (tenant_id, lower(name), id);`);
    this.addSql(`create index agent_profile on dws.agent (usage_profile_id) where usage_profile_id is not null;`);
    this.addSql(ofTenants('agent'));
    this.runs();
    this.events();
  }

  private runs(): void {
    this.addSql(`create table dws.agent_run (${ROW},
      agent_id uuid not null references dws.agent on delete cascade,
      trigger text not null check (trigger in ('manual', 'event')),
      status text not null default 'queued'
        check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
      event_id uuid, event_name text, depth integer not null, payload jsonb,
      started_at timestamptz, finished_at timestamptz, duration double precision,
      steps jsonb not null default '[]', notes jsonb not null default '[]', output text,
      credits numeric(15, 6) not null default 0, error text,
      user_id uuid references dws.app_user on delete set null,
      operation_id uuid,
      refused boolean not null default false,
      unique (agent_id, event_id));`);
    this.addSql(`create index agent_run_agent on dws.agent_run (agent_id, created_at desc, id desc);`);
    this.addSql(`create index agent_run_user on dws.agent_run (user_id) where user_id is not null;`);
    this.addSql(`create index agent_run_open on dws.agent_run (id) where finished_at is null;`);
    this.addSql(`create index agent_run_created on dws.agent_run (created_at);`);
    this.addSql(ofTenants('agent_run'));
  }

  private events(): void {
    // Events that were raised before there were agents count as dispatched.
    this.addSql(`alter table dws.app_event add column dispatched_at timestamptz default now();`);
    this.addSql(`alter table dws.app_event alter column dispatched_at drop default;`);
    this.addSql(`create index app_event_waiting on dws.app_event (tenant_id, id) where dispatched_at is null;`);
  }
}

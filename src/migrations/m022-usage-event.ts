import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Columns that identify usage. The tables have no key to the tenant, for the reason in m017-cheaper-writes.ts. */
const USAGE = `tenant_id uuid not null,
  actor text not null check (actor ~ '^(user|agent):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  entity_type text not null, entity_id uuid not null, resource_type text not null`;

/** Creates the usage ledger and its totals of each day. */
export class UsageLedger extends Migration {
  override up(): void {
    // 15 digits of credits, which a JSON number represents exactly.
    this.addSql(`create table dws.usage_event (id uuid primary key, ${USAGE},
      actor_type text not null generated always as (split_part(actor, ':', 1)) stored,
      occurred_at timestamptz not null,
      quantity numeric(24, 9) not null check (quantity >= 0),
      credits numeric(15, 6) not null check (credits >= 0),
      metadata jsonb not null default '{}',
      key text not null check (char_length(key) between 1 and 200),
      unique (tenant_id, key));`);
    this.addSql(`create index usage_event_occurred on dws.usage_event (tenant_id, occurred_at desc, id desc);`);
    this.addSql(`create index usage_event_actor on dws.usage_event (tenant_id, actor, occurred_at desc, id desc);`);
    this.addSql(`create index usage_event_age on dws.usage_event using brin (occurred_at);`);

    this.addSql(`create table dws.usage_day (${USAGE},
      day date not null, quantity numeric not null, credits numeric not null, events bigint not null,
      primary key (tenant_id, day, actor, entity_type, entity_id, resource_type));`);
    this.addSql(`create index usage_day_age on dws.usage_day using brin (day);`);
    for (const table of ['usage_event', 'usage_day']) this.addSql(ofTenants(table));
    this.refuseChanges();
  }

  /** Refuses changes of events to every role, including the owner of the tables. Old events can be deleted. */
  private refuseChanges(): void {
    this.addSql(`revoke update, delete on dws.usage_event from dws_app;
      revoke update on dws.usage_event from dws_system;
      revoke delete on dws.usage_day from dws_app;`);
    // Whole UTC days, so that the totals of a day have all of its events or none.
    this.addSql(`create function dws.usage_kept_since() returns timestamptz language sql stable as $$
      select (date_trunc('day', now() at time zone 'UTC') - interval '25 months') at time zone 'UTC' $$;`);
    this.addSql(`create function dws.keep_usage_event() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' then
          if old.occurred_at < dws.usage_kept_since() then return old; end if;
        end if;
        raise exception 'The usage ledger is append-only' using errcode = 'restrict_violation';
      end $$;`);
    this.addSql(`create trigger keep_usage_event before delete on dws.usage_event for each row
      execute function dws.keep_usage_event();`);
    this.addSql(`create trigger refuse_usage_change before update or truncate on dws.usage_event for each statement
      execute function dws.keep_usage_event();`);
  }
}

import { Migration } from '@mikro-orm/migrations';

/** Maximum number of events of an agent or assistant. */
const MAX_EVENTS = 50;
const SINCE_UPDATE = 'since an update, agents run on events of the apps that they are bound to';

/** The tables that the update of the rows reads or changes. */
const TABLES = ['agent', 'assistant', 'app', 'app_event', 'app_user', 'team_member', 'notification'] as const;

/** The events on which the agent `a` of the assistant `s` runs. */
const EVENTS_OF_AGENT = `case when a.events = '[]' then s.events else a.events end`;

/** Returns SQL of the events with these names of all apps of an owner; those first that the apps have emitted lately. */
const eventsOf = (names: string, tenantId: string, ownerId: string): string => `(
  select coalesce(jsonb_agg(jsonb_build_object('appId', x.id, 'name', x.name) order by x.place), '[]')
  from (
    select p.id, w.name, row_number() over (order by (
      exists (select from dws.app_event v where v.app_id = p.id and v.name = w.name)
    ) desc, w.n, p.id) as place
    from jsonb_array_elements_text(${names}) with ordinality w (name, n)
    join dws.app p on p.tenant_id = ${tenantId} and p.owner_id = ${ownerId}
  ) x
  where x.place <= ${MAX_EVENTS})`;

/**
 * Returns SQL of whether events with these names are dropped: of a name without an app of the owner, or of one that an app
 * of another owner has emitted lately.
 */
const isDropped = (names: string, tenantId: string, ownerId: string): string => `exists (
  select from jsonb_array_elements_text(${names}) w (name)
  where not exists (select from dws.app p where p.tenant_id = ${tenantId} and p.owner_id = ${ownerId})
    or exists (
      select from dws.app_event v
      join dws.app p on p.id = v.app_id and p.owner_id <> ${ownerId}
      where v.tenant_id = ${tenantId} and v.name = w.name
    ))`;

/** Binds agents and assistants to events of single apps, and stores the owners of apps that agents have accepted. */
export class EventBindings extends Migration {
  override up(): void {
    this.addSql(`alter table dws.agent add column accepted_apps jsonb not null default '{}';`);
    this.addSql(`alter table dws.agent_run add column event_app_id uuid;`);
    // Policies bind the owner of a table, too, unless they are not forced.
    for (const table of TABLES) this.addSql(`alter table dws.${table} no force row level security;`);
    this.notify();
    this.bind();
    for (const table of TABLES) this.addSql(`alter table dws.${table} force row level security;`);
    this.suspend();
  }

  /** Notifies the owners of agents and assistants whose events are dropped. */
  private notify(): void {
    const insert = 'insert into dws.notification (id, tenant_id, user_id, type, message, resource_kind, resource_id)';
    this.addSql(`${insert}
      select gen_random_uuid(), a.tenant_id, a.owner_id, 'agent.events.dropped',
        'The agent ' || a.name || ' runs on events of your own apps only: ${SINCE_UPDATE}', 'agent', a.id
      from dws.agent a
      join dws.assistant s on s.id = a.assistant_id
      where ${isDropped(EVENTS_OF_AGENT, 'a.tenant_id', `'user:' || a.owner_id`)};`);
    this.addSql(`${insert}
      select gen_random_uuid(), s.tenant_id, u.id, 'assistant.events.dropped',
        'The assistant ' || s.name || ' has events of the apps of its owner only: ${SINCE_UPDATE}', 'assistant', s.id
      from dws.assistant s
      join dws.app_user u on u.tenant_id = s.tenant_id and (
        s.owner_id = 'user:' || u.id
        or exists (
          select from dws.team_member m
          where m.tenant_id = s.tenant_id and 'team:' || m.team_id = s.owner_id and m.user_id = u.id
            and m.role in ('memberPlus', 'admin')
        ))
      where ${isDropped('s.events', 's.tenant_id', 's.owner_id')};`);
  }

  /** Replaces each name by events of the apps of the owner. Agents accept the apps of their own owners only. */
  private bind(): void {
    // An agent of another owner than its assistant runs on events of the apps of its own owner.
    this.addSql(`
      update dws.agent a
      set events = ${eventsOf(EVENTS_OF_AGENT, 'a.tenant_id', `'user:' || a.owner_id`)}
      from dws.assistant s
      where s.id = a.assistant_id and (a.events <> '[]' or s.owner_id <> 'user:' || a.owner_id);`);
    this.addSql(`update dws.assistant s set events = ${eventsOf('s.events', 's.tenant_id', 's.owner_id')}
      where s.events <> '[]';`);
    this.addSql(`
      update dws.agent a
      set accepted_apps = (
        select coalesce(jsonb_object_agg(p.id, p.owner_id), '{}')
        from dws.app p
        where p.tenant_id = a.tenant_id and p.owner_id = 'user:' || a.owner_id
          and p.id in (select (e ->> 'appId')::uuid from jsonb_array_elements(${EVENTS_OF_AGENT}) e)
      )
      from dws.assistant s
      where s.id = a.assistant_id;`);
  }

  /** Suspends the bindings to an app that gets another owner, until the owners of the agents accept it again. */
  private suspend(): void {
    // Every way to change the owner goes through this. The version shows to who has seen the former owner that it changed.
    this.addSql(`create function dws.suspend_event_bindings() returns trigger language plpgsql as $$
      begin
        with suspended as (
          update dws.agent
          set accepted_apps = accepted_apps - new.id::text, version = version + 1, updated_at = now()
          where tenant_id = new.tenant_id and id in (
            select id from dws.agent where tenant_id = new.tenant_id and accepted_apps ? new.id::text order by id for update
          )
          returning id, tenant_id, owner_id, name, assistant_id, events
        )
        insert into dws.notification (id, tenant_id, user_id, type, message, resource_kind, resource_id)
        select gen_random_uuid(), a.tenant_id, a.owner_id, 'agent.events.suspended',
          'The app ' || new.name || ' got another owner: its events do not start the agent ' || a.name
            || ' before you enable it again', 'agent', a.id
        from suspended a
        join dws.assistant s on s.id = a.assistant_id
        where exists (
          select from jsonb_array_elements(${EVENTS_OF_AGENT}) w (e) where e ->> 'appId' = new.id::text
        );
        return null;
      end $$;`);
    this.addSql(
      `create trigger suspend_event_bindings after update of owner_id on dws.app for each row
        when (new.owner_id is distinct from old.owner_id) execute function dws.suspend_event_bindings();`,
    );
  }
}

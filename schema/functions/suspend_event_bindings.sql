-- Withdraws the acceptance of an app by agents when it gets another owner, and notifies their owners.
create or replace function dws.suspend_event_bindings()
  returns trigger
  language plpgsql
as $$
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
    select from jsonb_array_elements(case when a.events = '[]' then s.events else a.events end) w (e) where e ->> 'appId' = new.id::text
  );
  return null;
end
$$;

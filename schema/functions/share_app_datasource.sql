-- Copies a share of an app to its datasource.
create or replace function dws.share_app_datasource()
  returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    delete from dws.share s using dws.datasource d
    where d.tenant_id = old.tenant_id and d.app_id = old.resource_id
      and s.tenant_id = old.tenant_id and s.resource_id = d.id and s.principal = old.principal;
  else
    insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
    select gen_random_uuid(), d.tenant_id, 'datasource', d.id, new.principal, new.access_level
    from dws.datasource d
    where d.tenant_id = new.tenant_id and d.app_id = new.resource_id
    on conflict (resource_id, principal) do update
      set access_level = excluded.access_level, version = share.version + 1, updated_at = now();
  end if;
  return null;
end
$$;

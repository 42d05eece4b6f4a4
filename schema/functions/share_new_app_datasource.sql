-- Copies the shares of an app to its new datasource.
create or replace function dws.share_new_app_datasource()
  returns trigger
  language plpgsql
as $$
begin
  insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
  select gen_random_uuid(), s.tenant_id, 'datasource', new.id, s.principal, s.access_level
  from dws.share s
  where s.tenant_id = new.tenant_id and s.kind = 'app' and s.resource_id = new.app_id;
  return null;
end
$$;

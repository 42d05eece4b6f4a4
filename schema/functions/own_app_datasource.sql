-- Gives the datasource of an app the owner of the app.
create or replace function dws.own_app_datasource()
  returns trigger
  language plpgsql
as $$
begin
  update dws.datasource set owner_id = new.owner_id where tenant_id = new.tenant_id and app_id = new.id;
  return null;
end
$$;

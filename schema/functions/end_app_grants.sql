-- Deletes what visitors allowed an app when it gets another owner.
create or replace function dws.end_app_grants()
  returns trigger
  language plpgsql
as $$
begin
  delete from dws.app_grant where tenant_id = new.tenant_id and app_id = new.id;
  return null;
end
$$;

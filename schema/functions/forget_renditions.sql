-- Deletes the rendered documents of a user that was deleted.
create or replace function dws.forget_renditions()
  returns trigger
  language plpgsql
as $$
begin
  delete from dws.rendition where tenant_id = old.tenant_id and user_id = old.id;
  return null;
end
$$;

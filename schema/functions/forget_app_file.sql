-- Deletes the contents of a file of an app that no file and no release has.
create or replace function dws.forget_app_file()
  returns trigger
  language plpgsql
as $$
begin
  perform from dws.stored_file where tenant_id = old.tenant_id and id = old.file_id for update;
  delete from dws.stored_file f
  where f.tenant_id = old.tenant_id and f.id = old.file_id
    and not exists (select from dws.app_file a where a.file_id = old.file_id)
    and not exists (select from dws.app_release_file r where r.file_id = old.file_id);
  return null;
end
$$;

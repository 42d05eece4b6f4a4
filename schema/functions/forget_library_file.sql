-- Deletes the contents of a file of a library that no file has.
create or replace function dws.forget_library_file()
  returns trigger
  language plpgsql
as $$
begin
  delete from dws.stored_file f
  where f.tenant_id = old.tenant_id and f.id = old.stored_file_id
    and not exists (select from dws.library_file l where l.stored_file_id = old.stored_file_id);
  return null;
end
$$;

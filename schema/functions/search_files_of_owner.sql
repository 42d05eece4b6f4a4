-- Gives the entries of the files of a library the owner of the library.
create or replace function dws.search_files_of_owner()
  returns trigger
  language plpgsql
as $$
begin
  update dws.search_entry e set owner_id = new.owner_id
  from dws.library_file f
  where f.tenant_id = new.tenant_id and f.library_id = new.id
    and e.tenant_id = new.tenant_id and e.kind = 'library-file' and e.id = f.id;
  return null;
end
$$;

-- Keeps the entry of a file of a library in the global search.
create or replace function dws.search_library_file()
  returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    delete from dws.search_entry where tenant_id = old.tenant_id and kind = 'library-file' and id = old.id;
  else
    perform dws.put_search_entry(new.tenant_id, 'library-file', new.id,
      (select l.owner_id from dws.library l where l.id = new.library_id), new.name, null, new.path,
      new.updated_at);
  end if;
  return null;
end
$$;

-- Keeps the entry of a folder in the global search.
create or replace function dws.search_folder()
  returns trigger
  language plpgsql
as $$
declare
  r dws.folder;
begin
  if tg_op = 'DELETE' then r := old; else r := new; end if;
  if tg_op = 'DELETE' then
    delete from dws.search_entry
    where tenant_id = r.tenant_id and kind = 'folder' and id = r.id;
  elsif tg_op = 'UPDATE' and row(r.name)
    is not distinct from row(old.name) then
    update dws.search_entry
    set owner_id = null, updated_at = r.updated_at
    where tenant_id = r.tenant_id and kind = 'folder' and id = r.id;
  else
    perform dws.put_search_entry(r.tenant_id, 'folder', r.id, null, r.name, null, null, r.updated_at);
  end if;
  return null;
end
$$;

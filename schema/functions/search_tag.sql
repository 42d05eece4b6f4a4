-- Keeps the entry of a tag in the global search.
create or replace function dws.search_tag()
  returns trigger
  language plpgsql
as $$
declare
  r dws.tag;
begin
  if tg_op = 'DELETE' then r := old; else r := new; end if;
  if tg_op = 'DELETE' then
    delete from dws.search_entry
    where tenant_id = r.tenant_id and kind = 'tag' and id = r.id;
  elsif tg_op = 'UPDATE' and row(r.name, r.description)
    is not distinct from row(old.name, old.description) then
    update dws.search_entry
    set owner_id = null, updated_at = r.updated_at
    where tenant_id = r.tenant_id and kind = 'tag' and id = r.id;
  else
    perform dws.put_search_entry(r.tenant_id, 'tag', r.id, null, r.name, null, r.description, r.updated_at);
  end if;
  return null;
end
$$;

-- Keeps the entry of a datasource in the global search.
create or replace function dws.search_datasource()
  returns trigger
  language plpgsql
as $$
declare
  r dws.datasource;
begin
  if tg_op = 'DELETE' then r := old; else r := new; end if;
  if tg_op = 'DELETE' then
    delete from dws.search_entry
    where tenant_id = r.tenant_id and kind = 'datasource' and id = r.id;
  elsif tg_op = 'UPDATE' and row(r.name, r.slug, r.description)
    is not distinct from row(old.name, old.slug, old.description) then
    update dws.search_entry
    set owner_id = r.owner_id, updated_at = r.updated_at
    where tenant_id = r.tenant_id and kind = 'datasource' and id = r.id;
  else
    perform dws.put_search_entry(r.tenant_id, 'datasource', r.id, r.owner_id, r.name, r.slug, r.description, r.updated_at);
  end if;
  return null;
end
$$;

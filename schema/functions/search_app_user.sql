-- Keeps the entry of a user in the global search.
create or replace function dws.search_app_user()
  returns trigger
  language plpgsql
as $$
declare
  r dws.app_user;
begin
  if tg_op = 'DELETE' then r := old; else r := new; end if;
  if tg_op = 'DELETE' then
    delete from dws.search_entry
    where tenant_id = r.tenant_id and kind = 'user' and id = r.id;
  elsif tg_op = 'UPDATE' and row(coalesce(nullif(r.display_name, ''), r.username), r.username)
    is not distinct from row(coalesce(nullif(old.display_name, ''), old.username), old.username) then
    update dws.search_entry
    set owner_id = null, updated_at = r.updated_at
    where tenant_id = r.tenant_id and kind = 'user' and id = r.id;
  else
    perform dws.put_search_entry(
      r.tenant_id, 'user', r.id, null, coalesce(nullif(r.display_name, ''), r.username), r.username, null, r.updated_at
    );
  end if;
  return null;
end
$$;

-- Returns the entries that the global search finds for a text, in the tenant of the transaction, with their score.
create or replace function dws.search_matches(q text)
  returns table(kind text, id uuid, owner_id text, folded text, score double precision)
  language sql
  stable security definer rows 100
  set search_path to 'pg_catalog', 'pg_temp'
as $$
select e.kind, e.id, e.owner_id, e.folded,
  case
    when e.folded = (select dws.fold(btrim(q))) then 1
    when starts_with(e.folded, (select dws.fold(btrim(q)))) then 0.8
    when e.document @@ (select dws.search_query(q, ':*A', false)) then 0.6
    when e.document @@ (select dws.search_query(q, ':*', false)) then 0.4
    else 0.2
  end
from dws.search_entry e
where e.tenant_id = (select current_setting('app.tenant')::uuid)
  and e.document @@ (select dws.search_query(q, ':*', true))
$$;

-- Returns the names of the tags of a resource.
create or replace function dws.tag_names(of_tenant uuid, of_kind text, of_id uuid)
  returns text
  language sql
  stable
as $$
select string_agg(t.name, ' ')
from dws.tag_assignment a
join dws.tag t on t.id = a.tag_id
where a.tenant_id = of_tenant and a.kind = of_kind and a.resource_id = of_id
$$;

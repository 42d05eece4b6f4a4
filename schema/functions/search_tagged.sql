-- Updates the entry of a resource that gets or loses a tag.
create or replace function dws.search_tagged()
  returns trigger
  language plpgsql
as $$
declare
  r record;
begin
  if tg_op = 'DELETE' then r := old; else r := new; end if;
  update dws.search_entry e
  set document = dws.search_document(e.name, e.slug, dws.tag_names(e.tenant_id, e.kind, e.id), e.description)
  where e.tenant_id = r.tenant_id and e.kind = r.kind and e.id = r.resource_id;
  return null;
end
$$;

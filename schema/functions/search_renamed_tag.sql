-- Updates the entries of all resources that have a renamed tag.
create or replace function dws.search_renamed_tag()
  returns trigger
  language plpgsql
as $$
begin
  update dws.search_entry e
  set document = dws.search_document(e.name, e.slug, dws.tag_names(e.tenant_id, e.kind, e.id), e.description)
  from dws.tag_assignment a
  where a.tenant_id = new.tenant_id and a.tag_id = new.id
    and e.tenant_id = a.tenant_id and e.kind = a.kind and e.id = a.resource_id;
  return null;
end
$$;

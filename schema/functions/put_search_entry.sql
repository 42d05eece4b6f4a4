-- Inserts or replaces the entry of a resource in the global search.
create or replace function dws.put_search_entry(
  of_tenant uuid, of_kind text, of_id uuid, owner text, new_name text, new_slug text, new_description text,
  changed timestamp with time zone
)
  returns void
  language plpgsql
as $$
begin
  insert into dws.search_entry as e
    (tenant_id, kind, id, owner_id, name, slug, description, updated_at, folded, document)
  values (
    of_tenant, of_kind, of_id, owner, new_name, new_slug, new_description, changed, dws.fold(new_name),
    dws.search_document(new_name, new_slug, dws.tag_names(of_tenant, of_kind, of_id), new_description)
  )
  on conflict (tenant_id, kind, id) do update
  set owner_id = excluded.owner_id, name = excluded.name, slug = excluded.slug,
    description = excluded.description, updated_at = excluded.updated_at, folded = excluded.folded,
    document = excluded.document;
end
$$;

-- Deletes the icons of an assistant that no assistant has.
create or replace function dws.forget_assistant_icon()
  returns trigger
  language plpgsql
as $$
begin
  delete from dws.stored_file f
  where f.tenant_id = old.tenant_id and f.id in (old.uploaded_icon_id, old.favicon_id)
    and not exists (select from dws.assistant a where a.uploaded_icon_id = f.id or a.favicon_id = f.id);
  return null;
end
$$;

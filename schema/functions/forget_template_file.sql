-- Deletes the former contents of a file of a template, unless something else has them.
create or replace function dws.forget_template_file()
  returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'UPDATE' and new.file_id is not distinct from old.file_id then return null; end if;
  perform from dws.stored_file where tenant_id = old.tenant_id and id = old.file_id for update;
  delete from dws.stored_file f
  where f.tenant_id = old.tenant_id and f.id = old.file_id
    and not exists (select from dws.template_file t where t.file_id = old.file_id)
    and not exists (select from dws.rendition r where r.file_id = old.file_id);
  return null;
end
$$;

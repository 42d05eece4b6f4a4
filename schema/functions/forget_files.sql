-- Deletes contents that no action of a job and no mail has.
create or replace function dws.forget_files(ids uuid[])
  returns void
  language plpgsql
as $$
begin
  perform from dws.stored_file where id = any(ids) order by id for update;
  delete from dws.stored_file f
  where f.id = any(ids)
    and not exists (select from dws.job_action a where a.file_id = f.id)
    and not exists (select from dws.mail_attachment a where a.file_id = f.id);
end
$$;

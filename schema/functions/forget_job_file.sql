-- Deletes the former file of an action of a job, unless something else has it.
create or replace function dws.forget_job_file()
  returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'UPDATE' and new.file_id is not distinct from old.file_id then return null; end if;
  perform dws.forget_files(array[old.file_id]);
  return null;
end
$$;

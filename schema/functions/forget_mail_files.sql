-- Deletes the files of mails that were sent, unless something else has them.
create or replace function dws.forget_mail_files()
  returns trigger
  language plpgsql
as $$
begin
  perform dws.forget_files(array(select distinct file_id from removed));
  return null;
end
$$;

-- Deletes the attachments of a mail whose status has changed to a final one.
create or replace function dws.release_attachments()
  returns trigger
  language plpgsql
as $$
begin
  delete from dws.mail_attachment where mail_id = new.id;
  return null;
end
$$;

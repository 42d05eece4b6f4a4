-- Accepts the draft of a job that its owner has accepted.
create or replace function dws.accept_job_draft()
  returns trigger
  language plpgsql
as $$
begin
  update dws.job set accepted = true where tenant_id = new.tenant_id and parent_id = new.id and not accepted;
  return null;
end
$$;

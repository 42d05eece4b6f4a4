-- Gives the draft of a job the owner of the job.
create or replace function dws.own_job_draft()
  returns trigger
  language plpgsql
as $$
begin
  update dws.job set owner_id = new.owner_id where tenant_id = new.tenant_id and parent_id = new.id;
  return null;
end
$$;

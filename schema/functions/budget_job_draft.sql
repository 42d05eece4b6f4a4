-- Gives the draft of a job the monthly budget of the job.
create or replace function dws.budget_job_draft()
  returns trigger
  language plpgsql
as $$
begin
  update dws.job set monthly_budget = new.monthly_budget where tenant_id = new.tenant_id and parent_id = new.id;
  return null;
end
$$;

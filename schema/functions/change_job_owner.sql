-- Withdraws the acceptance of a job that gets another owner: it is disabled, its runs are cancelled, its results are released, and
-- its settings stay those of the former owner.
create or replace function dws.change_job_owner()
  returns trigger
  language plpgsql
as $$
declare
  stopped uuid;
begin
  new.accepted := new.owner_id not like 'user:%';
  if not new.accepted then
    new.enabled := false;
    new.next_run_at := null;
  end if;
  update dws.job_action
  set file_id = case when type in ('export', 'render-template') then null else file_id end,
    exported_dataset_id = case when type in ('export', 'render-template') then null else exported_dataset_id end,
    settings_owner_id = coalesce(settings_owner_id, old.owner_id)
  where tenant_id = new.tenant_id and job_id = new.id;
  update dws.job_action_condition
  set settings_owner_id = coalesce(settings_owner_id, old.owner_id)
  where tenant_id = new.tenant_id
    and job_action_id in (select id from dws.job_action where tenant_id = new.tenant_id and job_id = new.id);
  for stopped in
    update dws.operation
    set cancelled_at = coalesce(cancelled_at, now()),
      next_attempt_at = case when next_attempt_at is not null then now() end
    where id in (
      select id from dws.operation
      where tenant_id = new.tenant_id and concurrency_key = 'job:' || new.id and finished_at is null
      for update skip locked
    )
    returning work_id
  loop
    perform pg_notify('dws_cancel', stopped::text);
  end loop;
  return new;
end
$$;

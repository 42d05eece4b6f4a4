import { Migration } from '@mikro-orm/migrations';

/**
 * When a job gets another owner, leaves the end of a run that waits for its next attempt to a worker, like the end of a
 * running one. So it is charged, the history is trimmed, and the run behind it starts.
 */
export class JobOwnerRuns extends Migration {
  override up(): void {
    // The wait ends now, so that a worker can claim the run. The notification wakes it.
    this.addSql(`create or replace function dws.change_job_owner() returns trigger language plpgsql as $$
      declare stopped uuid;
      begin
        new.accepted := new.owner_id not like 'user:%';
        if not new.accepted then
          new.enabled := false;
          new.next_run_at := null;
        end if;
        update dws.job_action set file_id = null, exported_dataset_id = null
        where tenant_id = new.tenant_id and job_id = new.id and type in ('export', 'render-template');
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
      end $$;`);
  }
}

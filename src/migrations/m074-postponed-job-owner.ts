import { Migration } from '@mikro-orm/migrations';

/** Ends the runs of a job that gets another owner even while they wait for their next attempt, when no worker has them. */
export class PostponedJobOwners extends Migration {
  override up(): void {
    // No worker has a run that waits, so that it ends here. Runs behind it in the queue are sent by the reconciler.
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
        with ended as (
          update dws.operation
          set status = 'cancelled', cancelled_at = now(), finished_at = now(), updated_at = now(), sequence = sequence + 1,
            error = '{"statusCode": 409, "code": "CANCELLED", "message": "The operation was cancelled"}'
          where id in (
            select id from dws.operation
            where tenant_id = new.tenant_id and concurrency_key = 'job:' || new.id and finished_at is null
              and status = 'queued' and next_attempt_at is not null
            for update skip locked
          )
          returning id
        )
        update dws.job_run
        set status = 'cancelled', success = false, error = 'The run was cancelled', finished_at = clock_timestamp(),
          duration = greatest(extract(epoch from clock_timestamp() - started_at) * 1000, 0), version = version + 1,
          waited = waited + coalesce(extract(epoch from clock_timestamp() - (pause->>'since')::timestamptz) * 1000, 0),
          updated_at = now(), next_attempt_at = null, pause = null
        where tenant_id = new.tenant_id and job_id = new.id and operation_id in (select id from ended);
        if found then
          new.locked_at := null;
          new.heartbeat := null;
        end if;
        for stopped in
          update dws.operation set cancelled_at = coalesce(cancelled_at, now())
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

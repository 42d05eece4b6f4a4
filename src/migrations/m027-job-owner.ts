import { Migration } from '@mikro-orm/migrations';

/** Stores whether the owner of a job has accepted it, and the dataset whose rows the file of an export has. */
export class JobOwners extends Migration {
  override up(): void {
    this.addSql(`alter table dws.job add column accepted boolean not null default true,
      add constraint job_accepted check (accepted or not enabled);`);
    // Without a reference, so that it is known who may read the file even after the dataset was deleted.
    this.addSql(`alter table dws.job_action add column exported_dataset_id uuid;`);
    this.changeOwner();
    this.acceptDraft();
  }

  /**
   * A user who gets a job does not run its actions before they accept it, nor reads the files that it has exported for
   * the former owner, whose runs end. Every way to change the owner goes through this.
   */
  private changeOwner(): void {
    // Locked operations are left out, as a run locks its operation before its job: it ends, or is stopped by the worker.
    this.addSql(`create function dws.change_job_owner() returns trigger language plpgsql as $$
      declare stopped uuid;
      begin
        new.accepted := new.owner_id not like 'user:%';
        if not new.accepted then
          new.enabled := false;
          new.next_run_at := null;
        end if;
        update dws.job_action set file_id = null, exported_dataset_id = null
        where tenant_id = new.tenant_id and job_id = new.id and type = 'export';
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
    this.addSql(
      `create trigger change_owner before update of owner_id on dws.job for each row
        when (new.owner_id is distinct from old.owner_id) execute function dws.change_job_owner();`,
    );
  }

  /** Who accepts a job accepts its draft. */
  private acceptDraft(): void {
    this.addSql(`create function dws.accept_job_draft() returns trigger language plpgsql as $$
      begin
        update dws.job set accepted = true where tenant_id = new.tenant_id and parent_id = new.id and not accepted;
        return null;
      end $$;`);
    this.addSql(
      `create trigger accept_draft after update of accepted on dws.job for each row
        when (new.parent_id is null and new.accepted and not old.accepted) execute function dws.accept_job_draft();`,
    );
  }
}

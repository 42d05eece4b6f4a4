import { Migration } from '@mikro-orm/migrations';

/** Lets actions of jobs render templates. */
export class Renderings extends Migration {
  override up(): void {
    this.addSql(`alter table dws.job_action add column template_id uuid references dws.template;`);
    this.addSql(`create index job_action_template_id on dws.job_action (template_id) where template_id is not null;`);
    // As in m027, but documents of templates also contain data that the former owner may read.
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

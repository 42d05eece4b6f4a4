import { Migration } from '@mikro-orm/migrations';

const row = `id uuid primary key, tenant_id uuid not null references dws.tenant, version integer not null default 1,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()`;

/** What users are told. */
export class Notifications extends Migration {
  override up(): void {
    this.addSql(`create table dws.notification (${row}, user_id uuid not null references dws.app_user on delete cascade, type text not null, message text not null,
      resource_kind text, resource_id uuid, read_at timestamptz, check ((resource_kind is null) = (resource_id is null)));`);
    this.addSql(`create index notification_user on dws.notification (user_id, created_at desc, id desc);`);
    this.addSql(`create index notification_created on dws.notification (created_at);`);
    this.addSql(`create trigger tell_notification after insert on dws.notification for each row execute function dws.tell('dws_notification', 'user_id');`);

    const tenant = `(select current_setting('app.tenant')::uuid)`;
    this.addSql(`alter table dws.notification enable row level security; alter table dws.notification force row level security;
      create policy tenant on dws.notification to dws_app using (tenant_id = ${tenant}) with check (tenant_id = ${tenant});
      create policy system on dws.notification to dws_system using (true) with check (true);
      grant select, insert, update, delete on dws.notification to dws_app, dws_system;`);
  }
}

import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates the outbox, and the links with which users set a new password. */
export class MailAndPasswordReset extends Migration {
  override up(): void {
    this.addSql(`create table dws.mail (${ROW}, user_id uuid references dws.app_user on delete set null,
      recipient text not null, subject text not null,
      sealed_text text not null, sealed_html text,
      status text not null default 'queued' check (status in ('queued', 'sent', 'failed')),
      attempts integer not null default 0,
      error text, sent_at timestamptz, next_attempt_at timestamptz not null default now(),
      claimed_at timestamptz, expires_at timestamptz);`);
    this.addSql(`create index mail_of_tenant on dws.mail (tenant_id, created_at, id);`);
    this.addSql(`create index mail_queued on dws.mail (next_attempt_at, id) where status = 'queued';`);
    this.addSql(`create index mail_user on dws.mail (user_id);`);
    this.addSql(`create index mail_created on dws.mail (created_at);`);
    this.addSql(
      `create trigger tell_mail after insert on dws.mail for each row execute function dws.tell('dws_mail', 'id');`,
    );

    this.addSql(`create table dws.password_reset (${ROW},
      user_id uuid not null references dws.app_user on delete cascade, token_hash text not null unique,
      expires_at timestamptz not null, used_at timestamptz);`);
    this.addSql(`create index password_reset_user on dws.password_reset (user_id);`);
    this.addSql(`create index password_reset_expires on dws.password_reset (expires_at);`);

    for (const table of ['mail', 'password_reset']) this.addSql(ofTenants(table));
  }
}

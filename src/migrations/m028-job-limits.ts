import { Migration } from '@mikro-orm/migrations';

/** Lets jobs send fewer mails concurrently than others, and counts their mails and notifications of the last hour. */
export class JobLimits extends Migration {
  override up(): void {
    // Mails that no job sent come first.
    this.addSql(`drop index dws.mail_queued;`);
    this.addSql(
      `create index mail_queued on dws.mail ((source is not null), next_attempt_at, id) where status = 'queued';`,
    );
    this.addSql(`alter table dws.mail add column sender_id uuid;`);
    this.addSql(
      `create index mail_of_jobs on dws.mail (tenant_id, created_at) include (sender_id) where source is not null;`,
    );
    this.addSql(
      `create index notification_of_jobs on dws.notification (tenant_id, created_at) where type = 'job.notification';`,
    );
  }
}

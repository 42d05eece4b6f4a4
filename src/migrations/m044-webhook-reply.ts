import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Creates the first responses of webhooks with an idempotency key, for those who repeat a call. */
export class WebhookReplies extends Migration {
  override up(): void {
    this.addSql(`create table dws.webhook_reply (
      tenant_id uuid not null references dws.tenant,
      app_id uuid not null references dws.app on delete cascade,
      key text not null, request text not null,
      run_id uuid not null, running_until timestamptz not null,
      response text, created_at timestamptz not null default now(),
      primary key (app_id, key));`);
    this.addSql(`create index webhook_reply_created_at on dws.webhook_reply (created_at);`);
    this.addSql(ofTenants('webhook_reply'));
  }
}

import { Migration } from '@mikro-orm/migrations';

/**
 * Separates the kept responses of proven calls of webhooks from the others, and stores their sizes, so that an index has
 * all that their sum needs.
 */
export class WebhookReplySize extends Migration {
  override up(): void {
    this.addSql(`alter table dws.webhook_reply
      add column proven boolean not null default true,
      add column bytes int generated always as (coalesce(octet_length(response), 0)) stored;`);
    this.addSql(`create index webhook_reply_bytes on dws.webhook_reply (tenant_id, app_id, proven, bytes);`);
  }
}

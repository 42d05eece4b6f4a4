import { Migration } from '@mikro-orm/migrations';

/**
 * Stores responses of webhooks as bytes instead of twice encoded Base64, which cannot be compressed. Responses of the
 * last 24 hours lose their content: a repeated call returns 409 and does not run again.
 */
export class WebhookReplyBytes extends Migration {
  override up(): void {
    this.addSql(`alter table dws.webhook_reply alter column response type bytea
      using case when response is not null then ''::bytea end;`);
    this.addSql(`alter table dws.webhook_reply alter column response set storage external;`);
  }
}

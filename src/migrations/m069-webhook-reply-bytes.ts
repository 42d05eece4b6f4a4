import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps responses of webhooks as bytes, which were Base64 twice. They cannot be compressed. Those of the last 24 hours
 * lose their content: a repetition is 409 and not a second run.
 */
export class WebhookReplyBytes extends Migration {
  override up(): void {
    this.addSql(`alter table dws.webhook_reply alter column response type bytea
      using case when response is not null then ''::bytea end;`);
    this.addSql(`alter table dws.webhook_reply alter column response set storage external;`);
  }
}

import { Migration } from '@mikro-orm/migrations';

/** Stores what a mail that waits requires of its recipient when it is sent. */
export class MailRecipient extends Migration {
  override up(): void {
    // `user_id` is null after the user was deleted, as for a mail to an address only.
    this.addSql(
      `alter table dws.mail add column to_user boolean not null default false, add column rows_of jsonb not null default '[]';`,
    );
    this.addSql(`update dws.mail set to_user = true where user_id is not null;`);
  }
}

import { Migration } from '@mikro-orm/migrations';

/** Stores whether an API token set the e-mail address of its user, which then gets no password links. */
export class EmailSource extends Migration {
  override up(): void {
    this.addSql(`alter table dws.app_user add column email_set_by_token boolean not null default false`);
  }
}

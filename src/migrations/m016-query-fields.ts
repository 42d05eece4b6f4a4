import { Migration } from '@mikro-orm/migrations';

/** Allows a saved query whose fields are not known yet. */
export class QueryFields extends Migration {
  override up(): void {
    this.addSql(`alter table dws.saved_query alter column fields drop not null, alter column fields drop default`);
  }
}

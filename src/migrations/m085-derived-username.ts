import { Migration } from '@mikro-orm/migrations';

/**
 * Remembers the usernames that a login has derived from names that no username can be: the account whose name is such a
 * username belongs to another person.
 */
export class DerivedUsername extends Migration {
  override up(): void {
    this.addSql(`alter table dws.app_user add column derived_username text;`);
  }
}

import { Migration } from '@mikro-orm/migrations';

/** Renames two columns to the terms of docs/glossary.md. */
export class Vocabulary extends Migration {
  override up(): void {
    this.addSql(`alter table dws.audit_event rename column tongue to channel;`);
    this.addSql(`alter table dws.operation rename column lane to concurrency_key;`);
  }
}

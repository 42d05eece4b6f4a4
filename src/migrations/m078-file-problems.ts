import { Migration } from '@mikro-orm/migrations';

/** Stores doubts about the file of a datasource. They are unknown for earlier uploads. */
export class FileProblems extends Migration {
  override up(): void {
    this.addSql(`alter table dws.datasource add column problems jsonb not null default '[]'::jsonb;`);
  }
}

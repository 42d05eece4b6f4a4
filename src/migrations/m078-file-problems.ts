import { Migration } from '@mikro-orm/migrations';

/** Stores what is doubtful about the file of a datasource. It is unknown of earlier uploads. */
export class FileProblems extends Migration {
  override up(): void {
    this.addSql(`alter table dws.datasource add column problems jsonb not null default '[]'::jsonb;`);
  }
}

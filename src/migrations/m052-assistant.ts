import { Migration } from '@mikro-orm/migrations';
import { ownedTable } from './owned-table.ts';

/** Creates assistants. */
export class Assistants extends Migration {
  override up(): void {
    const columns = [
      'icon text',
      'instructions text',
      'model text',
      `toolkit_ids jsonb not null default '[]'`,
      `dataset_ids jsonb not null default '[]'`,
      `events jsonb not null default '[]'`,
    ];
    for (const sql of ownedTable('assistant', 'assistant', columns)) this.addSql(sql);
  }
}

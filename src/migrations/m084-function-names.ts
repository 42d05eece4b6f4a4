import { Migration } from '@mikro-orm/migrations';
import { databaseFunction } from './database-function.ts';

/** The functions of the database get names that say what they do. From now on they stand in schema/functions. */
export class FunctionNames extends Migration {
  override up(): void {
    this.addSql(`alter function dws.tell() rename to publish_change;`);
    for (const [table, trigger] of [
      ['activity', 'feed'],
      ['api_token', 'credential'],
      ['app_user', 'credential'],
      ['dataset', 'dataset'],
      ['mail', 'mail'],
      ['notification', 'notification'],
      ['operation', 'operation'],
      ['session', 'credential'],
      ['team_member', 'credential'],
    ])
      this.addSql(`alter trigger tell_${trigger} on dws.${table} rename to publish_${trigger};`);
    this.addSql(`alter function dws.slips(text) rename to misspellings;`);
    this.addSql(`drop function dws.search_query(text, text, boolean);`);
    for (const name of ['new_id', 'search_query', 'search_document']) this.addSql(databaseFunction(name));
  }
}

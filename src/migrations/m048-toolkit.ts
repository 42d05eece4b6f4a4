import { Migration } from '@mikro-orm/migrations';
import { ownedTable } from './owned-table.ts';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates toolkits and their tools. */
export class Toolkits extends Migration {
  override up(): void {
    const columns = [
      `type text not null check (type in ('mcp-stdio', 'mcp-remote', 'custom'))`,
      `config jsonb not null default '{}'`,
      'sealed_secrets text',
      'server_info jsonb',
      'discovered_at timestamptz',
      'enabled boolean not null default true',
    ];
    for (const sql of ownedTable('toolkit', 'toolkit', columns)) this.addSql(sql);
    this.addSql(`create table dws.toolkit_tool (${ROW},
      toolkit_id uuid not null references dws.toolkit on delete cascade, position integer not null check (position >= 0),
      name text not null, description text, input_schema jsonb not null default '{}',
      approved boolean not null default false, query_id uuid, unique (toolkit_id, name));`);
    this.addSql(`create index toolkit_tool_query on dws.toolkit_tool (query_id) where query_id is not null;`);
    this.addSql(ofTenants('toolkit_tool'));
  }
}

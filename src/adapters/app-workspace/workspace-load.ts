import pg from 'pg';
import type { WorkspaceLoad, WorkspaceState } from '../../core/app-workspace.ts';
import type { AdminQuery } from './admin.ts';
import { copyIn } from './copy-stream.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';
import { COPY_TIMEOUT_MS, copyQuery, ofTable, TABLES, type CopyQuery } from './workspace-dump.ts';

const id = pg.escapeIdentifier;

/** A foreign key of a workspace: names as SQL. */
export type ForeignKey = Record<'table' | 'name' | 'definition', string>;

/** Returns the foreign keys of a schema. Roles of apps may not read the definitions of constraints. */
export const foreignKeysOf = (query: AdminQuery, schema: string): Promise<ForeignKey[]> =>
  query(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_catalog.pg_constraint
    where connamespace = $1::regnamespace and contype = 'f' and conparentid = 0`,
    [schema],
  ) as Promise<ForeignKey[]>;

/**
 * Begins to replace the rows of a workspace, without triggers, policies and foreign keys, on a connection of the role
 * that owns the tables.
 */
export async function beginLoad(
  connection: WorkspaceConnection,
  schema: string,
  { sequences, keys, signal }: Pick<WorkspaceState, 'sequences'> & { keys: ForeignKey[]; signal: AbortSignal },
): Promise<WorkspaceLoad> {
  const query = copyQuery(connection, signal);
  await query('begin');
  const restoreRules = await suspendRules(query, schema, keys);
  return {
    async insert({ name, columns }, rows) {
      const sql = `copy ${id(schema)}.${id(name)} (${columns.map(id).join(', ')}) from stdin`;
      try {
        await connection.use(signal, COPY_TIMEOUT_MS, (client) => copyIn(client, sql, rows));
      } catch (error) {
        throw ofTable(name, error);
      }
    },
    async finish() {
      await restoreRules();
      for (const { name, lastValue, isCalled } of sequences)
        await query('select setval($1::regclass, $2, $3)', [`${id(schema)}.${id(name)}`, lastValue, isCalled]);
      const views = `select relname as name from pg_catalog.pg_class
        where relnamespace = $1::regnamespace and relkind = 'm' order by oid`;
      for (const { name } of await query<'name'>(views, [schema]))
        await query(`refresh materialized view ${id(schema)}.${id(name)}`);
      await query('commit');
    },
    close: () => connection.close(),
  };
}

/**
 * Empties all tables and suspends everything that would refuse or change their rows. Returns a function that restores
 * it.
 */
async function suspendRules(query: CopyQuery, schema: string, keys: ForeignKey[]): Promise<() => Promise<void>> {
  const found = (await query(TABLES, [schema])) as unknown as { name: string; isForced: boolean }[];
  const tables = found.map(({ name, isForced }) => ({ name: `${id(schema)}.${id(name)}`, isForced }));
  const forced = tables.filter(({ isForced }) => isForced);
  const triggers = await query<'table' | 'name' | 'state'>(
    `select t.tgrelid::regclass::text as table, quote_ident(t.tgname) as name, case t.tgenabled
      when 'R' then 'enable replica' when 'A' then 'enable always' else 'enable' end as state
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_class c on c.oid = t.tgrelid
    where c.relnamespace = $1::regnamespace and c.relkind = 'r' and not t.tgisinternal and t.tgenabled <> 'D'`,
    [schema],
  );
  for (const { table, name } of triggers) await query(`alter table ${table} disable trigger ${name}`);
  for (const { table, name } of keys) await query(`alter table ${table} drop constraint ${name}`);
  for (const { name } of forced) await query(`alter table only ${name} no force row level security`);
  if (tables.length > 0) await query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
  return async () => {
    for (const { table, name, definition } of keys)
      await query(`alter table ${table} add constraint ${name} ${definition}`);
    for (const { name } of forced) await query(`alter table only ${name} force row level security`);
    for (const { table, name, state } of triggers) await query(`alter table ${table} ${state} trigger ${name}`);
  };
}

import pg from 'pg';
import type { WorkspaceDump, WorkspaceLoad, WorkspaceState } from '../../core/app-workspace.ts';
import { MIGRATIONS_TABLE } from './workspace-roles.ts';

const id = pg.escapeIdentifier;

/** A row can have 16 MB. */
const ROWS_PER_FETCH = 20;

/** The tables of the schema `$1` with rows of their own, without that of the service. */
const TABLES = `
  select relname as name
  from pg_catalog.pg_class
  where relnamespace = $1::regnamespace and relkind = 'r' and relname <> '${MIGRATIONS_TABLE}'
  order by relname`;

type Row<K extends string> = Record<K, string>;

const select = async <K extends string>(client: pg.Client, text: string, values: unknown[]): Promise<Row<K>[]> =>
  (await client.query<Row<K>>(text, values)).rows;

/** Reads a workspace in one snapshot, until it is closed. */
export async function openDump(client: pg.Client, schema: string): Promise<WorkspaceDump> {
  await client.query('begin transaction isolation level repeatable read read only');
  // A policy that would hide rows is an error.
  await client.query('set local row_security = off');
  const migrations = await client.query<WorkspaceState['migrations'][number]>(
    `select filename, to_json(applied_at)#>>'{}' as "appliedAt", duration from ${id(schema)}.${id(MIGRATIONS_TABLE)}`,
  );
  const tables = await select<'name'>(client, TABLES, [schema]);
  const sequences: WorkspaceState['sequences'] = [];
  for (const { name } of await select<'name'>(
    client,
    `select relname as name from pg_catalog.pg_class where relnamespace = $1::regnamespace and relkind = 'S'`,
    [schema],
  )) {
    const [state] = (
      await client.query<{ lastValue: string; isCalled: boolean }>(
        `select last_value::text as "lastValue", is_called as "isCalled" from ${id(schema)}.${id(name)}`,
      )
    ).rows;
    sequences.push({ name, ...state! });
  }
  return {
    state: { migrations: migrations.rows, tables: tables.map(({ name }) => name), sequences },
    async *rowsOf(table) {
      await client.query(
        `declare rows no scroll cursor for select row_to_json(t)::text as row from only ${id(schema)}.${id(table)} t`,
      );
      for (;;) {
        const rows = await select<'row'>(client, `fetch ${ROWS_PER_FETCH} from rows`, []);
        for (const { row } of rows) yield row;
        if (rows.length === 0) break;
      }
      await client.query('close rows');
    },
    close: () => client.end(),
  };
}

/** Begins to replace the rows of a workspace, without triggers and foreign keys, as the role that owns the tables. */
export async function beginLoad(
  client: pg.Client,
  schema: string,
  { sequences }: WorkspaceState,
): Promise<WorkspaceLoad> {
  await client.query('begin');
  const tables = (await select<'name'>(client, TABLES, [schema])).map(({ name }) => `${id(schema)}.${id(name)}`);
  const keys = await select<'table' | 'name' | 'definition'>(
    client,
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_catalog.pg_constraint
    where connamespace = $1::regnamespace and contype = 'f' and conparentid = 0`,
    [schema],
  );
  const triggers = await select<'table' | 'name' | 'state'>(
    client,
    `select t.tgrelid::regclass::text as table, quote_ident(t.tgname) as name, case t.tgenabled
      when 'R' then 'enable replica' when 'A' then 'enable always' else 'enable' end as state
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_class c on c.oid = t.tgrelid
    where c.relnamespace = $1::regnamespace and c.relkind = 'r' and not t.tgisinternal and t.tgenabled <> 'D'`,
    [schema],
  );
  for (const { table, name } of triggers) await client.query(`alter table ${table} disable trigger ${name}`);
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`);
  if (tables.length > 0) await client.query(`truncate ${tables.join(', ')}`);
  return {
    insert: (table, rows) => insertRows(client, `${id(schema)}.${id(table)}`, rows),
    async finish() {
      for (const { table, name, definition } of keys)
        await client.query(`alter table ${table} add constraint ${name} ${definition}`);
      for (const { table, name, state } of triggers)
        await client.query(`alter table ${table} ${state} trigger ${name}`);
      for (const { name, lastValue, isCalled } of sequences)
        await client.query('select setval($1::regclass, $2, $3)', [`${id(schema)}.${id(name)}`, lastValue, isCalled]);
      const views = `select relname as name from pg_catalog.pg_class
        where relnamespace = $1::regnamespace and relkind = 'm' order by oid`;
      for (const { name } of await select<'name'>(client, views, [schema]))
        await client.query(`refresh materialized view ${id(schema)}.${id(name)}`);
      await client.query('commit');
    },
    close: () => client.end(),
  };
}

async function insertRows(client: pg.Client, table: string, rows: readonly string[]): Promise<void> {
  const columns = await select<'name'>(
    client,
    `select quote_ident(attname) as name
    from pg_catalog.pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  const names = columns.map(({ name }) => name).join(', ');
  if (names === '') return;
  await client.query(
    `insert into ${table} (${names}) overriding system value
      select ${names} from json_populate_recordset(null::${table}, $1::json)`,
    [`[${rows.join(',')}]`],
  );
}

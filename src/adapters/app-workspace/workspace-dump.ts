import pg from 'pg';
import { SqlFailure, type WorkspaceDump, type WorkspaceState, type WorkspaceTable } from '../../core/app-workspace.ts';
import { copyOut } from './copy-stream.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';
import { MIGRATIONS_TABLE } from './workspace-roles.ts';

const id = pg.escapeIdentifier;

/** Longest time for one statement of a backup or a restore, and for the next part of the rows of a table. */
export const COPY_TIMEOUT_MS = 10 * 60_000;
/** Longest wait for a table that the app has locked. */
const LOCK_TIMEOUT_MS = 60_000;

const ALL_ROWS = { rows: Infinity, bytes: Infinity };

/** Runs statements of a backup or a restore. */
export type CopyQuery = <K extends string>(sql: string, params?: readonly unknown[]) => Promise<Record<K, string>[]>;

/** Returns a function that runs statements on a connection, each for a limited time. */
export const copyQuery =
  (connection: WorkspaceConnection, signal: AbortSignal): CopyQuery =>
  async <K extends string>(sql: string, params: readonly unknown[] = []) =>
    (await connection.run(sql, params, signal, ALL_ROWS, COPY_TIMEOUT_MS)) as Record<K, string>[];

/** The tables of the schema `$1` with rows of their own, without the service's table. */
export const TABLES = `
  select relname as name, relrowsecurity and relforcerowsecurity as "isForced",
    array(
      select attname::text
      from pg_catalog.pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
      order by attnum
    ) as columns
  from pg_catalog.pg_class c
  where relnamespace = $1::regnamespace and relkind = 'r' and relname <> '${MIGRATIONS_TABLE}'
  order by relname`;

/**
 * Reads a workspace in one snapshot, on a connection of the role that owns the tables, until it is closed. Rows are read
 * by COPY, which runs no code of the app: output functions belong to Postgres, and casts, views and policies do not
 * apply.
 */
export async function openDump(
  connection: WorkspaceConnection,
  schema: string,
  signal: AbortSignal,
): Promise<WorkspaceDump> {
  const query = copyQuery(connection, signal);
  await query('begin transaction isolation level repeatable read');
  // A policy that would hide rows is an error.
  await query('set local row_security = off');
  await query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const migrations = await query(
    `select filename, to_json(applied_at)#>>'{}' as "appliedAt", duration from ${id(schema)}.${id(MIGRATIONS_TABLE)}`,
  );
  const found = (await query(TABLES, [schema])) as unknown as (WorkspaceTable & { isForced: boolean })[];
  const forced = new Set(found.filter(({ isForced }) => isForced).map(({ name }) => name));
  const tables = found.map(({ name, columns }) => ({ name, columns }));
  return {
    state: {
      migrations: migrations as unknown as WorkspaceState['migrations'],
      tables,
      sequences: await readSequences(query, schema),
    },
    rowsOf: (table) => readRows(connection, schema, { ...table, isForced: forced.has(table.name) }, signal),
    // Ending the connection undoes the transaction.
    close: () => connection.close(),
  };
}

/** Reads the rows of a table within the transaction of a dump. */
async function* readRows(
  connection: WorkspaceConnection,
  schema: string,
  { name, columns, isForced }: WorkspaceTable & { isForced: boolean },
  signal: AbortSignal,
): ReturnType<WorkspaceDump['rowsOf']> {
  if (columns.length === 0) return;
  const query = copyQuery(connection, signal);
  const table = `${id(schema)}.${id(name)}`;
  try {
    await query('savepoint before_rows');
    // Policies that are forced apply to the owner. The savepoint returns them, and releases the lock of the change.
    if (isForced) await query(`alter table only ${table} no force row level security`);
    const next = copyOut(connection.client, `copy ${table} (${columns.map(id).join(', ')}) to stdout`);
    for (;;) {
      const part = await connection.use(signal, COPY_TIMEOUT_MS, next);
      if (part === undefined) break;
      yield part;
    }
    await query('rollback to savepoint before_rows');
  } catch (error) {
    throw ofTable(name, error);
  }
}

/** Returns the error of a table with its name. */
export const ofTable = (name: string, error: unknown): unknown =>
  error instanceof SqlFailure
    ? new SqlFailure(error.code, `The table ${JSON.stringify(name)}: ${error.message}`)
    : error;

async function readSequences(query: CopyQuery, schema: string): Promise<WorkspaceState['sequences']> {
  const found = await query<'name'>(
    `select relname as name from pg_catalog.pg_class where relnamespace = $1::regnamespace and relkind = 'S'`,
    [schema],
  );
  const sequences: WorkspaceState['sequences'] = [];
  for (const { name } of found) {
    const [state] = await query(
      `select last_value::text as "lastValue", is_called as "isCalled" from ${id(schema)}.${id(name)}`,
    );
    sequences.push({ name, ...(state as unknown as { lastValue: string; isCalled: boolean }) });
  }
  return sequences;
}

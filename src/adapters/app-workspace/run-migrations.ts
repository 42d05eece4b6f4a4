import { Readable } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { SqlFailure, type MigrationFile, type MigrationRun, type TableLimit } from '../../core/app-workspace.ts';
import { badInput, upstreamFailed } from '../../core/errors.ts';
import { lineAt, splitStatements, type SqlStatement } from '../../core/sql-statements.ts';
import type { Admin, AdminQuery } from './admin.ts';
import { copyIn } from './copy-stream.ts';
import { WITHOUT_ROWS } from './statement.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';
import { checkMigration, MIGRATION_LOCK_TIMEOUT_MS, sizeOf } from './workspace-quota.ts';
import { MIGRATIONS_TABLE, schemaOfRole } from './workspace-roles.ts';

/** Folder of the migrations in the files of an app, for messages. */
const FOLDER = 'migrations';

interface ParsedFile extends MigrationFile {
  statements: SqlStatement[];
}

type LimitedRun = MigrationRun & { limit: TableLimit };

const isLimited = ({ quota, refusal }: TableLimit): boolean => quota < Infinity || refusal !== null;

/** Longest wait for transactions that may see what a migration has deleted, and the pause between two checks. */
const OLDER_TRANSACTIONS_TIMEOUT_MS = 10_000;
const OLDER_TRANSACTIONS_PAUSE_MS = 100;

/** A statement may take the time of the operation: its signal ends it. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Runs the files that have not run, on a connection of the role that owns the tables. See `AppWorkspaces.migrate`.
 */
export async function runMigrations(
  connection: WorkspaceConnection,
  files: readonly MigrationFile[],
  run: LimitedRun,
): Promise<string[]> {
  const table = `${pg.escapeIdentifier(schemaOfRole(connection.role))}.${pg.escapeIdentifier(MIGRATIONS_TABLE)}`;
  const applied = new Set(
    (await execute(connection, `select filename from ${table}`, [], run.signal, true)).map(({ filename }) => filename),
  );
  const pending: ParsedFile[] = [];
  for (const file of files.filter(({ filename }) => !applied.has(filename)))
    pending.push({ ...file, statements: await parse(file) });
  const migrated: string[] = [];
  const growth = {
    former: isLimited(run.limit) ? await sizeOf(connection, run.signal, MIGRATION_LOCK_TIMEOUT_MS) : 0,
  };
  if (run.dryRun) await execute(connection, 'begin', [], run.signal);
  for (const file of pending) {
    if (await runFile(connection, table, file, { ...run, growth })) migrated.push(file.filename);
    run.onFile?.(migrated.length);
  }
  if (run.dryRun) await execute(connection, 'rollback', [], run.signal);
  return migrated;
}

/** Returns the statements of a file. Throws BAD_USER_INPUT if it is not a text, or ends its transaction. */
async function parse(file: MigrationFile): Promise<SqlStatement[]> {
  const place = `${FOLDER}/${file.filename}`;
  const bytes = await file.read();
  let script: string;
  try {
    script = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw badInput(`${place}: The file is not UTF-8`, { cause: error });
  }
  if (script.includes('\0')) throw badInput(`${place}: The file contains the character U+0000`);
  const statements = splitStatements(script);
  const command = statements.find(({ transactionCommand }) => transactionCommand !== null);
  if (command)
    throw badInput(
      `${place}:${command.line}: ${command.transactionCommand} is not possible: each file runs in one transaction`,
    );
  // Large files take a while, in which others have their turns.
  await setImmediate();
  return statements;
}

/**
 * Runs a file with the row that records it. Returns whether it has run: another process may have run it during the
 * wait.
 */
async function runFile(
  connection: WorkspaceConnection,
  table: string,
  { filename, checksum, statements }: ParsedFile,
  { dryRun, signal, limit, growth }: LimitedRun & { growth: { former: number } },
): Promise<boolean> {
  const start = performance.now();
  // A statement ends soon after its process. Not all systems of servers support it.
  if (!dryRun) await execute(connection, 'set client_connection_check_interval = 5000', [], signal).catch(() => {});
  if (!dryRun) await execute(connection, 'begin', [], signal);
  // The first statement, because it waits for another transaction with the same file.
  const recorded = await execute(
    connection,
    `insert into ${table} (filename, checksum) values ($1, $2) on conflict do nothing returning filename`,
    [filename, checksum],
    signal,
    true,
  );
  for (const statement of recorded.length > 0 ? statements : []) await runOne(connection, filename, statement, signal);
  try {
    // The constraints at the end of a transaction are checked in a dry run, too.
    await execute(connection, 'set constraints all immediate', [], signal);
    if (isLimited(limit)) {
      const bytes = await sizeOf(connection, signal, MIGRATION_LOCK_TIMEOUT_MS);
      checkMigration(limit, bytes, growth.former);
      growth.former = bytes;
    }
    const duration = Math.round(performance.now() - start);
    await execute(connection, `update ${table} set duration = $2 where filename = $1`, [filename, duration], signal);
    // No file depends on settings of another.
    if (dryRun) await execute(connection, 'reset all', [], signal);
    else await execute(connection, 'commit', [], signal);
  } catch (error) {
    throw atLine(error, filename, statements.at(-1)?.line ?? 1);
  }
  if (!dryRun) await execute(connection, 'discard all', [], signal);
  return recorded.length > 0;
}

async function runOne(
  connection: WorkspaceConnection,
  filename: string,
  { text, line, copyRows }: SqlStatement,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (copyRows === null) await execute(connection, text, [], signal);
    else
      await connection.use(signal, NO_TIMEOUT_MS, (client) =>
        copyIn(client, text, Readable.from([Buffer.from(copyRows)])),
      );
  } catch (error) {
    const position = error instanceof SqlFailure ? error.position : null;
    // Postgres counts characters; some of them are two code units.
    const before = position === null ? 0 : [...text].slice(0, position).join('').length;
    throw atLine(error, filename, lineAt(text, before, line));
  }
  if (!connection.isInTransaction)
    throw upstreamFailed(`${FOLDER}/${filename}:${line}: The statement ended the transaction of the file`);
}

/**
 * Frees the space of deleted rows and of undone files, which counts until then, if the tables of an app have more than
 * `maxBytes`. If that fails, e.g. because a table is locked, nothing changes. Rows that a long-running transaction may
 * see stay.
 */
export async function compactPastQuota(
  connection: WorkspaceConnection,
  admin: Admin,
  maxBytes: number,
  signal: AbortSignal,
): Promise<void> {
  if (maxBytes === Infinity || !connection.isUsable) return;
  try {
    await execute(connection, 'rollback', [], signal);
    if ((await sizeOf(connection, signal, MIGRATION_LOCK_TIMEOUT_MS)) <= maxBytes) return;
    const found = await execute(
      connection,
      `select quote_ident(relname) as name from pg_catalog.pg_class
        where relnamespace = $1::regnamespace and relkind in ('r', 'm') and relname <> '${MIGRATIONS_TABLE}'`,
      [schemaOfRole(connection.role)],
      signal,
      true,
    );
    const tables = found.map(({ name }) => String(name)).join(', ');
    if (tables === '') return;
    await admin.inspect((query) => waitForOlderTransactions(query, signal));
    await execute(connection, `vacuum (full) ${tables}`, [], signal);
  } catch {
    // Only the result of the migrations counts, and is reported.
  }
}

/**
 * Waits for the transactions that may see the deleted rows, because Postgres keeps the rows as long: transactions of
 * the server that write, and transactions of this database that only read.
 */
async function waitForOlderTransactions(query: AdminQuery, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + OLDER_TRANSACTIONS_TIMEOUT_MS;
  const [now] = await query(`select pg_snapshot_xmax(pg_current_snapshot())::text as next`);
  const hasOlder = async () => {
    const [row] = await query(HAS_OLDER, [now!['next']]);
    return row!['hasOlder'] === true;
  };
  while ((await hasOlder()) && performance.now() < deadline)
    await setTimeout(OLDER_TRANSACTIONS_PAUSE_MS, undefined, { signal });
}

/** SQL: whether a transaction runs that is older than the number `$1`. */
const HAS_OLDER = `
  select pg_snapshot_xmin(pg_current_snapshot()) < $1::xid8 or exists (
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and age(backend_xmin) > age($1::xid8::xid)
  ) as "hasOlder"`;

/** Returns the error of a statement with its place. Errors of other causes are returned as they are. */
const atLine = (error: unknown, filename: string, line: number): unknown =>
  error instanceof SqlFailure
    ? upstreamFailed(`${FOLDER}/${filename}:${line}: ${error.message}`, { cause: error })
    : error;

const execute = (
  connection: WorkspaceConnection,
  sql: string,
  params: readonly unknown[],
  signal: AbortSignal,
  returnsRows = false,
) =>
  connection.run(sql, params, signal, returnsRows ? { rows: Infinity, bytes: Infinity } : WITHOUT_ROWS, NO_TIMEOUT_MS);

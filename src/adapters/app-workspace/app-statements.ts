import {
  SqlFailure,
  type StatementOptions,
  type WorkspaceKey,
  type WorkspaceQuery,
  type WorkspaceRow,
} from '../../core/app-workspace.ts';
import { transactionCommandIn } from '../../core/sql-statements.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';
import { explainRefusal, type WorkspaceQuota } from './workspace-quota.ts';

const FAILED_TRANSACTION = '25P02';
const READ_ONLY_TRANSACTION = '25006';

const noTransaction = () => new SqlFailure('25001', 'A transaction is not possible here: use transaction()');

/** Begins a transaction that only reads, which its statements cannot change once it has a snapshot. */
async function beginReading(connection: WorkspaceConnection, signal: AbortSignal): Promise<void> {
  await connection.run('begin transaction read only', [], signal);
  await connection.run('select', [], signal);
}

interface AppStatement {
  key: WorkspaceKey;
  sql: string;
  params: readonly unknown[];
  signal: AbortSignal;
  /** See `StatementOptions`. */
  readOnlyReason?: StatementOptions['readOnlyReason'] | undefined;
}

/** Runs one statement of an app in its own transaction, which only reads past the quota and where it must not write. */
export async function runAlone(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  statement: AppStatement,
): Promise<WorkspaceRow[]> {
  const { sql, params, signal } = statement;
  const explain = await explainReading(connection, quota, statement);
  if (explain) {
    if (transactionCommandIn(sql)) throw noTransaction();
    await beginReading(connection, signal);
    return runReading(connection, statement, explain);
  }
  const rows = await connection.run(sql, params, signal);
  if (connection.isInTransaction) throw noTransaction();
  return rows;
}

/** Returns the error of a statement that only reads, with the reason where it writes. */
type Explain = (error: unknown) => unknown;

/** Returns how errors are explained if the next statement only reads; null if it may write. */
async function explainReading(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  { key, signal, readOnlyReason }: Pick<AppStatement, 'key' | 'signal' | 'readOnlyReason'>,
): Promise<Explain | null> {
  const refusal = await quota.refusalOf(connection, key, signal);
  const reason = readOnlyReason?.() ?? null;
  if (reason !== null) return (error) => withReason(error, reason);
  return refusal === null ? null : (error) => explainRefusal(error, refusal);
}

const withReason = (error: unknown, reason: string): unknown =>
  error instanceof SqlFailure && error.code === READ_ONLY_TRANSACTION
    ? new SqlFailure(error.code, `${reason}: ${error.message}`, error.position)
    : error;

const runReading = (
  connection: WorkspaceConnection,
  { sql, params, signal }: AppStatement,
  explain: Explain,
): Promise<WorkspaceRow[]> =>
  connection.run(sql, params, signal).catch((error: unknown) => {
    throw explain(error);
  });

/** Runs the work of an app in one transaction, which only reads past the quota and from when it must not write. */
export async function runTransaction<T>(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  work: (query: WorkspaceQuery) => Promise<T>,
  options: Pick<AppStatement, 'key' | 'signal' | 'readOnlyReason'>,
): Promise<T> {
  const { key, signal } = options;
  let isOpen = true;
  // One after the other, so that the messages of one statement stay together.
  let last: Promise<unknown> = Promise.resolve();
  const query: WorkspaceQuery = async (sql, params = []) => {
    if (!isOpen) throw new SqlFailure('25P01', 'The transaction has ended');
    const command = transactionCommandIn(sql);
    if (command) throw new SqlFailure('2D000', `${command} is not possible in a transaction`);
    const running = last.then(() => runNext(connection, quota, { sql, params, ...options }));
    last = running.catch(() => {});
    return running;
  };
  // Cheaper than in the transaction.
  await quota.refusalOf(connection, key, signal);
  await connection.run('begin', [], signal);
  try {
    const result = await work(query);
    isOpen = false;
    await last;
    // A failed transaction would be undone without an error.
    await connection.run('select', [], signal);
    await endReading(connection, quota, options);
    await connection.run('commit', [], signal);
    return result;
  } finally {
    isOpen = false;
    await last;
  }
}

/**
 * Runs the triggers that a transaction has deferred to its end, which only read where its next statement would. They run
 * before the commit, because that first ends open savepoints, and the end of a savepoint lets the transaction write again.
 */
async function endReading(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  options: Pick<AppStatement, 'key' | 'signal' | 'readOnlyReason'>,
): Promise<void> {
  const explain = await explainReading(connection, quota, options);
  if (!explain) return;
  await connection.run('set transaction read only', [], options.signal);
  await runReading(connection, { sql: 'set constraints all immediate', params: [], ...options }, explain);
}

async function runNext(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  statement: AppStatement,
): Promise<WorkspaceRow[]> {
  const { sql, params, signal } = statement;
  const explain = await explainReading(connection, quota, statement);
  if (!explain) return connection.run(sql, params, signal);
  // Repeated each time, because a return to a savepoint undoes it. A failed transaction writes nothing either. The
  // snapshot comes before the statement, which could otherwise reset the setting.
  for (const first of ['set transaction read only', 'select'])
    await connection.run(first, [], signal).catch((error: unknown) => {
      if ((error as SqlFailure).code !== FAILED_TRANSACTION) throw error;
    });
  return runReading(connection, statement, explain);
}

import { SqlFailure, type WorkspaceQuery, type WorkspaceRow } from '../../core/app-workspace.ts';
import { transactionCommandIn } from '../../core/sql-statements.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';
import type { WorkspaceQuota } from './workspace-quota.ts';

const FAILED_TRANSACTION = '25P02';

const noTransaction = () => new SqlFailure('25001', 'A transaction is not possible here: use transaction()');

/** Begins a transaction that only reads, which its statements cannot change once it has a snapshot. */
async function beginReading(connection: WorkspaceConnection, signal: AbortSignal): Promise<void> {
  await connection.run('begin transaction read only', [], signal);
  await connection.run('select', [], signal);
}

interface AppStatement {
  sql: string;
  params: readonly unknown[];
  signal: AbortSignal;
}

/** Runs one statement of an app in its own transaction, which only reads past the quota. */
export async function runAlone(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  { sql, params, signal }: AppStatement,
): Promise<WorkspaceRow[]> {
  if (await quota.isExceeded(connection, signal)) {
    if (transactionCommandIn(sql)) throw noTransaction();
    await beginReading(connection, signal);
    return runReading(connection, quota, { sql, params, signal });
  }
  const rows = await connection.run(sql, params, signal);
  if (connection.isInTransaction) throw noTransaction();
  return rows;
}

const runReading = (
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  { sql, params, signal }: AppStatement,
): Promise<WorkspaceRow[]> =>
  connection.run(sql, params, signal).catch((error: unknown) => {
    throw quota.explain(error);
  });

/** Runs the work of an app in one transaction, which only reads past the quota. */
export async function runTransaction<T>(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  work: (query: WorkspaceQuery) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let isOpen = true;
  // One after the other: what is sent for one statement stays together.
  let last: Promise<unknown> = Promise.resolve();
  const query: WorkspaceQuery = async (sql, params = []) => {
    if (!isOpen) throw new SqlFailure('25P01', 'The transaction has ended');
    const command = transactionCommandIn(sql);
    if (command) throw new SqlFailure('2D000', `${command} is not possible in a transaction`);
    const running = last.then(() => runNext(connection, quota, { sql, params, signal }));
    last = running.catch(() => {});
    return running;
  };
  // Cheaper than in the transaction.
  await quota.isExceeded(connection, signal);
  await connection.run('begin', [], signal);
  try {
    const result = await work(query);
    isOpen = false;
    await last;
    // A failed transaction would be undone without an error.
    await connection.run('select', [], signal);
    await connection.run('commit', [], signal);
    return result;
  } finally {
    isOpen = false;
    await last;
  }
}

async function runNext(
  connection: WorkspaceConnection,
  quota: WorkspaceQuota,
  statement: AppStatement,
): Promise<WorkspaceRow[]> {
  const { sql, params, signal } = statement;
  if (!(await quota.isExceeded(connection, signal))) return connection.run(sql, params, signal);
  // Each time, because a return to a savepoint undoes it. A failed transaction writes nothing either.
  await connection.run('set transaction read only', [], signal).catch((error: unknown) => {
    if ((error as SqlFailure).code !== FAILED_TRANSACTION) throw error;
  });
  return runReading(connection, quota, statement);
}

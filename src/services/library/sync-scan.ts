import type { SqlRow, Statement } from '../../core/database.ts';
import type { Transaction } from '../../core/platform.ts';
import type { SyncRun } from './sync-run.ts';

/** Number of rows that one query finds: each may read all files or folders of the library. */
export const FOUND_AT_ONCE = 20_000;
/** Number of files that one transaction changes. */
const CHUNK = 1000;

/**
 * Lets the statements of a transaction join all rows in one pass. The statistics of Postgres do not yet include what a
 * sync has stored: it would expect few rows, and read all of one table for each row of another one.
 */
export function joinByHash(tx: Transaction): void {
  tx.execute({ text: 'set local enable_nestloop = off' });
}

/** Runs a query that joins all files or folders of the library. */
export const queryAll = <R extends SqlRow>(run: SyncRun, statement: Statement): Promise<R[]> =>
  run.attempt.platform.database.transaction(run.tenantId, async (tx) => {
    joinByHash(tx);
    return tx.query<R>(statement);
  });

/**
 * Runs work on all files `f` that a query finds, in the order of their ids at the provider and 1,000 at a time. The
 * query ends with a condition. The work must not change whether the query finds the others.
 */
export async function forEachChunk<R extends SqlRow & { fileId: string }>(
  run: SyncRun,
  { text, values }: { text: string; values: readonly unknown[] },
  work: (files: R[]) => Promise<void>,
): Promise<void> {
  let found: R[] = [];
  do {
    found = await queryAll<R>(run, {
      text: `${text} and f.file_id > $${values.length + 1} order by f.file_id limit ${FOUND_AT_ONCE}`,
      values: [...values, found.at(-1)?.fileId ?? ''],
    });
    for (let start = 0; start < found.length; start += CHUNK) await work(found.slice(start, start + CHUNK));
  } while (found.length === FOUND_AT_ONCE);
}

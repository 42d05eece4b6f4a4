import { LIBRARY } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { loadUsedResource } from '../resource/load-resource.ts';

/** The flags of a sync. */
export interface SyncOptions {
  purge?: boolean | null;
  dryRun?: boolean | null;
  full?: boolean | null;
  progress?: string | null;
}

/** Returns the concurrency key under which the syncs of a library run, one at a time. */
export const syncKeyOf = (libraryId: string): string => `library:${libraryId}`;

/**
 * Syncs a library with its drive. Returns the operation; with `wait` after it ended. Joins a sync with the same flags that
 * has not started yet. Throws CONFLICT without a connection.
 */
export const sync = (
  ctx: Context,
  id: string,
  { purge, dryRun, full, progress }: SyncOptions,
  wait: boolean,
): Promise<OperationRecord> =>
  startInTransaction(ctx, wait, async (tx) => {
    const library = await loadUsedResource(ctx, tx, LIBRARY, id, 'library:sync');
    if (!library.integrationId) throw conflict('The library has no integration');
    await checkConnected(tx, library);
    const flags = { purge: purge ?? false, dryRun: dryRun ?? false, full: full ?? false };
    return operations.start(ctx, tx, {
      operation: 'library.sync',
      resource: { kind: 'library', id: library.id },
      input: { libraryId: library.id, ...flags },
      progress: progress ?? null,
      unit: 'files',
      concurrencyKey: syncKeyOf(library.id),
      fingerprint: JSON.stringify(flags),
    });
  });

/** Throws CONFLICT unless a library has a connection that is not expired. */
async function checkConnected(tx: Transaction, { tenantId, id }: { tenantId: string; id: string }): Promise<void> {
  const [connection] = await tx.query<{ status: string }>({
    text: `select status from dws.connection where tenant_id = $1 and library_id = $2`,
    values: [tenantId, id],
  });
  if (!connection) throw conflict('The library is not connected');
  if (connection.status !== 'connected') throw conflict('The connection of the library has expired');
}

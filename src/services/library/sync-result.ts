import type { LibrarySync } from '../../../entities/library-sync.ts';
import type { Transaction } from '../../core/platform.ts';
import { MAX_LISTED, type SyncRun } from './sync-run.ts';

/** Returns the result of a sync that is done. */
export async function loadResult(tx: Pick<Transaction, 'query'>, run: SyncRun): Promise<LibrarySync> {
  const { counts, isFull } = run.state;
  const [tenantId, scopeId, libraryId] = run.keys;
  const [files] = await tx.query<{ synced: number; skipped: number }>({
    text: `select (count(*) filter (where status = 'synced'))::int as synced,
        (count(*) filter (where status = 'skipped'))::int as skipped
      from dws.library_file
      where tenant_id = $1 and library_id = $2`,
    values: [tenantId, libraryId],
  });
  const errors = await tx.query<LibrarySync['errors'][number] & { total: number } & Record<string, unknown>>({
    text: `
      select "fileId", path, error->>'code' as code, error->>'message' as message, (count(*) over ())::int as total
      from (
        select c.file_id as "fileId", f.path, c.error
        from dws.library_sync_change c
        join dws.library_file f on f.library_id = $3 and f.file_id = c.file_id
        where c.tenant_id = $1 and c.scope_id = $2 and c.error is not null
        union all
        select folder_id, rtrim(path, '/'), error
        from dws.library_sync_folder
        where tenant_id = $1 and scope_id = $2 and error is not null and path is not null
      ) e
      order by path, "fileId"
      limit ${MAX_LISTED}`,
    values: [tenantId, scopeId, libraryId],
  });
  return {
    syncedFiles: files!.synced + (run.isDry ? counts.synced : 0),
    addedFiles: counts.added,
    updatedFiles: counts.updated,
    deletedFiles: counts.deleted,
    skippedFiles: files!.skipped + (run.isDry ? counts.skipped : 0),
    errors: errors.map(({ fileId, path, code, message }) => ({ fileId, path, code, message })),
    errorCount: errors[0]?.total ?? 0,
    full: isFull,
    dryRun: run.isDry,
    changes: run.isDry ? run.planned : null,
  };
}

import type { LibrarySync } from '../../entities/library-sync.ts';
import { notFound } from '../core/errors.ts';
import type { OperationFailure } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import { openDrive } from '../services/library/open-drive.ts';
import { recordSyncActivity } from '../services/library/sync-activity.ts';
import { runSync } from '../services/library/sync-phases.ts';
import { loadResult } from '../services/library/sync-result.ts';
import type { SyncedLibrary } from '../services/library/sync-run.ts';
import { deleteScope } from '../services/library/sync-state.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import type { Handler, RunningClaim, Prepared } from './handler.ts';

type SyncClaim = Claim<'library.sync'>;

/** Number of errors that `lastSync` of a library lists. */
const MAX_LAST_ERRORS = 100;

/** Syncs a library with its drive. A worker that takes over continues where the other one ended. */
export const librarySync = (open = openDrive): Handler<'library.sync'> => ({
  takeover: 'resumes',
  run: (job, platform) => syncLibrary(job, platform, open),
  onFailure: recordFailure,
});

async function syncLibrary(
  job: RunningClaim<'library.sync'>,
  platform: Platform,
  open: typeof openDrive,
): Promise<Prepared<'library.sync'>> {
  const controller = new AbortController();
  const signal = AbortSignal.any([job.signal, controller.signal]);
  const library = await loadLibrary(platform, job);
  const opened = await open(platform, library, signal);
  const run = await runSync({
    platform,
    claim: job,
    input: job.input,
    library,
    opened,
    signal,
    abort: (reason) => controller.abort(reason),
    progress: job.progress,
  });
  return {
    async publish(tx) {
      const result = await loadResult(tx, run);
      if (job.input.dryRun) deleteScope(tx, job.tenantId, job.workId);
      else await recordSuccess(tx, job, result);
      return result;
    },
  };
}

async function loadLibrary({ database }: Platform, { tenantId, input }: SyncClaim): Promise<SyncedLibrary> {
  const [library] = await database.query<SyncedLibrary & Record<string, unknown>>(tenantId, {
    text: `select id, tenant_id as "tenantId", settings from dws.library where tenant_id = $1 and id = $2`,
    values: [tenantId, input.libraryId],
  });
  if (!library) throw notFound({ what: 'library', id: input.libraryId });
  return library;
}

async function recordSuccess(tx: Transaction, claim: SyncClaim, result: LibrarySync): Promise<void> {
  const { changes: _, errors, ...numbers } = result;
  const at = new Date();
  const duration = at.getTime() - claim.startedAt.getTime();
  const last = { at, success: true, duration, ...numbers, errors: errors.slice(0, MAX_LAST_ERRORS), error: null };
  setLastSync(tx, claim, last, at);
  await recordSyncActivity(tx, claim, {
    addedFiles: result.addedFiles,
    updatedFiles: result.updatedFiles,
    deletedFiles: result.deletedFiles,
  });
}

/** Records the failure of a sync where the users of the library see it. */
async function recordFailure(claim: SyncClaim, { code, message }: OperationFailure, tx: Transaction): Promise<void> {
  deleteScope(tx, claim.tenantId, claim.workId);
  if (claim.input.dryRun) return;
  const at = new Date();
  const duration = at.getTime() - claim.startedAt.getTime();
  setLastSync(tx, claim, { at, success: false, duration, error: message, code }, null);
}

function setLastSync(tx: Transaction, { tenantId, input }: SyncClaim, last: object, syncedAt: Date | null): void {
  tx.execute({
    text: `
      update dws.library
      set last_sync = $3, last_sync_at = coalesce($4, last_sync_at), updated_at = now(), version = version + 1
      where tenant_id = $1 and id = $2`,
    values: [tenantId, input.libraryId, JSON.stringify(last), syncedAt],
  });
}

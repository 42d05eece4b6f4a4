import { ApiError } from '../../core/errors.ts';
import { deleteGone } from './sync-delete.ts';
import { applyFiles } from './sync-files.ts';
import { movePaths } from './sync-paths.ts';
import { readDrive, restart } from './sync-read.ts';
import { SyncRun, writeFenced, type SyncAttempt } from './sync-run.ts';
import {
  copyScope,
  deleteScope,
  forgetDone,
  forgetErrors,
  NO_COUNTS,
  readState,
  reopenFolders,
  saveState,
  type SyncState,
} from './sync-state.ts';

/** Number of attempts in a row that may store nothing: the next item to read may be what kills workers. */
const MAX_IDLE_ATTEMPTS = 3;

/**
 * Updates the files of a library from its drive. It first stores the drive's report, page by page, then updates one
 * file after the other, and finally deletes the files that are gone. A sync that was interrupted is continued.
 */
export async function runSync(attempt: SyncAttempt): Promise<SyncRun> {
  const run = await begin(attempt);
  await readDrive(run);
  if (run.state.phase === 'done') return run;
  await applyFiles(run);
  // A dry run that purges has counted all files as deleted.
  const hasFiles = !(run.isDry && attempt.input.purge);
  if (hasFiles && run.state.isTreeStale) await movePaths(run);
  if (hasFiles) await deleteGone(run);
  await run.write(async (tx) => {
    await forgetDone(tx, run.tenantId, run.state.scopeId);
    return { phase: 'done', isTreeStale: false };
  });
  return run;
}

/** Loads the state and decides where the sync begins. */
async function begin(attempt: SyncAttempt): Promise<SyncRun> {
  const { platform, claim, input, library, opened } = attempt;
  const query: SyncRun['query'] = (statement) => platform.database.query(library.tenantId, statement);
  const scopeId = input.dryRun ? claim.workId : library.id;
  // The results of an earlier attempt at a dry run are not stored.
  if (input.dryRun) await writeFenced(attempt, async (tx) => deleteScope(tx, library.tenantId, scopeId));
  const former = await readState(query, library.tenantId, library.id);
  const isContinued = former?.workId === claim.workId;
  // The attempts before this one have stored nothing.
  if (!isContinued && claim.attempt > MAX_IDLE_ATTEMPTS) throw endedTooOften();
  if (isContinued && former.validFor === opened.validFor) return resume(attempt, former);
  const listed = former?.phase === 'listing' ? former.counts.listed : 0;
  const fresh = { scopeId, workId: claim.workId, counts: { ...NO_COUNTS, listed }, purges: false };
  const next = { ...(former ?? newState(attempt)), ...fresh };
  const run = new SyncRun(attempt, next);
  const { purge: purges, full } = input;
  if (!former || former.validFor !== opened.validFor || full || purges) {
    await restart(run, { purges });
    return run;
  }
  await run.write(async (tx) => {
    if (input.dryRun) {
      saveState(tx, library.tenantId, next);
      copyScope(tx, library.tenantId, library.id, scopeId);
    }
    forgetErrors(tx, library.tenantId, scopeId);
    if (former.phase === 'listing') return {};
    const isReopened = await reopenFolders(tx, library.tenantId, scopeId);
    // Items that an interrupted sync has read are not read again, but later changes are.
    const isFull = former.phase !== 'done' && former.isFull;
    return { phase: 'changes', isFull, isTreeStale: former.isTreeStale || isReopened };
  });
  return run;
}

/** Continues a sync that another attempt began. Throws INTERNAL after three attempts that have stored nothing. */
async function resume(attempt: SyncAttempt, former: SyncState): Promise<SyncRun> {
  const idle = former.counts.idle + 1;
  if (idle >= MAX_IDLE_ATTEMPTS) throw endedTooOften();
  const state = { ...former, counts: { ...former.counts, idle } };
  await writeFenced(attempt, async (tx) => saveState(tx, attempt.library.tenantId, state));
  return new SyncRun(attempt, state);
}

const endedTooOften = () =>
  new ApiError(500, 'INTERNAL', `The worker process ended ${MAX_IDLE_ATTEMPTS} times without any progress of the sync`);

const newState = ({ library, opened, claim }: SyncAttempt): SyncState => ({
  scopeId: library.id,
  libraryId: library.id,
  validFor: opened.validFor,
  rootId: '',
  phase: 'listing',
  cursor: '',
  listingCursor: null,
  listingFolderId: null,
  isFull: true,
  purges: false,
  isTreeStale: false,
  workId: claim.workId,
  counts: NO_COUNTS,
});

import { DriveRefusal, isForbidden } from '../../adapters/drives/drive-refusal.ts';
import { closedFolder } from '../../adapters/drives/folder-cursor.ts';
import { CursorLost, type DrivePage } from '../../core/drive.ts';
import { ApiError, notFound, tooLarge, upstreamFailed } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkStorage } from '../resource/storage-limit.ts';
import { countAllFiles, deleteAllFiles } from './sync-delete.ts';
import { stageLongPaths } from './sync-paths.ts';
import type { SyncRun } from './sync-run.ts';
import { stageEvents } from './sync-stage.ts';
import { clearScope, reopenDone, type SyncCounts, type SyncState } from './sync-state.ts';
import { deleteOutside, deleteUnread, findUnlisted, markListed, openFolder, refreshPaths } from './sync-tree.ts';

/** Phases of a sync, as the `message` of its operation. */
const LISTING = 'Listing files';
const CHANGES = 'Reading changes';

/** Number of full listings that a sync begins because the drive no longer knows a cursor. */
const MAX_RESTARTS = 3;

/** Maximum number of items of a listing. */
const MAX_ITEMS = 1_000_000;

/** Maximum number of pages without items, besides one for each item: the page of an empty folder has none. */
const MAX_EMPTY_PAGES = 500;

/** Reads the drive's report until all of it is staged. */
export async function readDrive(run: SyncRun): Promise<void> {
  for (let restarts = 0; ; restarts += 1) {
    try {
      if (run.state.phase === 'listing') await readListing(run);
      if (run.state.phase === 'changes') await readChanges(run);
      if (run.state.phase === 'folders') await readFolders(run);
      return;
    } catch (error) {
      if (!(error instanceof CursorLost)) throw error;
      if (restarts === MAX_RESTARTS) throw upstreamFailed('The drive forgets its cursors', { cause: error });
      await restart(run, {});
    }
  }
}

/** Begins a full listing. Changes from now on are read after it. */
export async function restart(run: SyncRun, changes: Partial<SyncState>): Promise<void> {
  const { opened, library } = run.attempt;
  const { rootId } = library.settings;
  const root = await opened.drive.root(opened.access, rootId);
  const cursor = await opened.drive.start(opened.access, rootId);
  await run.write(async (tx) => {
    clearScope(tx, run.tenantId, run.state, run.state.validFor === opened.validFor);
    return {
      ...changes,
      counts: { ...run.state.counts, listed: 0 },
      validFor: opened.validFor,
      rootId: root,
      phase: 'listing',
      cursor,
      listingCursor: null,
      listingFolderId: null,
      isFull: true,
      isTreeStale: false,
    };
  });
}

async function readListing(run: SyncRun): Promise<void> {
  const { drive, access } = run.attempt.opened;
  run.attempt.progress({ message: LISTING });
  // The drive may no longer know a listing that an earlier attempt began.
  let mayBeLost = run.state.listingCursor !== null;
  const checkProgress = createProgressCheck(run.state.counts.listed);
  while (run.state.phase === 'listing') {
    await checkSpace(run);
    const { listingCursor } = run.state;
    const page = await drive
      .list(access, run.attempt.library.settings.rootId === null ? null : run.state.rootId, listingCursor)
      .catch((error: unknown) => {
        throw mayBeLost && isRefused(error) ? new CursorLost() : error;
      });
    mayBeLost = false;
    checkProgress(page, listingCursor);
    // Another attempt continues with the remaining files.
    if (run.state.purges && !run.isDry) await deleteAllFiles(run);
    const purged = run.state.purges && run.isDry ? await countAllFiles(run) : null;
    await run.write(async (tx) => {
      const counts = purged ?? run.state.counts;
      const isTreeStale = stagePage(tx, run, page, true);
      if (page.isLast) deleteUnread(tx, run);
      return {
        counts: countListed(counts, page),
        purges: false,
        isTreeStale,
        ...(page.isLast ? { phase: 'changes', listingCursor: null } : { listingCursor: page.cursor }),
      };
    });
  }
}

async function readChanges(run: SyncRun): Promise<void> {
  const { drive, access } = run.attempt.opened;
  run.attempt.progress({ message: CHANGES });
  const checkProgress = createProgressCheck(run.state.counts.listed);
  while (run.state.phase === 'changes') {
    await checkSpace(run);
    const { cursor } = run.state;
    const page = await drive.changes(access, run.attempt.library.settings.rootId, cursor);
    checkProgress(page, cursor);
    checkRoot(run, page);
    await run.write(async (tx) => {
      const isTreeStale = stagePage(tx, run, page, false);
      const counts = countListed(run.state.counts, page);
      const phase = page.isLast ? (isTreeStale ? 'folders' : 'files') : 'changes';
      return { cursor: page.cursor, isTreeStale, counts, phase };
    });
  }
}

/**
 * Lists the folders that came into the root: the changes need not name their contents. A listing may bring others into
 * the root, which the next round finds once the paths of all folders are computed again.
 */
async function readFolders(run: SyncRun): Promise<void> {
  run.attempt.progress({ message: LISTING });
  if (run.state.listingFolderId !== null) await listFolder(run, run.state.listingFolderId);
  for (let hasMore = true; hasMore;) {
    await checkSpace(run);
    await run.write(async (tx) => {
      refreshPaths(tx, run);
      return {};
    }, false);
    hasMore = await listUnlisted(run);
  }
  await run.write(async (tx) => {
    deleteOutside(tx, run);
    reopenDone(tx, run.tenantId, run.state.scopeId);
    stageLongPaths(tx, run);
    return { phase: 'files' };
  });
}

/** Lists the folders of a round. Returns whether there were any. */
async function listUnlisted(run: SyncRun): Promise<boolean> {
  let folderIds = await findUnlisted(run, '');
  const isAny = folderIds.length > 0;
  while (folderIds.length > 0) {
    for (const id of folderIds) await listFolder(run, id);
    folderIds = await findUnlisted(run, folderIds.at(-1)!);
  }
  return isAny;
}

/** Lists everything below a folder, from where an interrupted listing of it has ended. */
async function listFolder(run: SyncRun, folderId: string): Promise<void> {
  const { drive, access } = run.attempt.opened;
  let isContinued = run.state.listingFolderId === folderId;
  let cursor = isContinued ? run.state.listingCursor : null;
  const checkProgress = createProgressCheck(run.state.counts.listed);
  for (let isLast = false; !isLast;) {
    await checkSpace(run);
    const page = await drive.list(access, folderId, cursor).catch((error: unknown) => {
      if (isContinued && (error instanceof CursorLost || isRefused(error))) return null;
      if (isForbidden(error)) return { events: [closedFolder(folderId, error)], cursor: '', isLast: true };
      // A folder that is gone has no contents: the next sync learns of it.
      if (error instanceof ApiError && error.code === 'NOT_FOUND') return { events: [], cursor: '', isLast: true };
      throw error;
    });
    isContinued = false;
    if (page) checkProgress(page, cursor);
    if (page) await storeFolderPage(run, folderId, page, cursor === null);
    // Without a page, the folder is listed again from its beginning.
    cursor = page && page.cursor;
    isLast = page?.isLast ?? false;
  }
}

async function storeFolderPage(run: SyncRun, folderId: string, page: DrivePage, isFirst: boolean): Promise<void> {
  const { cursor, isLast, events } = page;
  const isClosed = events.some((event) => 'closedId' in event && event.closedId === folderId);
  await run.write(async (tx) => {
    if (isFirst && !isClosed) openFolder(tx, run, folderId);
    stagePage(tx, run, page, true);
    if (isLast) markListed(tx, run, folderId);
    const next = { listingFolderId: isLast ? null : folderId, listingCursor: isLast ? null : cursor };
    return { ...next, counts: countListed(run.state.counts, page) };
  });
}

/** Stages the events of a page. Returns whether paths of folders may have changed since they were computed. */
function stagePage(tx: Transaction, run: SyncRun, { events }: DrivePage, isListing: boolean): boolean {
  const [tenantId, scopeId, libraryId] = run.keys;
  const { rootId, isTreeStale } = run.state;
  const stage = { tenantId, scopeId, libraryId, rootId, isListing };
  return stageEvents(tx, stage, events) || isTreeStale;
}

/** Throws 413 or 503 while the tenant cannot store more: pages of a drive and paths of its folders may have any size. */
const checkSpace = ({ attempt, tenantId }: SyncRun): Promise<void> => checkStorage(attempt.platform, tenantId);

/**
 * Counts the items of each page of a listing, until the last one. Throws PAYLOAD_TOO_LARGE past the maximum: a listing
 * may have no end.
 */
function countListed(counts: SyncCounts, { events, isLast }: DrivePage): SyncCounts {
  const listed = counts.listed + events.length;
  if (listed > MAX_ITEMS) throw tooLarge(`The drive lists more than ${MAX_ITEMS} items: choose a smaller root folder`);
  return { ...counts, listed: isLast ? 0 : listed };
}

/**
 * Creates the check of the pages of one listing. `listed` is its number of items so far. Throws UPSTREAM_FAILED for a
 * drive that would be asked the same again, and for one that always names another page without items.
 */
function createProgressCheck(listed: number): (page: DrivePage, former: string | null) => void {
  let maxEmptyPages = MAX_EMPTY_PAGES + listed;
  let emptyPages = 0;
  return ({ cursor, events, isLast }, former) => {
    maxEmptyPages += events.length;
    if (events.length === 0) emptyPages += 1;
    if (isLast) return;
    if (cursor === former) throw upstreamFailed('The drive repeats a page of its listing');
    if (emptyPages > maxEmptyPages)
      throw upstreamFailed(`The drive has sent ${emptyPages} pages without items, and names another one`);
  };
}

/** Throws NOT_FOUND if the root folder is gone. Its files stay until it is there again or another one is set. */
function checkRoot({ state }: SyncRun, { events }: DrivePage): void {
  const isGone = events.some((event) => 'removedId' in event && event.removedId === state.rootId);
  if (isGone) throw notFound({ what: 'root folder', id: state.rootId });
}

/**
 * Returns whether a drive refuses a request because of its content, and not because of a temporary state or the
 * authorization.
 */
const isRefused = (error: unknown): boolean =>
  error instanceof ApiError &&
  !(error instanceof DriveRefusal && [401, 403].includes(error.httpStatus)) &&
  !['UNAVAILABLE', 'RATE_LIMITED', 'CANCELLED', 'CONFLICT'].includes(error.code);

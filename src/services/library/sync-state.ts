import type { Query } from '../../core/database.ts';
import { ApiError } from '../../core/errors.ts';
import type { OperationEnd } from '../../core/operation-ends.ts';
import type { Transaction } from '../../core/platform.ts';

/**
 * A phase of a sync. It lists all files, then reads the changes since the listing or the last sync. It lists the
 * folders that came into the root, and finally updates the files of the library.
 */
type SyncPhase = 'listing' | 'changes' | 'folders' | 'files' | 'done';

/** Progress of a sync: numbers of files with contents that it has changed, and the numbers that its limits bound. */
export interface SyncCounts {
  added: number;
  updated: number;
  deleted: number;
  /** Changes of the numbers of synced and skipped files. Only a dry run uses them. */
  synced: number;
  skipped: number;
  /** Items and pages of the current listing, or of the changes. */
  listed: number;
  /** Attempts in a row that have stored nothing. */
  idle: number;
}

export const NO_COUNTS: SyncCounts = { added: 0, updated: 0, deleted: 0, synced: 0, skipped: 0, listed: 0, idle: 0 };

/** The state of the syncs of a library. The state of a dry run is a copy, with its own folders and changes. */
export interface SyncState {
  /** Id of the library, or of the operation of a dry run. */
  scopeId: string;
  libraryId: string;
  /** The integration, account and settings that it is valid for, as text. Others require a full listing. */
  validFor: string;
  /** Id of the root folder at the provider. */
  rootId: string;
  phase: SyncPhase;
  /** Where the changes continue. */
  cursor: string;
  /** Where the listing continues: the full listing, or the listing of `listingFolderId`. Null at its beginning. */
  listingCursor: string | null;
  /** The folder that is being listed because it came into the root. Null between two of them. */
  listingFolderId: string | null;
  /** Whether files that were not reported are deleted. */
  isFull: boolean;
  /** Whether all files are deleted with the first page. */
  purges: boolean;
  /** Whether folders have changed: paths of files may have to follow. */
  isTreeStale: boolean;
  /** The work item of the sync that the counts belong to. */
  workId: string;
  counts: SyncCounts;
}

const COLUMNS = `scope_id as "scopeId", library_id as "libraryId", valid_for as "validFor", root_id as "rootId", phase,
  cursor, listing_cursor as "listingCursor", listing_folder_id as "listingFolderId", is_full as "isFull", purges,
  is_tree_stale as "isTreeStale", work_id as "workId", counts`;

/** Returns the state of a scope, or null. */
export async function readState(query: Query, tenantId: string, scopeId: string): Promise<SyncState | null> {
  const [state] = await query<SyncState & Record<string, unknown>>({
    text: `select ${COLUMNS} from dws.library_sync where tenant_id = $1 and scope_id = $2`,
    values: [tenantId, scopeId],
  });
  return state ? { ...state, counts: { ...NO_COUNTS, ...state.counts } } : null;
}

/** Stores the state of a scope. */
export function saveState(tx: Transaction, tenantId: string, state: SyncState): void {
  tx.execute({
    text: `
      insert into dws.library_sync (tenant_id, scope_id, library_id, valid_for, root_id, phase, cursor, listing_cursor,
        listing_folder_id, is_full, purges, is_tree_stale, work_id, counts)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      on conflict (scope_id) do update
      set valid_for = excluded.valid_for, root_id = excluded.root_id, phase = excluded.phase, cursor = excluded.cursor,
        listing_cursor = excluded.listing_cursor, listing_folder_id = excluded.listing_folder_id,
        is_full = excluded.is_full, purges = excluded.purges, is_tree_stale = excluded.is_tree_stale,
        work_id = excluded.work_id, counts = excluded.counts, updated_at = now()`,
    values: [
      tenantId,
      state.scopeId,
      state.libraryId,
      state.validFor,
      state.rootId,
      state.phase,
      state.cursor,
      state.listingCursor,
      state.listingFolderId,
      state.isFull,
      state.purges,
      state.isTreeStale,
      state.workId,
      JSON.stringify(state.counts),
    ],
  });
}

/** Deletes the state of a dry run, with its folders and changes. */
export function deleteScope(tx: Pick<Transaction, 'execute'>, tenantId: string, scopeId: string): void {
  tx.execute({
    text: `delete from dws.library_sync where tenant_id = $1 and scope_id = $2 and scope_id <> library_id`,
    values: [tenantId, scopeId],
  });
}

/** Deletes the state of a dry run whose sync was cancelled. */
export const syncEnd: OperationEnd<'library.sync'> = {
  cancelled: async (tx, { tenantId, workId }) => deleteScope(tx, tenantId, workId),
};

/** Copies folders and files to try again from the scope of a library to the scope of a dry run. */
export function copyScope(tx: Transaction, tenantId: string, libraryId: string, scopeId: string): void {
  copyFolders(tx, tenantId, libraryId, scopeId);
  tx.execute({
    text: `
      insert into dws.library_sync_change (scope_id, tenant_id, file_id, item, path_key, is_done)
      select $3, tenant_id, file_id, item, path_key, is_done and error is null
      from dws.library_sync_change
      where tenant_id = $1 and scope_id = $2`,
    values: [tenantId, libraryId, scopeId],
  });
}

function copyFolders(tx: Transaction, tenantId: string, libraryId: string, scopeId: string): void {
  tx.execute({
    text: `
      insert into dws.library_sync_folder (scope_id, tenant_id, folder_id, parent_id, name, path, is_listed, is_unread, error)
      select $3, tenant_id, folder_id, parent_id, name, path, is_listed, is_unread, error
      from dws.library_sync_folder
      where tenant_id = $1 and scope_id = $2`,
    values: [tenantId, libraryId, scopeId],
  });
}

/**
 * Deletes the reported files, before a new listing. The folders stay as unread until its end, for a dry run the folders
 * of the library, unless they are no longer valid.
 */
export function clearScope(tx: Transaction, tenantId: string, state: SyncState, isValid: boolean): void {
  const { scopeId, libraryId } = state;
  const clear = (table: string) =>
    tx.execute({
      text: `delete from dws.${table} where tenant_id = $1 and scope_id = $2`,
      values: [tenantId, scopeId],
    });
  clear('library_sync_change');
  if (!isValid || scopeId !== libraryId) clear('library_sync_folder');
  if (!isValid) return;
  if (scopeId !== libraryId) {
    saveState(tx, tenantId, state);
    copyFolders(tx, tenantId, libraryId, scopeId);
  }
  tx.execute({
    text: `update dws.library_sync_folder set is_listed = false, is_unread = true, error = null
      where tenant_id = $1 and scope_id = $2`,
    values: [tenantId, scopeId],
  });
}

/** Deletes the errors of the last sync: the files are tried again. */
export function forgetErrors(tx: Transaction, tenantId: string, scopeId: string): void {
  tx.execute({
    text: `update dws.library_sync_change set error = null, is_done = false
      where tenant_id = $1 and scope_id = $2 and error is not null`,
    values: [tenantId, scopeId],
  });
}

/** Marks the folders that could not be opened, so that they are listed again. Returns whether there are any. */
export async function reopenFolders(tx: Transaction, tenantId: string, scopeId: string): Promise<boolean> {
  const reopened = await tx.query({
    text: `update dws.library_sync_folder set error = null
      where tenant_id = $1 and scope_id = $2 and error is not null
      returning folder_id`,
    values: [tenantId, scopeId],
  });
  return reopened.length > 0;
}

/**
 * Marks the files that an earlier, failed sync has stored, so that they are checked again: their folders may have
 * changed. Files whose contents are stored are not downloaded.
 */
export function reopenDone(tx: Transaction, tenantId: string, scopeId: string): void {
  tx.execute({
    text: `update dws.library_sync_change set is_done = false
      where tenant_id = $1 and scope_id = $2 and is_done and item is not null`,
    values: [tenantId, scopeId],
  });
}

/**
 * Deletes the reported files that are done. Files with errors stay for the next sync. Throws INTERNAL if a file was
 * left out.
 */
export async function forgetDone(tx: Transaction, tenantId: string, scopeId: string): Promise<void> {
  const [left] = await tx.query<{ files: number }>({
    text: `select count(*)::int as files from dws.library_sync_change
      where tenant_id = $1 and scope_id = $2 and not is_done`,
    values: [tenantId, scopeId],
  });
  const { files } = left!;
  if (files > 0)
    throw new ApiError(500, 'INTERNAL', `${files} reported file${files === 1 ? ' was' : 's were'} left out`);
  tx.execute({
    text: `delete from dws.library_sync_change
      where tenant_id = $1 and scope_id = $2 and is_done and error is null`,
    values: [tenantId, scopeId],
  });
}

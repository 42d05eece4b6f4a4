import type { Query } from '../../core/database.ts';
import { ApiError } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';

/**
 * What a sync does: it lists all files, reads the changes since the listing or the last sync, lists the folders that
 * came into the root, and brings the files of the library up to date.
 */
type SyncPhase = 'listing' | 'changes' | 'folders' | 'files' | 'done';

/** What a sync has done so far: numbers of files with contents that it has changed, and of what bounds it. */
export interface SyncCounts {
  added: number;
  updated: number;
  deleted: number;
  /** Changes of the numbers of files that are synced and skipped. Only a dry run uses them. */
  synced: number;
  skipped: number;
  /** Items and pages of the current listing, or of the changes. */
  listed: number;
  /** Attempts in a row that have stored nothing. */
  idle: number;
}

export const NO_COUNTS: SyncCounts = { added: 0, updated: 0, deleted: 0, synced: 0, skipped: 0, listed: 0, idle: 0 };

/** How far the syncs of a library are. The state of a dry run is a copy, with folders and changes of its own. */
export interface SyncState {
  /** Id of the library, or of the operation of a dry run. */
  scopeId: string;
  libraryId: string;
  /** The integration, account and settings for which it is valid, as text. Others require a full listing. */
  validFor: string;
  /** Id of the root folder at the provider. */
  rootId: string;
  phase: SyncPhase;
  /** Where the changes continue. */
  cursor: string;
  /** Where the listing continues: the whole one, or that of `listingFolderId`. Null at its beginning. */
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

/** Copies folders and files to try again from the scope of a library to that of a dry run. */
export function copyScope(tx: Transaction, tenantId: string, libraryId: string, scopeId: string): void {
  tx.execute({
    text: `
      insert into dws.library_sync_folder (scope_id, tenant_id, folder_id, parent_id, name, path, is_listed)
      select $3, tenant_id, folder_id, parent_id, name, path, is_listed
      from dws.library_sync_folder
      where tenant_id = $1 and scope_id = $2`,
    values: [tenantId, libraryId, scopeId],
  });
  tx.execute({
    text: `
      insert into dws.library_sync_change (scope_id, tenant_id, file_id, item, path_key, is_done)
      select $3, tenant_id, file_id, item, path_key, is_done and error is null
      from dws.library_sync_change
      where tenant_id = $1 and scope_id = $2`,
    values: [tenantId, libraryId, scopeId],
  });
}

/** Forgets what was reported: for a new listing, including the folders. */
export function clearScope(tx: Transaction, tenantId: string, scopeId: string): void {
  for (const table of ['library_sync_folder', 'library_sync_change'])
    tx.execute({
      text: `delete from dws.${table} where tenant_id = $1 and scope_id = $2`,
      values: [tenantId, scopeId],
    });
}

/** Forgets the errors of the last sync: the files are tried again. */
export function forgetErrors(tx: Transaction, tenantId: string, scopeId: string): void {
  tx.execute({
    text: `update dws.library_sync_change set error = null, is_done = false
      where tenant_id = $1 and scope_id = $2 and error is not null`,
    values: [tenantId, scopeId],
  });
}

/**
 * Has the files checked again that an earlier sync has stored, which then failed: their folders may have changed. Those
 * whose contents are stored are not downloaded.
 */
export function reopenDone(tx: Transaction, tenantId: string, scopeId: string): void {
  tx.execute({
    text: `update dws.library_sync_change set is_done = false
      where tenant_id = $1 and scope_id = $2 and is_done and item is not null`,
    values: [tenantId, scopeId],
  });
}

/** Forgets what was done. Files with errors stay for the next sync. Throws INTERNAL if a file was left out. */
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

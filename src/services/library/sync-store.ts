import type { SavedFile } from '../../core/files.ts';
import { cleanFilename } from '../../core/files.ts';
import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Download } from './sync-download.ts';
import { changeOf, type FileRow, type KnownFile } from './sync-plan.ts';
import type { SyncRun } from './sync-run.ts';
import type { SyncCounts } from './sync-state.ts';

/** The outcome for a reported file. Several are stored in one step. */
export interface FileOutcome {
  fileId: string;
  known: KnownFile | null;
  /** The row to store. Undefined if it stays as it is. */
  row?: FileRow;
  /** New contents. */
  saved?: SavedFile;
  /** Whether the library no longer has the file. */
  isGone?: boolean;
  /** Why the contents could not be read. The next sync tries again. */
  error?: { code: string; message: string };
}

/** Stores outcomes. Returns the new counts. */
export function storeOutcomes(tx: Transaction, run: SyncRun, outcomes: readonly FileOutcome[]): SyncCounts {
  const changed = outcomes.filter((outcome): outcome is FileOutcome & { row: FileRow } => outcome.row !== undefined);
  if (run.isDry) planChanges(run, changed);
  else if (changed.length > 0) storeRows(tx, run, changed);
  markDone(tx, run, outcomes);
  return countChanges(run.state.counts, changed);
}

function planChanges(run: SyncRun, changed: readonly { known: KnownFile | null; row: FileRow }[]): void {
  for (const { known, row } of changed) {
    const change = changeOf(known, row);
    if (change) run.plan(change === 'added' ? 'add' : 'update', [row]);
  }
}

function countChanges(counts: SyncCounts, changed: readonly { known: KnownFile | null; row: FileRow }[]): SyncCounts {
  const next = { ...counts };
  for (const { known, row } of changed) {
    const change = changeOf(known, row);
    if (change) next[change]++;
    for (const status of ['synced', 'skipped'] as const)
      next[status] += Number(row.status === status) - Number(known?.status === status);
  }
  return next;
}

function storeRows(tx: Transaction, run: SyncRun, changed: readonly (FileOutcome & { row: FileRow })[]): void {
  insertContents(tx, run, changed);
  upsertRows(tx, run, changed);
  const [tenantId, , libraryId] = run.keys;
  const keptBytes = (file: KnownFile | null) => (file?.storedFileId ? (file.size ?? 0) : 0);
  const bytes = changed.reduce((sum, { known, row }) => sum + keptBytes(row) - keptBytes(known), 0);
  tx.execute({
    text: `update dws.library set file_count = file_count + $3, bytes = bytes + $4 where tenant_id = $1 and id = $2`,
    values: [tenantId, libraryId, changed.filter(({ known }) => !known).length, bytes],
  });
}

/** Returns the ids of stored files that outcomes replace. A trigger deletes their rows. The bytes go after the commit. */
export const replacedContents = (outcomes: readonly FileOutcome[]): string[] =>
  outcomes.flatMap(({ known, row }) =>
    row && known?.storedFileId && known.storedFileId !== row.storedFileId ? [known.storedFileId] : [],
  );

function insertContents(tx: Transaction, run: SyncRun, changed: readonly (FileOutcome & { row: FileRow })[]): void {
  const files = changed.flatMap(({ row, saved }) =>
    saved ? [{ ...saved, filename: cleanFilename(row.name), content_type: row.contentType }] : [],
  );
  if (files.length > 0)
    tx.execute({
      text: `
        insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
        select id, $1, filename, content_type, size, sha256
        from jsonb_to_recordset($2::jsonb)
          as r(id uuid, filename text, content_type text, size bigint, sha256 text)`,
      values: [run.tenantId, JSON.stringify(files)],
    });
}

function upsertRows(tx: Transaction, run: SyncRun, changed: readonly { row: FileRow }[]): void {
  const [tenantId, , libraryId] = run.keys;
  tx.execute({
    text: `
      insert into dws.library_file (id, tenant_id, library_id, file_id, name, path, path_key, content_type, size, hash,
        revision, parent_id, status, reason, url, modified_at, synced_at, stored_file_id)
      select id, $1, $2, "fileId", name, path, "pathKey", "contentType", size, hash, revision, "parentId", status,
        reason, url, "modifiedAt", "syncedAt", "storedFileId"
      from jsonb_to_recordset($3::jsonb) as r(id uuid, "fileId" text, name text, path text, "pathKey" text,
        "contentType" text, size bigint, hash text, revision text, "parentId" text, status text, reason text, url text,
        "modifiedAt" timestamptz, "syncedAt" timestamptz, "storedFileId" uuid)
      on conflict (library_id, file_id) do update
      set name = excluded.name, path = excluded.path, path_key = excluded.path_key,
        content_type = excluded.content_type, size = excluded.size, hash = excluded.hash, revision = excluded.revision,
        parent_id = excluded.parent_id, status = excluded.status, reason = excluded.reason, url = excluded.url,
        modified_at = excluded.modified_at, synced_at = excluded.synced_at, stored_file_id = excluded.stored_file_id,
        updated_at = now(), version = dws.library_file.version + 1`,
    values: [tenantId, libraryId, JSON.stringify(changed.map(({ row }) => ({ id: newId(), ...row })))],
  });
}

/** The reported files `$3`. Not a join: Postgres may read all of them while its statistics know few. */
const OF_FILES = 'tenant_id = $1 and scope_id = $2 and file_id = any($3::text[])';

/** Number of attempts whose ids are kept to find the contents of a file again: the latest ones. */
const MAX_DOWNLOAD_IDS = 3;

/**
 * Stores the ids under which contents are about to be saved. If this attempt is killed, another one finds the contents
 * that were complete but whose rows were not stored.
 */
export function storeDownloadIds(
  tx: Transaction,
  { keys: [tenantId, scopeId] }: SyncRun,
  downloads: readonly Pick<Download, 'row' | 'downloadId'>[],
): void {
  const ids = Object.fromEntries(downloads.map(({ row, downloadId }) => [row.fileId, downloadId]));
  tx.execute({
    text: `
      update dws.library_sync_change
      set download_ids = (array_prepend(($4::jsonb->>file_id)::uuid, download_ids))[:${MAX_DOWNLOAD_IDS}]
      where ${OF_FILES}`,
    values: [tenantId, scopeId, Object.keys(ids), JSON.stringify(ids)],
  });
}

/** Marks reported files as done. Files that are gone are deleted at the end of the sync. */
function markDone(tx: Transaction, { keys: [tenantId, scopeId] }: SyncRun, outcomes: readonly FileOutcome[]): void {
  const gone = outcomes.filter(({ isGone }) => isGone).map(({ fileId }) => fileId);
  const errors = Object.fromEntries(outcomes.flatMap(({ fileId, error }) => (error ? [[fileId, error]] : [])));
  tx.execute({
    text: `
      update dws.library_sync_change
      set is_done = true, item = case when file_id = any($4::text[]) then null else item end,
        error = $5::jsonb->file_id
      where ${OF_FILES}`,
    values: [tenantId, scopeId, outcomes.map(({ fileId }) => fileId), gone, JSON.stringify(errors)],
  });
}

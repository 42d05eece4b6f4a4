import type { Transaction } from '../../core/platform.ts';
import { deleteStoredBytes } from '../resource/stored-file.ts';
import { IN_FOLDER, JOIN_FOLDER } from './sync-paths.ts';
import { MAX_LISTED, type PlannedChange, type SyncRun } from './sync-run.ts';
import { forEachChunk, queryAll } from './sync-scan.ts';
import type { SyncCounts } from './sync-state.ts';

/** Number of files that one statement deletes without a sync. */
const CHUNK = 1000;

/** Numbers of files that were deleted. */
interface DeletedCounts extends Record<string, unknown> {
  rows: number;
  /** The number of files with contents. */
  deleted: number;
  synced: number;
  skipped: number;
}

/** Columns of `DeletedCounts` over rows of files. */
const DELETED = `count(*)::int as rows, count(stored_file_id)::int as deleted,
  (count(*) filter (where status = 'synced'))::int as synced,
  (count(*) filter (where status = 'skipped'))::int as skipped`;

/** All files of the library `$2`. */
const ALL_FILES = `
  select f.id, f.file_id as "fileId", f.stored_file_id as "storedFileId"
  from dws.library_file f
  where f.tenant_id = $1 and f.library_id = $2`;

/** Deletes all files of the library. */
export const deleteAllFiles = (run: SyncRun): Promise<void> => deleteFound(run, ALL_FILES, libraryKey(run));

/** Counts all files of the library as deleted, for a dry run. Returns the new counts. */
export const countAllFiles = (run: SyncRun): Promise<SyncCounts> => countFound(run, ALL_FILES, libraryKey(run));

const libraryKey = ({ keys: [tenantId, , libraryId] }: SyncRun): string[] => [tenantId, libraryId];

/** Deletes some files of a library that no sync writes. Returns whether there may be more. The janitor deletes the bytes. */
export async function deleteSomeFiles(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  libraryId: string,
): Promise<boolean> {
  const [deleted] = await tx.query<DeletedCounts>({
    text: deleteSql(`select id from dws.library_file where tenant_id = $1 and library_id = $2 limit ${CHUNK}`),
    values: [tenantId, libraryId],
  });
  return deleted!.rows === CHUNK;
}

/**
 * Deletes the files that are gone: files that the drive reported as removed, and files in folders that left the root.
 * After a full listing it also deletes the files that the listing did not show, unless they are in folders that it
 * could not open.
 */
export async function deleteGone(run: SyncRun): Promise<void> {
  const { isFull, isTreeStale, rootId } = run.state;
  const isLost = isTreeStale ? `or (c.file_id is null and ${IN_FOLDER} and f.parent_id <> $4 and d.path is null)` : '';
  const isUnlisted = `c.file_id is null ${isTreeStale ? 'and d.is_unread is not true' : ''}`;
  // By one join: with subqueries below `or`, Postgres may scan all changes for each file. The type of `$4` must be
  // stated, since the query may not use it.
  const gone = `
    select f.id, f.file_id as "fileId", f.stored_file_id as "storedFileId"
    from dws.library_file f
    left join dws.library_sync_change c on c.scope_id = $2 and c.file_id = f.file_id
    ${isTreeStale ? JOIN_FOLDER : ''}
    where f.tenant_id = $1 and f.library_id = $3 and $4::text is not null and (
      (c.file_id is not null and c.item is null) ${isFull ? `or (${isUnlisted})` : ''} ${isLost}
    )`;
  const values = [...run.keys, rootId];
  if (!run.isDry) return deleteFound(run, gone, values);
  const counts = await countFound(run, gone, values);
  await run.write(async () => ({ counts }));
}

/** Counts the files that a query finds as deleted, for a dry run. Returns the new counts. */
async function countFound(run: SyncRun, found: string, values: unknown[]): Promise<SyncCounts> {
  const [all] = await queryAll<DeletedCounts>(run, {
    text: `select ${DELETED} from dws.library_file where id in (select id from (${found}) g)`,
    values,
  });
  const listed = await queryAll<Omit<PlannedChange, 'action'> & Record<string, unknown>>(run, {
    text: `select file_id as "fileId", path, size from dws.library_file
      where id in (select id from (${found}) g) and stored_file_id is not null
      order by path, id
      limit ${MAX_LISTED}`,
    values,
  });
  run.plan('delete', listed);
  return subtract(run.state.counts, all!);
}

type FoundFile = { id: string; fileId: string; storedFileId: string | null };

const deleteFound = (run: SyncRun, text: string, values: unknown[]): Promise<void> =>
  forEachChunk<FoundFile>(run, { text, values }, (files) => deleteFiles(run, files));

async function deleteFiles(run: SyncRun, files: readonly FoundFile[]): Promise<void> {
  const [tenantId, , libraryId] = run.keys;
  await run.write(async (tx) => {
    const [all] = await tx.query<DeletedCounts>({
      text: deleteSql('select unnest($3::uuid[])'),
      values: [tenantId, libraryId, files.map(({ id }) => id)],
    });
    return { counts: subtract(run.state.counts, all!) };
  });
  await deleteStoredBytes(
    run.attempt,
    files.flatMap(({ storedFileId }) => storedFileId ?? []),
  );
}

/**
 * Returns SQL that deletes the files whose ids a subquery returns. A trigger deletes the rows of their contents. `$2` is
 * the library.
 */
const deleteSql = (subquery: string): string => `
  with gone as (
    delete from dws.library_file where tenant_id = $1 and id in (${subquery}) returning status, size, stored_file_id
  ),
  library as (
    update dws.library
    set file_count = file_count - (select count(*) from gone),
      bytes = bytes - (select coalesce(sum(size) filter (where stored_file_id is not null), 0) from gone)
    where tenant_id = $1 and id = $2
  )
  select ${DELETED} from gone`;

const subtract = (counts: SyncCounts, { deleted, synced, skipped }: DeletedCounts): SyncCounts => ({
  ...counts,
  deleted: counts.deleted + deleted,
  synced: counts.synced - synced,
  skipped: counts.skipped - skipped,
});

import type { Transaction } from '../../core/platform.ts';
import { deleteStoredBytes } from '../resource/stored-file.ts';
import { LONG_PATH, MAX_PATH_BYTES } from './sync-plan.ts';
import { MAX_LISTED, type PlannedChange, type SyncRun } from './sync-run.ts';
import { isoSql } from './sync-stage.ts';
import type { SyncCounts } from './sync-state.ts';

/** Number of files that one transaction deletes. */
const CHUNK = 1000;

/** Joins the folder `d` of a file `f`. */
const JOIN_FOLDER = 'left join dws.library_sync_folder d on d.scope_id = $2 and d.folder_id = f.parent_id';
/** Path of a file by its folder. */
const NEW_PATH = `(coalesce(d.path, '') || f.name)`;
/** Whether a file was not reported by this sync. */
const UNREPORTED = 'not exists (select from dws.library_sync_change c where c.scope_id = $2 and c.file_id = f.file_id)';
/** Whether the drive states the folder of a file, not its path. */
const IN_FOLDER = 'f.path_key is null and f.parent_id is not null';

interface DeletedFiles extends Record<string, unknown> {
  rows: number;
  /** Those with contents. */
  deleted: number;
  synced: number;
  skipped: number;
}

/** Columns of `DeletedFiles` over rows of files. */
const DELETED = `count(*)::int as rows, count(stored_file_id)::int as deleted,
  (count(*) filter (where status = 'synced'))::int as synced,
  (count(*) filter (where status = 'skipped'))::int as skipped`;

/** Deletes all files of the library. */
export async function deleteAllFiles(run: SyncRun): Promise<void> {
  const [tenantId, , libraryId] = run.keys;
  const all = `select id from dws.library_file where tenant_id = $1 and library_id = $2 limit ${CHUNK}`;
  for (let rows = CHUNK; rows === CHUNK;) rows = await deleteChunk(run, all, [tenantId, libraryId]);
}

/** Counts all files of the library as deleted, for a dry run. Returns the new counts. */
export async function countAllFiles(tx: Transaction, run: SyncRun): Promise<SyncCounts> {
  const [tenantId, , libraryId] = run.keys;
  const [all] = await tx.query<DeletedFiles>({
    text: `select ${DELETED} from dws.library_file where tenant_id = $1 and library_id = $2`,
    values: [tenantId, libraryId],
  });
  const listed = await tx.query<PlannedFile>({
    text: `select file_id as "fileId", path, size from dws.library_file
      where tenant_id = $1 and library_id = $2 and stored_file_id is not null
      order by path, id
      limit ${MAX_LISTED}`,
    values: [tenantId, libraryId],
  });
  plan(run, 'delete', listed);
  return subtract(run.state.counts, all!);
}

/** Deletes some files of a library that no sync writes. Returns whether there may be more. The janitor deletes the bytes. */
export async function deleteSomeFiles(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  libraryId: string,
): Promise<boolean> {
  const [deleted] = await tx.query<DeletedFiles>({
    text: deleteSql(`select id from dws.library_file where tenant_id = $1 and library_id = $2 limit ${CHUNK}`),
    values: [tenantId, libraryId],
  });
  return deleted!.rows === CHUNK;
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

const subtract = (counts: SyncCounts, { deleted, synced, skipped }: DeletedFiles): SyncCounts => ({
  ...counts,
  deleted: counts.deleted + deleted,
  synced: counts.synced - synced,
  skipped: counts.skipped - skipped,
});

type PlannedFile = Omit<PlannedChange, 'action'> & Record<string, unknown>;

/** Adds changes to the list of a dry run. */
export function plan(run: SyncRun, action: PlannedChange['action'], files: readonly Omit<PlannedChange, 'action'>[]) {
  for (const { fileId, path, size } of files) {
    if (run.planned.length >= MAX_LISTED) return;
    run.planned.push({ action, fileId, path, size });
  }
}

/** Reports files whose paths have become too long, or may not be any more, because folders were moved or renamed. */
export function stageLongPaths(tx: Transaction, { keys, state }: SyncRun): void {
  // A full listing has reported all files that are still there.
  if (state.isFull) return;
  tx.execute({
    text: `
      insert into dws.library_sync_change (scope_id, tenant_id, file_id, item)
      select $2, f.tenant_id, f.file_id, jsonb_build_object('name', f.name, 'parentId', f.parent_id, 'path', null,
        'contentType', f.content_type, 'size', f.size, 'hash', f.hash, 'revision', f.revision, 'url', f.url,
        'unreadable', case when f.status = 'skipped' and f.reason <> $5 then f.reason end,
        'modifiedAt', ${isoSql('f.modified_at')})
      from dws.library_file f
      ${JOIN_FOLDER}
      where f.tenant_id = $1 and f.library_id = $3 and ${IN_FOLDER} and (f.parent_id = $4 or d.path is not null)
        and (f.reason = $5 or octet_length(${NEW_PATH}) > ${MAX_PATH_BYTES})
      on conflict (scope_id, file_id) do nothing`,
    values: [...keys, state.rootId, LONG_PATH],
  });
}

/** Brings the paths of files up to date whose folders were moved or renamed. */
export async function movePaths(run: SyncRun): Promise<void> {
  const moved = `
    select f.id, f.file_id, f.size, f.stored_file_id, ${NEW_PATH} as path
    from dws.library_file f
    ${JOIN_FOLDER}
    where f.tenant_id = $1 and f.library_id = $3 and ${IN_FOLDER} and (f.parent_id = $4 or d.path is not null)
      and f.path <> ${NEW_PATH} and octet_length(${NEW_PATH}) <= ${MAX_PATH_BYTES} and ${UNREPORTED}`;
  const values = [...run.keys, run.state.rootId];
  const count = (counts: SyncCounts, files: number) => ({ counts: { ...counts, updated: counts.updated + files } });
  if (run.isDry) {
    const files = await run.query<PlannedFile & { total: number }>({
      text: `select file_id as "fileId", path, size, (count(*) over ())::int as total
        from (${moved}) m where stored_file_id is not null order by path limit ${MAX_LISTED}`,
      values,
    });
    plan(run, 'update', files);
    return run.write(async () => count(run.state.counts, files[0]?.total ?? 0));
  }
  for (let rows = CHUNK; rows === CHUNK;)
    await run.write(async (tx) => {
      const [updated] = await tx.query<{ rows: number; files: number }>({
        text: `
          with moved as (
            update dws.library_file f
            set path = m.path, updated_at = now(), version = f.version + 1
            from (${moved} limit ${CHUNK}) m
            where f.id = m.id
            returning f.stored_file_id
          )
          select count(*)::int as rows, count(stored_file_id)::int as files from moved`,
        values,
      });
      rows = updated!.rows;
      return count(run.state.counts, updated!.files);
    });
}

/**
 * Deletes the files that are gone: those that the drive reported as removed, those in folders that left the root, and
 * after a full listing those that it did not show.
 */
export async function deleteGone(run: SyncRun): Promise<void> {
  const { isFull, isTreeStale, rootId } = run.state;
  const isLost = isTreeStale ? `or (c.file_id is null and ${IN_FOLDER} and f.parent_id <> $4 and d.path is null)` : '';
  // By one join: with subqueries below `or`, Postgres may scan all changes for each file.
  const gone = (limit: string) => `
    select f.id
    from dws.library_file f
    left join dws.library_sync_change c on c.scope_id = $2 and c.file_id = f.file_id
    ${isTreeStale ? JOIN_FOLDER : ''}
    where f.tenant_id = $1 and f.library_id = $3 and $4::text is not null and (
      (c.file_id is not null and c.item is null) ${isFull ? 'or c.file_id is null' : ''} ${isLost}
    ) ${limit}`;
  const values = [...run.keys, rootId];
  if (run.isDry) return countGone(run, gone(''), values);
  for (let rows = CHUNK; rows === CHUNK;) rows = await deleteChunk(run, gone(`limit ${CHUNK}`), values);
}

async function countGone(run: SyncRun, gone: string, values: unknown[]): Promise<void> {
  const [all] = await run.query<DeletedFiles>({
    text: `select ${DELETED} from dws.library_file where id in (${gone})`,
    values,
  });
  const listed = await run.query<PlannedFile>({
    text: `select file_id as "fileId", path, size from dws.library_file
      where id in (${gone}) and stored_file_id is not null
      order by path, id
      limit ${MAX_LISTED}`,
    values,
  });
  plan(run, 'delete', listed);
  await run.write(async () => ({ counts: subtract(run.state.counts, all!) }));
}

/** Deletes some files with their contents. Returns their number. */
async function deleteChunk(run: SyncRun, gone: string, values: unknown[]): Promise<number> {
  const [tenantId, , libraryId] = run.keys;
  let deleted: { id: string; storedFileId: string | null }[] = [];
  await run.write(async (tx) => {
    deleted = await tx.query<{ id: string; storedFileId: string | null }>({
      text: `select id, stored_file_id as "storedFileId" from dws.library_file where id in (${gone})`,
      values,
    });
    if (deleted.length === 0) return {};
    const [all] = await tx.query<DeletedFiles>({
      text: deleteSql('select unnest($3::uuid[])'),
      values: [tenantId, libraryId, deleted.map(({ id }) => id)],
    });
    return { counts: subtract(run.state.counts, all!) };
  });
  await deleteStoredBytes(
    run.attempt,
    deleted.flatMap(({ storedFileId }) => storedFileId ?? []),
  );
  return deleted.length;
}

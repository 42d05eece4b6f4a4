import type { Transaction } from '../../core/platform.ts';
import { LONG_PATH, MAX_PATH_BYTES } from './sync-plan.ts';
import { MAX_LISTED, type PlannedChange, type SyncRun } from './sync-run.ts';
import { forEachChunk, joinByHash, queryAll } from './sync-scan.ts';
import { isoSql } from './sync-stage.ts';
import type { SyncCounts } from './sync-state.ts';

/** Joins the folder `d` of a file `f`. */
export const JOIN_FOLDER = 'left join dws.library_sync_folder d on d.scope_id = $2 and d.folder_id = f.parent_id';
/** Whether the drive states the folder of a file, not its path. */
export const IN_FOLDER = 'f.path_key is null and f.parent_id is not null';
/** Whether this folder is below the root, or the root `$4` itself. */
const IN_ROOT = '(f.parent_id = $4 or d.path is not null)';
/** Path of a file by its folder. */
const NEW_PATH = `(coalesce(d.path, '') || f.name)`;

/**
 * Reports files whose paths have become too long, or may have become short enough, because folders were moved or
 * renamed.
 */
export function stageLongPaths(tx: Transaction, { keys, state }: SyncRun): void {
  // A full listing has reported all files that are still there.
  if (state.isFull) return;
  joinByHash(tx);
  tx.execute({
    text: `
      insert into dws.library_sync_change (scope_id, tenant_id, file_id, item)
      select $2, f.tenant_id, f.file_id, jsonb_build_object('name', f.name, 'parentId', f.parent_id, 'path', null, 'foldedPath', null,
        'contentType', f.content_type, 'size', f.size, 'hash', f.hash, 'revision', f.revision, 'url', f.url,
        'unreadable', case when f.status = 'skipped' and f.reason <> $5 then f.reason end,
        'modifiedAt', ${isoSql('f.modified_at')})
      from dws.library_file f
      ${JOIN_FOLDER}
      where f.tenant_id = $1 and f.library_id = $3 and ${IN_FOLDER} and ${IN_ROOT}
        and (f.reason = $5 or octet_length(${NEW_PATH}) > ${MAX_PATH_BYTES})
      on conflict (scope_id, file_id) do nothing`,
    values: [...keys, state.rootId, LONG_PATH],
  });
}

/** The files whose folders were moved or renamed, except reported ones, which are updated one by one. */
const MOVED = `
  select f.id, f.file_id as "fileId", f.size, f.stored_file_id as "storedFileId", ${NEW_PATH} as path
  from dws.library_file f
  ${JOIN_FOLDER}
  where f.tenant_id = $1 and f.library_id = $3 and ${IN_FOLDER} and ${IN_ROOT}
    and f.path <> ${NEW_PATH} and octet_length(${NEW_PATH}) <= ${MAX_PATH_BYTES}
    and not exists (select from dws.library_sync_change c where c.scope_id = $2 and c.file_id = f.file_id)`;

type MovedFile = Omit<PlannedChange, 'action'> & { id: string } & Record<string, unknown>;

/** Updates the paths of files whose folders were moved or renamed. */
export async function movePaths(run: SyncRun): Promise<void> {
  const values = [...run.keys, run.state.rootId];
  if (!run.isDry) return forEachChunk<MovedFile>(run, { text: MOVED, values }, (files) => storePaths(run, files));
  const files = await queryAll<MovedFile & { total: number }>(run, {
    text: `select *, (count(*) over ())::int as total
      from (${MOVED}) m where "storedFileId" is not null order by path limit ${MAX_LISTED}`,
    values,
  });
  run.plan('update', files);
  await run.write(async () => ({ counts: addUpdated(run.state.counts, files[0]?.total ?? 0) }));
}

async function storePaths(run: SyncRun, files: readonly MovedFile[]): Promise<void> {
  await run.write(async (tx) => {
    const [updated] = await tx.query<{ files: number }>({
      text: `
        with moved as (
          update dws.library_file f
          set path = m.path, updated_at = now(), version = f.version + 1
          from unnest($2::uuid[], $3::text[]) m(id, path)
          where f.tenant_id = $1 and f.id = m.id
          returning f.stored_file_id
        )
        select count(stored_file_id)::int as files from moved`,
      values: [run.tenantId, files.map(({ id }) => id), files.map(({ path }) => path)],
    });
    return { counts: addUpdated(run.state.counts, updated!.files) };
  });
}

const addUpdated = (counts: SyncCounts, files: number): SyncCounts => ({ ...counts, updated: counts.updated + files });

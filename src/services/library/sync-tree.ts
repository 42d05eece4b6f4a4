import type { Transaction } from '../../core/platform.ts';
import { MAX_PATH_BYTES } from './sync-plan.ts';
import type { SyncRun } from './sync-run.ts';
import { FOUND_AT_ONCE, joinByHash, queryAll } from './sync-scan.ts';

/** Maximum number of folders above a file. */
const MAX_DEPTH = 200;

/**
 * Computes the paths of all folders below the root, each with a slash at its end. Other and deeper folders get none. A
 * path that is too long for files is not extended: folders below it get the same one, so that the paths stay small.
 */
export function refreshPaths(tx: Transaction, { keys: [tenantId, scopeId], state }: SyncRun): void {
  joinByHash(tx);
  tx.execute({
    text: `
      with recursive tree (folder_id, path, depth) as (
        select $3::text, '', 0
        union all
        select f.folder_id, case when octet_length(t.path) > ${MAX_PATH_BYTES} then t.path else t.path || f.name || '/' end,
          t.depth + 1
        from tree t
        join dws.library_sync_folder f on f.tenant_id = $1 and f.scope_id = $2 and f.parent_id = t.folder_id
        where f.folder_id <> $3 and t.depth < ${MAX_DEPTH}
      )
      update dws.library_sync_folder f
      set path = n.path
      from dws.library_sync_folder o
      left join tree n on n.folder_id = o.folder_id
      where o.tenant_id = $1 and o.scope_id = $2 and f.scope_id = o.scope_id and f.folder_id = o.folder_id
        and f.path is distinct from n.path`,
    values: [tenantId, scopeId, state.rootId],
  });
}

/**
 * Returns the next folders, after one by its id, that came into the root and whose files the changes do not name. Those
 * below them are listed with them.
 */
export async function findUnlisted(run: SyncRun, last: string): Promise<string[]> {
  const [tenantId, scopeId] = run.keys;
  const folders = await queryAll<{ id: string }>(run, {
    text: `select f.folder_id as id
    from dws.library_sync_folder f
    left join dws.library_sync_folder p on p.scope_id = f.scope_id and p.folder_id = f.parent_id
    where f.tenant_id = $1 and f.scope_id = $2 and f.folder_id > $4 and not f.is_listed and f.error is null and f.path is not null
      and (f.parent_id = $3 or p.is_listed)
    order by f.folder_id
    limit ${FOUND_AT_ONCE}`,
    values: [tenantId, scopeId, run.state.rootId, last],
  });
  return folders.map(({ id }) => id);
}

/** Marks a folder, and what is below it, as listed, unless it is closed. */
export function markListed(tx: Transaction, { keys: [tenantId, scopeId] }: SyncRun, folderId: string): void {
  tx.execute({
    text: `update dws.library_sync_folder set is_listed = true
      where tenant_id = $1 and scope_id = $2 and folder_id = $3 and error is null`,
    values: [tenantId, scopeId, folderId],
  });
}

/** Deletes the folders outside of the root. One that comes into it later is listed. */
export function deleteOutside(tx: Transaction, { keys: [tenantId, scopeId] }: SyncRun): void {
  tx.execute({
    text: `delete from dws.library_sync_folder where tenant_id = $1 and scope_id = $2 and path is null`,
    values: [tenantId, scopeId],
  });
}

/**
 * Deletes the folders that a listing has not shown, except those below closed folders, whose contents are not known.
 */
export function deleteUnread(tx: Transaction, { keys: [tenantId, scopeId] }: SyncRun): void {
  tx.execute({
    text: `
      with recursive closed (folder_id) as (
        select folder_id from dws.library_sync_folder where tenant_id = $1 and scope_id = $2 and error is not null
        union
        select f.folder_id
        from closed c
        join dws.library_sync_folder f on f.parent_id = c.folder_id and f.scope_id = $2 and f.is_unread
      )
      delete from dws.library_sync_folder
      where tenant_id = $1 and scope_id = $2 and is_unread and folder_id not in (select folder_id from closed)`,
    values: [tenantId, scopeId],
  });
}

/**
 * Stages the removal of all files in a folder that could not be opened until now, and deletes the folders below it.
 * This starts the listing of the folder, which reports what is still there.
 */
export function openFolder(tx: Transaction, { keys }: SyncRun, folderId: string): void {
  tx.execute({
    text: `
      with recursive opened (folder_id) as (
        select folder_id from dws.library_sync_folder
        where tenant_id = $1 and scope_id = $2 and folder_id = $4 and is_unread
        union
        select f.folder_id
        from opened o
        join dws.library_sync_folder f on f.parent_id = o.folder_id and f.scope_id = $2 and f.is_unread
      ), staged as (
        insert into dws.library_sync_change (scope_id, tenant_id, file_id)
        select $2, f.tenant_id, f.file_id
        from opened o
        join dws.library_file f on f.tenant_id = $1 and f.library_id = $3 and f.parent_id = o.folder_id
        on conflict (scope_id, file_id) do nothing
      ), forgotten as (
        delete from dws.library_sync_folder
        where tenant_id = $1 and scope_id = $2 and folder_id <> $4 and folder_id in (select folder_id from opened)
      )
      update dws.library_sync_folder set is_unread = false
      where tenant_id = $1 and scope_id = $2 and folder_id = $4 and is_unread`,
    values: [...keys, folderId],
  });
}

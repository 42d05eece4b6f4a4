import type { Transaction } from '../../core/platform.ts';
import type { SyncRun } from './sync-run.ts';
import { FOUND_AT_ONCE, joinByHash, queryAll } from './sync-scan.ts';

/** Maximum number of folders above a file. */
const MAX_DEPTH = 200;

/**
 * Computes the paths of all folders below the root, each with a slash at its end. Other and deeper folders get none.
 */
export function refreshPaths(tx: Transaction, { keys: [tenantId, scopeId], state }: SyncRun): void {
  joinByHash(tx);
  tx.execute({
    text: `
      with recursive tree (folder_id, path, depth) as (
        select $3::text, '', 0
        union all
        select f.folder_id, t.path || f.name || '/', t.depth + 1
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
    where f.tenant_id = $1 and f.scope_id = $2 and f.folder_id > $4 and not f.is_listed and f.path is not null
      and (f.parent_id = $3 or p.is_listed)
    order by f.folder_id
    limit ${FOUND_AT_ONCE}`,
    values: [tenantId, scopeId, run.state.rootId, last],
  });
  return folders.map(({ id }) => id);
}

/** Marks a folder, and what is below it, as listed. */
export function markListed(tx: Transaction, { keys: [tenantId, scopeId] }: SyncRun, folderId: string): void {
  tx.execute({
    text: `update dws.library_sync_folder set is_listed = true where tenant_id = $1 and scope_id = $2 and folder_id = $3`,
    values: [tenantId, scopeId, folderId],
  });
}

/** Forgets the folders outside of the root. One that comes into it later is listed. */
export function deleteOutside(tx: Transaction, { keys: [tenantId, scopeId] }: SyncRun): void {
  tx.execute({
    text: `delete from dws.library_sync_folder where tenant_id = $1 and scope_id = $2 and path is null`,
    values: [tenantId, scopeId],
  });
}

import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { invalid } from '../../core/input-checks.ts';
import { lockKey } from '../../core/locks.ts';
import type { Transaction } from '../../core/platform.ts';

/**
 * Locks the folder tree of a tenant until the transaction ends. Two concurrent moves, each valid alone, could form a
 * cycle.
 */
export function lockFolderTree(tx: Transaction, tenantId: string): void {
  lockKey(tx, `folders:${tenantId}`);
}

interface FolderNode extends Record<string, unknown> {
  id: string;
  name: string;
  parentId: string | null;
}

/**
 * Throws BAD_USER_INPUT if a folder is inside itself. A cycle always contains a moved folder, so only the ancestors of
 * moved folders are checked.
 */
export async function checkAcyclic(tx: Transaction, tenantId: string, movedIds: readonly string[]): Promise<void> {
  const nodes = await tx.query<FolderNode>({
    text: `
      with recursive up as (
        select id, name, parent_id from dws.folder where tenant_id = $1 and id = any($2)
        union
        select f.id, f.name, f.parent_id from up join dws.folder f on f.tenant_id = $1 and f.id = up.parent_id
      )
      select id, name, parent_id as "parentId" from up`,
    values: [tenantId, movedIds],
  });
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const acyclic = new Set<string>();
  for (const start of movedIds) {
    const path = new Set<string>();
    for (let node = nodeOf.get(start); node && !acyclic.has(node.id); node = nodeOf.get(node.parentId ?? '')) {
      if (path.has(node.id)) throw invalid('parentId', `would put the folder "${node.name}" into itself`);
      path.add(node.id);
    }
    for (const id of path) acyclic.add(id);
  }
}

/** Deletes folders with all folders inside them. Their resources are in no folder afterwards and get a new version. */
export async function deleteFolderTrees(tx: Transaction, tenantId: string, ids: readonly string[]): Promise<void> {
  const descendants = await tx.query<{ id: string }>({
    text: `
      with recursive down as (
        select id from dws.folder where tenant_id = $1 and id = any($2)
        union
        select f.id from down join dws.folder f on f.tenant_id = $1 and f.parent_id = down.id
      )
      select id from down`,
    values: [tenantId, ids],
  });
  const folderIds = descendants.map(({ id }) => id);
  // Waits for concurrent transactions that move a resource into one of the folders, so that it is updated below.
  tx.execute({
    text: `select id from dws.folder where tenant_id = $1 and id = any($2) order by id for update`,
    values: [tenantId, folderIds],
  });
  for (const { table } of OWNED_KINDS) {
    tx.execute({
      text: `
        update dws.${table}
        set folder_id = null, version = version + 1, updated_at = now()
        where tenant_id = $1 and folder_id = any($2)`,
      values: [tenantId, folderIds],
    });
  }
  tx.execute({
    text: `delete from dws.folder where tenant_id = $1 and id = any($2)`,
    values: [tenantId, folderIds],
  });
}

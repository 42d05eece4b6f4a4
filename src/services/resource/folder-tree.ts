import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';

/** Lets one at a time move and remove folders of a tenant: two moves that are harmless alone may make a cycle together. */
export async function lockFolderTree(tx: Transaction, tenantId: string): Promise<void> {
  await tx.query({ text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`, values: [`folders:${tenantId}`] });
}

interface FolderNode extends Record<string, unknown> {
  id: string;
  name: string;
  parentId: string | null;
}

/** 400 naming a folder that lies within itself. A cycle always holds a folder that was just moved, so only those and what they lie in are looked at. */
export async function checkAcyclic(tx: Transaction, tenantId: string, moved: readonly string[]): Promise<void> {
  const places = await tx.query<FolderNode>({
    text: `with recursive up as (
        select id, name, parent_id from dws.folder where tenant_id = $1 and id = any($2)
        union select f.id, f.name, f.parent_id from up join dws.folder f on f.tenant_id = $1 and f.id = up.parent_id)
      select id, name, parent_id as "parentId" from up`,
    values: [tenantId, moved],
  });
  const placeOf = new Map(places.map((place) => [place.id, place]));
  const fine = new Set<string>();
  for (const start of moved) {
    const way = new Set<string>();
    for (let place = placeOf.get(start); place && !fine.has(place.id); place = placeOf.get(place.parentId ?? '')) {
      if (way.has(place.id)) throw invalid('parentId', `would put the folder "${place.name}" into itself`);
      way.add(place.id);
    }
    for (const id of way) fine.add(id);
  }
}

/** Deletes folders with all that lie in them; their content is in no folder afterwards, which changes its version. */
export async function deleteFolderTrees(tx: Transaction, tenantId: string, ids: readonly string[]): Promise<void> {
  const below = await tx.query<{ id: string }>({
    text: `with recursive down as (
        select id from dws.folder where tenant_id = $1 and id = any($2)
        union select f.id from down join dws.folder f on f.tenant_id = $1 and f.parent_id = down.id)
      select id from down`,
    values: [tenantId, ids],
  });
  const all = below.map(({ id }) => id);
  // Whoever is just putting something into one of them is waited for, so that it is seen here.
  await tx.query({
    text: `select id from dws.folder where tenant_id = $1 and id = any($2) order by id for update`,
    values: [tenantId, all],
  });
  for (const { table } of OWNED_KINDS) {
    await tx.query({
      text: `update dws.${table} set folder_id = null, version = version + 1, updated_at = now() where tenant_id = $1 and folder_id = any($2)`,
      values: [tenantId, all],
    });
  }
  await tx.query({ text: `delete from dws.folder where tenant_id = $1 and id = any($2)`, values: [tenantId, all] });
}

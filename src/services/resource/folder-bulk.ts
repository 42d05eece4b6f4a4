import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { numbered } from '../../core/read/condition.ts';
import { writable } from './access-filter.ts';
import { loadNames, recordActivities } from './activity.ts';
import { checkAcyclic, lockFolderTree, deleteFolderTrees } from './folder-tree.ts';
import type { FolderInput } from './folder.ts';
import { resolveIds } from './resolve-ids.ts';

/** What one call may name at most. */
const MAX_ASSIGNMENTS = 1000;

/**
 * Puts resources of any kind into a folder, or out of all with null. Ids that nothing has, or nothing that the caller may write, are passed over in silence
 * (specification, "Folders").
 */
export async function assign(
  ctx: Context,
  entities: readonly string[],
  folderId: string | null | undefined,
): Promise<void> {
  const { tenantId } = ctx.viewer;
  if (folderId === undefined) throw invalid('folderId', 'is required; null takes things out of their folders');
  if (entities.length > MAX_ASSIGNMENTS) throw invalid('entities', `must name at most ${MAX_ASSIGNMENTS} resources`);
  const rights = writable(ctx.viewer);
  const ids = entities.filter(isUuid);
  await ctx.transaction(async (tx) => {
    if (folderId !== null) await resolveIds(tx, tenantId, 'folder', [folderId]);
    const where =
      folderId === null
        ? null
        : (await loadNames(tx, tenantId, [`folder:${folderId.toLowerCase()}`]))(`folder:${folderId.toLowerCase()}`);
    for (const kind of OWNED_KINDS) {
      const { table } = kind;
      // Rows are locked in the order of their ids, so that two who move the same ones wait for each other.
      const moved = await tx.query<{ id: string; name: string; ownerId: string }>({
        text: `with wanted as (
            select id from dws.${table} r where tenant_id = $1 and id = any($2) and folder_id is distinct from $3::uuid${rights ? ` and ${numbered(rights, 4)}` : ''} order by id for update)
          update dws.${table} t set folder_id = $3::uuid, version = version + 1, updated_at = now() from wanted where t.tenant_id = $1 and t.id = wanted.id
          returning t.id, t.name, t.owner_id as "ownerId"`,
        values: [tenantId, ids, folderId, ...(rights?.params ?? [])],
      });
      await recordActivities(
        ctx.viewer,
        tx,
        kind,
        'folder.moved',
        moved,
        (name) =>
          `${ctx.viewer.username} ${where === null ? `took ${name} out of its folder` : `moved ${name} to the folder ${where}`}`,
        { folderId },
      );
    }
  });
}

/** A folder with the id that its client made for it. */
export interface NewFolder {
  id: string;
  name: string;
  parentId?: string | null;
}

export interface FolderChange extends FolderInput {
  id: string;
}

export interface FolderChanges {
  add?: NewFolder[] | null;
  remove?: string[] | null;
  update?: FolderChange[] | null;
}

/** Changes many folders in one transaction: removals with all that lies below, then additions, then updates. Any error undoes everything. */
export async function bulkUpdate(ctx: Context, changes: FolderChanges): Promise<void> {
  const { tenantId, userId } = ctx.viewer;
  const gone = distinct(changes.remove ?? []);
  const added = (changes.add ?? []).map(checkNewFolder);
  const updated = (changes.update ?? []).map(checkFolderUpdate);
  if (gone.length + added.length + updated.length > MAX_ASSIGNMENTS)
    throw invalid('input', `must name at most ${MAX_ASSIGNMENTS} folders`);
  await ctx.transaction(async (tx) => {
    await lockFolderTree(tx, tenantId);
    await resolveIds(tx, tenantId, 'folder', gone);
    await deleteFolderTrees(tx, tenantId, gone);
    await insertFolders(tx, tenantId, userId, added);
    await updateFolders(tx, tenantId, updated);
    await checkAcyclic(tx, tenantId, distinct([...added, ...updated].map(({ id }) => id)));
  });
}

const lower = (id: string | null | undefined): string | null => id?.toLowerCase() ?? null;
const distinct = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];
const present = (ids: readonly (string | null)[]): string[] => distinct(ids.filter((id) => id !== null));

interface NewFolderRow {
  id: string;
  name: string;
  parent_id: string | null;
}

function checkNewFolder({ id, name, parentId }: NewFolder, index: number): NewFolderRow {
  if (!isUuid(id)) throw invalid(`add.${index}.id`, 'must be a UUID');
  return { id: id.toLowerCase(), name: checkText(name, `add.${index}.name`), parent_id: lower(parentId) };
}

/** Parents may be among the additions, in any order: Postgres looks for them when the statement has ended. */
async function insertFolders(
  tx: Transaction,
  tenantId: string,
  userId: string,
  folders: readonly NewFolderRow[],
): Promise<void> {
  const ids = folders.map(({ id }) => id);
  const own = new Set(ids);
  if (own.size < ids.length) throw idTaken(ids.find((id, index) => ids.indexOf(id) < index)!);
  await resolveIds(
    tx,
    tenantId,
    'folder',
    present(folders.map(({ parent_id }) => parent_id)).filter((id) => !own.has(id)),
  );
  const made = await tx.query<{ id: string }>({
    text: `insert into dws.folder (id, tenant_id, name, parent_id, creator_id) select id, $1::uuid, name, parent_id, $2::uuid
      from jsonb_to_recordset($3::jsonb) as a(id uuid, name text, parent_id uuid) on conflict do nothing returning id`,
    values: [tenantId, userId, JSON.stringify(folders)],
  });
  for (const { id } of made) own.delete(id);
  for (const id of own) throw idTaken(id);
}

const idTaken = (id: string) => conflict(`The id ${id} is already in use`);

interface FolderUpdateRow {
  id: string;
  name: string | null;
  moves: boolean;
  parent_id: string | null;
}

function checkFolderUpdate({ id, name, parentId }: FolderChange, index: number): FolderUpdateRow {
  return {
    id: id.toLowerCase(),
    name: name === undefined ? null : checkText(name, `update.${index}.name`),
    moves: parentId !== undefined,
    parent_id: lower(parentId),
  };
}

async function updateFolders(tx: Transaction, tenantId: string, changes: readonly FolderUpdateRow[]): Promise<void> {
  const ids = changes.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice) throw invalid('update', `names the folder ${twice} twice`);
  await resolveIds(tx, tenantId, 'folder', distinct([...ids, ...present(changes.map(({ parent_id }) => parent_id))]));
  await tx.query({
    text: `update dws.folder f set name = coalesce(c.name, f.name), parent_id = case when c.moves then c.parent_id else f.parent_id end, version = version + 1, updated_at = now()
      from jsonb_to_recordset($2::jsonb) as c(id uuid, name text, moves boolean, parent_id uuid) where f.tenant_id = $1 and f.id = c.id`,
    values: [tenantId, JSON.stringify(changes)],
  });
}

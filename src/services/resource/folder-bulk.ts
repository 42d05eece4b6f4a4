import type { AddFolderInput, BulkUpdateFoldersInput, ChangeFolderInput } from '../../../entities/folder-input.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkAcyclic, deleteFolderTrees, lockFolderTree } from './folder-tree.ts';
import { resolveIds } from './resolve-ids.ts';

const MAX_CHANGES = 1000;

/**
 * Changes many folders in one transaction: deletes folders with all folders inside them, then creates, then updates
 * folders. An error undoes all changes.
 */
export async function bulkUpdate(ctx: Context, input: BulkUpdateFoldersInput): Promise<void> {
  const { tenantId, userId } = ctx.viewer;
  const deletedIds = distinct(input.remove ?? []);
  const added = (input.add ?? []).map(checkNewFolder);
  const updated = (input.update ?? []).map(checkFolderUpdate);
  if (deletedIds.length + added.length + updated.length > MAX_CHANGES)
    throw invalid('input', `must contain at most ${MAX_CHANGES} folders`);
  await ctx.transaction(async (tx) => {
    lockFolderTree(tx, tenantId);
    await resolveIds(tx, tenantId, 'folder', deletedIds);
    await deleteFolderTrees(tx, tenantId, deletedIds);
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

function checkNewFolder({ id, name, parentId }: AddFolderInput, index: number): NewFolderRow {
  if (!isUuid(id)) throw invalid(`add.${index}.id`, 'must be a UUID');
  return { id: id.toLowerCase(), name: checkText(name, `add.${index}.name`), parent_id: lower(parentId) };
}

/**
 * Inserts folders. Parents may be among them, in any order: Postgres checks the foreign key at the end of the
 * statement.
 */
async function insertFolders(
  tx: Transaction,
  tenantId: string,
  userId: string,
  folders: readonly NewFolderRow[],
): Promise<void> {
  const ids = folders.map(({ id }) => id);
  const pending = new Set(ids);
  if (pending.size < ids.length) throw idTaken(ids.find((id, index) => ids.indexOf(id) < index)!);
  const parentIds = present(folders.map(({ parent_id }) => parent_id));
  await resolveIds(
    tx,
    tenantId,
    'folder',
    parentIds.filter((id) => !pending.has(id)),
  );
  const inserted = await tx.query<{ id: string }>({
    text: `
      insert into dws.folder (id, tenant_id, name, parent_id, creator_id)
      select id, $1::uuid, name, parent_id, $2::uuid
      from jsonb_to_recordset($3::jsonb) as a(id uuid, name text, parent_id uuid)
      on conflict do nothing
      returning id`,
    values: [tenantId, userId, JSON.stringify(folders)],
  });
  for (const { id } of inserted) pending.delete(id);
  for (const id of pending) throw idTaken(id);
}

const idTaken = (id: string) => conflict(`The id ${id} is already in use`);

interface FolderUpdateRow {
  id: string;
  name: string | null;
  moves: boolean;
  parent_id: string | null;
}

function checkFolderUpdate({ id, name, parentId }: ChangeFolderInput, index: number): FolderUpdateRow {
  return {
    id: id.toLowerCase(),
    name: name === undefined ? null : checkText(name, `update.${index}.name`),
    moves: parentId !== undefined,
    parent_id: lower(parentId),
  };
}

async function updateFolders(tx: Transaction, tenantId: string, updates: readonly FolderUpdateRow[]): Promise<void> {
  const ids = updates.map(({ id }) => id);
  const duplicate = ids.find((id, index) => ids.indexOf(id) < index);
  if (duplicate) throw invalid('update', `names the folder ${duplicate} twice`);
  await resolveIds(tx, tenantId, 'folder', distinct([...ids, ...present(updates.map(({ parent_id }) => parent_id))]));
  await tx.query({
    text: `
      update dws.folder f
      set
        name = coalesce(c.name, f.name),
        parent_id = case when c.moves then c.parent_id else f.parent_id end,
        version = version + 1,
        updated_at = now()
      from jsonb_to_recordset($2::jsonb) as c(id uuid, name text, moves boolean, parent_id uuid)
      where f.tenant_id = $1 and f.id = c.id`,
    values: [tenantId, JSON.stringify(updates)],
  });
}

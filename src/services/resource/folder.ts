import type { CreateFolderInput, UpdateFolderInput } from '../../../entities/folder-input.ts';
import { Folder } from '../../../entities/folder.ts';
import type { Context } from '../../core/context.ts';
import { checkText } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { checkAcyclic, deleteFolderTrees, lockFolderTree } from './folder-tree.ts';
import { resolveIds } from './resolve-ids.ts';
import { loadUnowned, type UnownedKind } from './unowned-kind.ts';

export const FOLDER: UnownedKind<Folder> = {
  entity: Folder,
  what: 'folder',
  permission: 'folders:create',
};

/** Creates a folder. Returns its id. */
export async function create(ctx: Context, input: CreateFolderInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  const name = checkText(input.name, 'name');
  const parentId = input.parentId?.toLowerCase() ?? null;
  return ctx.transaction(async (tx) => {
    if (parentId !== null) await resolveIds(tx, tenantId, 'folder', [parentId]);
    return tx.insert(newRow(Folder, { tenantId, name, parentId, creatorId: userId })).id;
  });
}

/** Renames or moves a folder. Returns its id. Throws BAD_USER_INPUT if it would be inside itself. */
export async function update(ctx: Context, id: string, input: UpdateFolderInput): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    lockFolderTree(tx, tenantId);
    const folder = await loadUnowned(ctx, tx, FOLDER, id, 'folder:write', { ifMatch: ctx.ifMatch });
    if (input.name !== undefined) folder.name = checkText(input.name, 'name');
    const formerParentId = folder.parentId ?? null;
    const parentId = input.parentId === undefined ? formerParentId : (input.parentId?.toLowerCase() ?? null);
    if (parentId === formerParentId) return folder.id;
    if (parentId !== null) await resolveIds(tx, tenantId, 'folder', [parentId]);
    folder.parentId = parentId;
    await checkAcyclic(tx, tenantId, [folder.id]);
    return folder.id;
  });
}

/** Deletes a folder with the folders inside it. Their resources are in no folder afterwards. */
export async function remove(ctx: Context, id: string): Promise<void> {
  const { tenantId } = ctx.viewer;
  await ctx.transaction(async (tx) => {
    lockFolderTree(tx, tenantId);
    const folder = await loadUnowned(ctx, tx, FOLDER, id, 'folder:delete', { ifMatch: ctx.ifMatch });
    await deleteFolderTrees(tx, tenantId, [folder.id]);
  });
}

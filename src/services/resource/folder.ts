import { Folder } from '../../../entities/folder.ts';
import type { Context } from '../../core/context.ts';
import { checkText } from '../../core/input-checks.ts';
import { checkAcyclic, lockFolderTree, deleteFolderTrees } from './folder-tree.ts';
import { resolveIds } from './resolve-ids.ts';
import { loadUnowned, type UnownedKind } from './unowned-kind.ts';

export const FOLDER: UnownedKind<Folder> = {
  entity: Folder,
  what: 'folder',
  table: 'folder',
  permission: 'folders:create',
};

export interface FolderInput {
  /** 1 to 255 characters; siblings may share one. */
  name?: string | null;
  /** Null for the top. */
  parentId?: string | null;
}

/** Makes a folder. Answers the id. */
export async function create(ctx: Context, input: FolderInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  const name = checkText(input.name, 'name');
  const parentId = input.parentId?.toLowerCase() ?? null;
  return ctx.transaction(async (tx) => {
    if (parentId !== null) await resolveIds(tx, tenantId, 'folder', [parentId]);
    const folder = tx.em.create(Folder, { tenantId, name, parentId, creatorId: userId }, { partial: true });
    tx.em.persist(folder);
    return folder.id;
  });
}

/** Renames or moves a folder. 400 when it would lie within itself. Answers the id. */
export async function update(ctx: Context, id: string, { name, parentId: given }: FolderInput): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    await lockFolderTree(tx, tenantId);
    const folder = await loadUnowned(ctx, tx, FOLDER, id, 'folder:write', { ifMatch: ctx.ifMatch });
    if (name !== undefined) folder.name = checkText(name, 'name');
    const parentId = given === undefined ? (folder.parentId ?? null) : (given?.toLowerCase() ?? null);
    if (parentId === (folder.parentId ?? null)) return folder.id;
    if (parentId !== null) await resolveIds(tx, tenantId, 'folder', [parentId]);
    folder.parentId = parentId;
    await checkAcyclic(tx, tenantId, [folder.id]);
    return folder.id;
  });
}

/** Deletes a folder with the folders in it; what else lies there is in no folder afterwards. */
export async function remove(ctx: Context, id: string): Promise<void> {
  const { tenantId } = ctx.viewer;
  await ctx.transaction(async (tx) => {
    await lockFolderTree(tx, tenantId);
    const folder = await loadUnowned(ctx, tx, FOLDER, id, 'folder:delete', { ifMatch: ctx.ifMatch });
    await deleteFolderTrees(tx, tenantId, [folder.id]);
  });
}

import { Image } from '../../../entities/image.ts';
import { ASSISTANT } from '../../../entities/owned-kinds.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { downloadOf } from '../../core/downloads.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { LEVEL, levelAllows, type Level } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevel, accessLevelInTransaction } from '../resource/access-level.ts';
import { auditContent } from '../resource/audit-read.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { deleteStoredBytes, deleteStoredFiles } from '../resource/stored-file.ts';

/** Returns the path of the contents of an image. */
export const imageUrl = (id: string): string => `/api/images/${id}/contents`;

/** The columns that sending the contents of an image requires. */
export const CONTENT_COLUMNS = ['fileId', 'bytes', 'sha256'] as const;

/**
 * Sends the contents of an image, in a request for its bytes, unless the client has them. Throws NOT_FOUND if they were
 * deleted during the request.
 */
export async function sendImage(
  ctx: Pick<Context, 'platform' | 'request' | 'viewer' | 'sendFile' | 'revalidate'>,
  { id, fileId, bytes, sha256 }: { id: string; fileId: string; bytes: number; sha256: string },
): Promise<void> {
  if (!ctx.sendFile || ctx.revalidate?.(sha256)) return;
  const content = await ctx.platform.files.open(fileId);
  if (!content) throw notFound({ what: 'image', id });
  ctx.sendFile(await auditContent(ctx, downloadOf('image', id), content), bytes);
}

/**
 * Deletes an image with its contents. Throws NOT_FOUND if the viewer may not read it, FORBIDDEN if it belongs to
 * another user and the viewer may not write its assistant.
 */
export async function remove(ctx: Context, id: string): Promise<void> {
  const fileId = await ctx.transaction(async (tx) => {
    const image = isUuid(id) ? await tx.findOne(Image, { id: id.toLowerCase() }, { lock: 'update' }) : null;
    const level = image ? await levelOn(ctx, tx, image) : LEVEL.none;
    if (!image || level === LEVEL.none) throw notFound({ what: 'image', id });
    recordAuditTarget(ctx.request, 'image', id, image.id);
    if (!levelAllows(level, 'image:delete')) throw forbidden({ permission: 'image:delete' });
    checkVersion(ctx, 'image', image.version);
    tx.remove(image);
    tx.flush();
    deleteStoredFiles(tx, ctx.viewer.tenantId, [image.fileId]);
    return image.fileId;
  });
  await deleteStoredBytes(ctx, [fileId]);
}

/** Returns the level of the viewer on an image: owner on one's own, else the level on its assistant. */
async function levelOn(ctx: Context, tx: Transaction, { userId, assistantId }: Image): Promise<Level> {
  if (userId === ctx.viewer.userId) return LEVEL.owner;
  if (!assistantId) return LEVEL.none;
  const assistant = await tx.findOne(ASSISTANT.entity, { id: assistantId });
  return assistant ? accessLevelInTransaction(ctx, tx, assistant) : LEVEL.none;
}

/** Returns whether the viewer may delete an image that they may read. */
export async function isDeletable(
  ctx: Context,
  { userId, assistant }: { userId?: string | null; assistant?: { id: string; ownerId: string } | null },
): Promise<boolean> {
  if (userId === ctx.viewer.userId) return true;
  return assistant ? levelAllows(await accessLevel(ctx, assistant), 'image:delete') : false;
}

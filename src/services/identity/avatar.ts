import type { SetAvatarInput } from '../../../entities/avatar-input.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { creationTimeOf } from '../../core/id.ts';
import { PICTURE_TYPES } from '../../core/pictures.ts';
import type { Transaction } from '../../core/platform.ts';
import { requireUser } from '../../core/viewer.ts';
import { receivePicture, storePicture, type UploadedPicture } from '../resource/picture-upload.ts';
import { checkQuota } from '../resource/quota.ts';
import { deleteStoredBytes, insertStoredFile, type LabelledFile } from '../resource/stored-file.ts';
import { deleteAvatarFiles } from './avatar-file.ts';
import { IS_USER, loadUser, userKeyValues } from './user-lookup.ts';
import { requireUserEdit } from './user.ts';

/** The picture that is drawn from an uploaded one. */
export const AVATAR_DRAWING = { avatar: { as: 'square', size: 256 } } as const;
export const AVATAR_TYPE = 'image/webp';
/** Name of an uploaded file without one. */
export const AVATAR_NAME = 'avatar';

/** Returns the path of a user's avatar. It differs for each avatar, so that clients can keep one for long. */
export const avatarUrlOf = (user: { id: string; avatarId?: string | null }): string =>
  `/api/users/${user.id}/avatar${user.avatarId ? `?t=${creationTimeOf(user.avatarId)}` : ''}`;

/**
 * Sets the avatar of a user. Returns the id of the user. Users set their own one; other users require `users:edit`.
 * Throws BAD_USER_INPUT for a file that is not a harmless picture, and PAYLOAD_TOO_LARGE for a file past 5 MB or the
 * quota. The former avatar then stays. See docs/contract/people.md#avatars.
 */
export async function set(ctx: Context, key: string, { file }: SetAvatarInput): Promise<string> {
  const userId = await checkAvatarEdit(ctx, key);
  const { source } = await receivePicture(ctx, file, AVATAR_NAME);
  await storeAvatar(ctx, userId, source);
  return userId;
}

/** Removes the avatar of a user, if there is one. Returns the id of the user. */
export async function remove(ctx: Context, key: string): Promise<string> {
  const { id, files } = await ctx.transaction(async (tx) => {
    const user = await loadUser(ctx, tx, key, { ifMatch: ctx.ifMatch });
    requireUserEdit(ctx, user);
    const former = { ...user };
    Object.assign(user, { avatarId: null, avatarOriginalId: null });
    return { id: user.id, files: deleteAvatarFiles(tx, former) };
  });
  await deleteStoredBytes(ctx, files);
  return id;
}

/**
 * Checks before a file is received that the caller may change the avatar of a user. Returns the id of the user. Does
 * nothing for the caller's own avatar.
 */
export async function checkAvatarEdit(ctx: Context, key: string): Promise<string> {
  const { viewer } = ctx;
  requireUser(viewer);
  const isOwn = [viewer.userId, viewer.username.toLowerCase()].includes(key.toLowerCase());
  const user = isOwn ? { id: viewer.userId, superuser: viewer.superuser } : await findUser(ctx, key);
  recordAuditTarget(ctx.request, 'user', key, user.id);
  requireUserEdit(ctx, user);
  return user.id;
}

async function findUser({ query, viewer }: Context, key: string): Promise<{ id: string; superuser: boolean }> {
  const [user] = await query<{ id: string; superuser: boolean }>({
    text: `select u.id, u.superuser from dws.app_user u where ${IS_USER}`,
    values: [viewer.tenantId, ...userKeyValues(key)],
  });
  if (!user) throw notFound({ what: 'user', id: key });
  return user;
}

/** The user whose avatar was set. */
interface AvatarOwner {
  id: string;
  avatarId: string;
}

/**
 * Draws the avatar of a user from a stored file and sets it. The file becomes the original, or is deleted. `alsoDelete`
 * deletes further file rows in the same transaction and returns their ids.
 */
export async function storeAvatar(
  ctx: Context,
  userId: string,
  source: UploadedPicture,
  alsoDelete: (tx: Transaction) => string[] = () => [],
): Promise<AvatarOwner> {
  return storePicture(ctx, source, AVATAR_DRAWING, async ({ format, sanitized, drawn }, save) => {
    const original = sanitized ? await save(sanitized) : source;
    const avatar = await save(drawn.avatar);
    const { owner, replaced } = await ctx.transaction((tx) =>
      replaceAvatar(ctx, tx, userId, {
        avatar: { ...avatar, filename: 'avatar.webp', contentType: AVATAR_TYPE },
        original: { ...original, filename: source.filename, contentType: PICTURE_TYPES[format] },
        alsoDelete,
      }),
    );
    return { result: owner, unused: [...replaced, ...(sanitized ? [source.id] : [])] };
  });
}

/** Replaces the avatar of a user. Returns the user, and the ids of the files whose rows were deleted. */
async function replaceAvatar(
  ctx: Context,
  tx: Transaction,
  userId: string,
  {
    avatar,
    original,
    alsoDelete,
  }: { avatar: LabelledFile; original: LabelledFile; alsoDelete: (tx: Transaction) => string[] },
): Promise<{ owner: AvatarOwner; replaced: string[] }> {
  const { tenantId } = ctx.viewer;
  const user = await loadUser(ctx, tx, userId, { ifMatch: ctx.ifMatch });
  requireUserEdit(ctx, user);
  insertStoredFile(tx, tenantId, avatar);
  insertStoredFile(tx, tenantId, original);
  const former = { ...user };
  Object.assign(user, { avatarId: avatar.id, avatarOriginalId: original.id });
  const replaced = [...deleteAvatarFiles(tx, former), ...alsoDelete(tx)];
  // The new files are already counted, and the replaced ones no longer.
  await checkQuota(tx, tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0);
  return { owner: { id: user.id, avatarId: avatar.id }, replaced };
}

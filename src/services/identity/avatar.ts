import type { SetAvatarInput } from '../../../entities/avatar-input.ts';
import { preparePicture } from '../../adapters/pictures/pictures.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound, tooLarge } from '../../core/errors.ts';
import { cleanFilename, yieldOnce, type IncomingFile, type SavedFile } from '../../core/files.ts';
import { creationTimeOf } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { MAX_PICTURE_BYTES, PICTURE_TYPES } from '../../core/pictures.ts';
import type { Transaction } from '../../core/platform.ts';
import { requireUser } from '../../core/viewer.ts';
import { checkQuota } from '../resource/quota.ts';
import { deleteStoredBytes, deleteUnreferenced, insertStoredFile, type LabelledFile } from '../resource/stored-file.ts';
import { deleteAvatarFiles } from './avatar-file.ts';
import { IS_USER, loadUser, userKeyValues } from './user-lookup.ts';
import { requireUserEdit } from './user.ts';

/** Side of an avatar in pixels. */
export const AVATAR_SIZE = 256;
export const AVATAR_TYPE = 'image/webp';

/** Returns the path of a user's avatar. It differs for each avatar, so that clients can keep one for long. */
export const avatarUrlOf = (user: { id: string; avatarId?: string | null }): string =>
  `/api/users/${user.id}/avatar${user.avatarId ? `?t=${creationTimeOf(user.avatarId)}` : ''}`;

/** A stored file, from which an avatar is drawn. */
export type AvatarSource = SavedFile & { filename: string };

/**
 * Sets the avatar of a user. Returns the id of the user. Users set their own one; other users require `users:edit`. Throws
 * BAD_USER_INPUT for what is no harmless picture, PAYLOAD_TOO_LARGE for one past 5 MB or the quota. The former avatar then
 * stays. See docs/contract.md#avatars.
 */
export async function set(ctx: Context, key: string, { file }: SetAvatarInput): Promise<string> {
  const userId = await checkAvatarEdit(ctx, key);
  const { source } = await receivePicture(ctx, file);
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

/**
 * Saves an upload without checking it. The caller deletes the file if it is not used. `check` receives the input with the
 * parts that a form may have after the file; if it throws, the file is deleted.
 */
export async function receivePicture<T = undefined>(
  ctx: Context,
  file: IncomingFile,
  check?: (wholeInput: object | undefined) => T,
): Promise<{ source: AvatarSource; checked: T | undefined }> {
  if (file.minSize > MAX_PICTURE_BYTES)
    throw tooLarge(`The file is larger than the maximum of ${MAX_PICTURE_BYTES} bytes`);
  const saved = await ctx.platform.files.save(file.content, MAX_PICTURE_BYTES);
  try {
    // Unknown parts after the file are refused.
    const wholeInput = await file.wholeInput?.();
    if (saved.size === 0) throw invalid('file', 'must not be empty');
    return { source: { ...saved, filename: cleanFilename(file.filename ?? 'avatar') }, checked: check?.(wholeInput) };
  } catch (error) {
    await deleteStoredBytes(ctx, [saved.id]);
    throw error;
  }
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
  source: AvatarSource,
  alsoDelete: (tx: Transaction) => string[] = () => [],
): Promise<AvatarOwner> {
  const { files } = ctx.platform;
  const stored = [source.id];
  try {
    const { format, sanitized, drawn } = await preparePicture(
      files.path(source.id),
      AVATAR_SIZE,
      ctx.viewer,
      ctx.request.signal,
    );
    const original = sanitized ? await files.save(yieldOnce(sanitized), 0) : source;
    if (sanitized) stored.push(original.id);
    const avatar = await files.save(yieldOnce(drawn), 0);
    stored.push(avatar.id);
    const { owner, replaced } = await ctx.transaction((tx) =>
      replaceAvatar(ctx, tx, userId, {
        avatar: { ...avatar, filename: 'avatar.webp', contentType: AVATAR_TYPE },
        original: { ...original, filename: source.filename, contentType: PICTURE_TYPES[format] },
        alsoDelete,
      }),
    );
    await deleteStoredBytes(ctx, [...replaced, ...(sanitized ? [source.id] : [])]);
    return owner;
  } catch (error) {
    await deleteUnreferenced(ctx, stored);
    throw error;
  }
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
  // The new files are counted already, the replaced ones no more.
  await checkQuota(tx, tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0);
  return { owner: { id: user.id, avatarId: avatar.id }, replaced };
}

import type { AvatarPartInput } from '../../../entities/avatar-input.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, conflict, tooLarge } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { MAX_PICTURE_BYTES } from '../../core/pictures.ts';
import type { Transaction } from '../../core/platform.ts';
import { receivePicture } from '../resource/picture-upload.ts';
import { checkQuota } from '../resource/quota.ts';
import { deleteStoredBytes, deleteStoredFiles, deleteUnreferenced } from '../resource/stored-file.ts';
import { replacePart, type NewPart, type StoredPart } from './avatar-upload-rows.ts';
import { AVATAR_NAME, avatarUrlOf, checkAvatarEdit, storeAvatar } from './avatar.ts';
import { loadUser } from './user-lookup.ts';
import { requireUserEdit } from './user.ts';

/** Keeps the number of a user's files low, although each of them may be small. */
const MAX_PARTS = 100;

/** State of an upload in parts. */
export interface AvatarUploadState {
  uploadId: string;
  /** Number of different parts that were received. */
  received: number;
  total: number;
  complete: boolean;
  /** Path of the avatar, once the upload is complete. */
  avatarUrl: string | null;
}

/** The number of a part and of all parts of an input, and the client's names of these numbers. */
interface PartPosition {
  /** From 0. */
  part: number;
  partCount: number;
  keys: { part: string; partCount: string };
}

/**
 * Stores a part of an avatar. With the last one the avatar is set as by `set`. Uploader, user and `uploadId` identify an
 * upload. Parts may come in any order; one that comes again replaces the former. Throws BAD_USER_INPUT for numbers that
 * do not fit, PAYLOAD_TOO_LARGE if the parts exceed 5 MB. See docs/contract/people.md#avatars.
 */
export async function addPart(
  ctx: Context,
  key: string,
  uploadId: string,
  input: AvatarPartInput,
): Promise<AvatarUploadState> {
  const userId = await checkAvatarEdit(ctx, key);
  const { source: file, checked } = await receivePicture(ctx, input.file, AVATAR_NAME, (wholeInput) =>
    positionOf((wholeInput as AvatarPartInput | undefined) ?? input),
  );
  const { partCount } = checked!;
  const stored = await storePart(ctx, { userId, uploadId, ...checked!, file });
  const state = { uploadId, received: stored.length, total: partCount };
  if (stored.length < partCount) return { ...state, complete: false, avatarUrl: null };
  const partIds = stored.map(({ fileId }) => fileId);
  const owner = await complete(ctx, userId, partIds, file.filename);
  return { ...state, complete: true, avatarUrl: avatarUrlOf(owner) };
}

/** Returns the numbers of a part. Throws BAD_USER_INPUT that names the wrong one. */
function positionOf({ chunk, chunks, flowChunkNumber, flowTotalChunks }: AvatarPartInput): PartPosition {
  const isFlow = chunk == null && chunks == null && (flowChunkNumber != null || flowTotalChunks != null);
  const keys = isFlow
    ? { part: 'flowChunkNumber', partCount: 'flowTotalChunks' }
    : { part: 'chunk', partCount: 'chunks' };
  // Without numbers, a part is the only one.
  if (!isFlow && chunk == null && chunks == null) return { part: 0, partCount: 1, keys };
  const [first, number, partCount] = isFlow ? [1, flowChunkNumber, flowTotalChunks] : [0, chunk, chunks];
  if (number == null) throw invalid(keys.part, 'is required');
  if (partCount == null) throw invalid(keys.partCount, 'is required');
  if (partCount < 1 || partCount > MAX_PARTS)
    throw invalid(keys.partCount, `must be a whole number from 1 to ${MAX_PARTS}`);
  const part = number - first;
  if (part < 0 || part >= partCount)
    throw invalid(keys.part, `must be a whole number from ${first} to ${first + partCount - 1}`);
  return { part, partCount, keys };
}

/** Stores a part, in place of a former one of its number. Returns all parts of the upload in order. */
async function storePart(ctx: Context, part: NewPart & PartPosition): Promise<StoredPart[]> {
  try {
    const { stored, replaced } = await ctx.transaction(async (tx) => {
      // The lock on the user serializes the parts, so that the last one sees all others.
      const [user, parts] = await Promise.all([
        loadUser(ctx, tx, part.userId),
        replacePart(ctx, tx, part),
        // The part is already counted, and the replaced one no longer.
        checkQuota(tx, ctx.viewer.tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0),
      ]);
      requireUserEdit(ctx, user);
      checkParts(parts.stored, part);
      return parts;
    });
    await deleteStoredBytes(ctx, replaced);
    return stored;
  } catch (error) {
    await deleteUnreferenced(ctx, [part.file.id]);
    throw error;
  }
}

function checkParts(stored: readonly StoredPart[], { partCount, keys }: PartPosition): void {
  const other = stored.find((one) => one.partCount !== partCount);
  if (other) throw invalid(keys.partCount, `must be ${other.partCount}, as in the former parts of the upload`);
  const size = stored.reduce((sum, one) => sum + one.size, 0);
  if (size > MAX_PICTURE_BYTES)
    throw tooLarge(`The parts have ${size} bytes, more than the maximum of ${MAX_PICTURE_BYTES}`);
}

/** Sets the avatar from the parts, and deletes them: also if they are refused, so that the client can begin again. */
async function complete(ctx: Context, userId: string, partIds: string[], filename: string) {
  const { files } = ctx.platform;
  const saved = await files.save(readParts(ctx, partIds), MAX_PICTURE_BYTES);
  const deleteParts = (tx: Pick<Transaction, 'execute'>) => {
    deleteStoredFiles(tx, ctx.viewer.tenantId, partIds);
    return partIds;
  };
  try {
    return await storeAvatar(ctx, userId, { ...saved, filename }, deleteParts);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 400 || error.status === 413)) {
      await ctx.transaction(async (tx) => deleteParts(tx));
      await deleteStoredBytes(ctx, partIds);
    }
    throw error;
  }
}

async function* readParts({ platform }: Context, partIds: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const id of partIds) {
    const bytes = await platform.files.read(id);
    // Another request with the last part has completed the upload.
    if (!bytes) throw conflict('The upload is already complete');
    yield bytes;
  }
}

import type { AvatarPartInput } from '../../../entities/avatar-input.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, conflict, tooLarge } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { MAX_PICTURE_BYTES } from '../../core/pictures.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkQuota } from '../resource/quota.ts';
import { deleteStoredBytes, deleteStoredFiles, deleteUnreferenced, insertStoredFile } from '../resource/stored-file.ts';
import {
  avatarUrlOf,
  checkAvatarEdit,
  receivePicture,
  storeAvatar,
  userKeyValues,
  type AvatarSource,
} from './avatar.ts';
import { loadUser } from './user-lookup.ts';
import { requireUserEdit } from './user.ts';

/** So that the files of a user stay few, although each of them may be small. */
const MAX_PARTS = 100;
/** Unfinished uploads of one user. The oldest further ones are deleted. */
const MAX_UPLOADS = 20;

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

/** Which part of how many an input is, and the names by which the client knows these numbers. */
interface PartPlace {
  /** From 0. */
  part: number;
  parts: number;
  keys: { part: string; parts: string };
}

/** A part as it is stored. */
interface StoredPart extends Record<string, unknown> {
  fileId: string;
  parts: number;
  size: number;
}

/**
 * Stores a part of an avatar. With the last one the avatar is set as by `set`. Uploader, user and `uploadId` identify an
 * upload. Parts may come in any order; one that comes again replaces the former. Throws BAD_USER_INPUT for numbers that
 * do not fit, PAYLOAD_TOO_LARGE if the parts exceed 5 MB. See docs/contract.md#avatars.
 */
export async function addPart(
  ctx: Context,
  key: string,
  uploadId: string,
  input: AvatarPartInput,
): Promise<AvatarUploadState> {
  await checkAvatarEdit(ctx, key);
  const { file, place } = await receivePart(ctx, input);
  const stored = await storePart(ctx, key, uploadId, place, file);
  const state = { uploadId, received: stored.length, total: place.parts };
  if (stored.length < place.parts) return { ...state, complete: false, avatarUrl: null };
  const owner = await complete(
    ctx,
    key,
    stored.map(({ fileId }) => fileId),
    file.filename,
  );
  return { ...state, complete: true, avatarUrl: avatarUrlOf(owner) };
}

/** Stores the bytes of a part and checks its numbers, which a form may have after the file. */
async function receivePart(ctx: Context, input: AvatarPartInput): Promise<{ file: AvatarSource; place: PartPlace }> {
  const { wholeInput } = input.file;
  let whole = input;
  const file = await receivePicture(ctx, {
    ...input.file,
    wholeInput: async () => {
      whole = ((await wholeInput?.()) as AvatarPartInput | undefined) ?? input;
      placeOf(whole);
      return {};
    },
  });
  return { file, place: placeOf(whole) };
}

/** Returns the numbers of a part. Throws BAD_USER_INPUT that names the wrong one. */
function placeOf({ chunk, chunks, flowChunkNumber, flowTotalChunks }: AvatarPartInput): PartPlace {
  const isFlow = chunk == null && chunks == null && (flowChunkNumber != null || flowTotalChunks != null);
  const keys = isFlow ? { part: 'flowChunkNumber', parts: 'flowTotalChunks' } : { part: 'chunk', parts: 'chunks' };
  const [first, number, parts] = isFlow ? [1, flowChunkNumber, flowTotalChunks] : [0, chunk, chunks];
  if (number == null) throw invalid(keys.part, 'is required');
  if (parts == null) throw invalid(keys.parts, 'is required');
  if (parts < 1 || parts > MAX_PARTS) throw invalid(keys.parts, `must be a whole number from 1 to ${MAX_PARTS}`);
  const part = number - first;
  if (part < 0 || part >= parts)
    throw invalid(keys.part, `must be a whole number from ${first} to ${first + parts - 1}`);
  return { part, parts, keys };
}

/** Stores a part, in place of a former one of its number. Returns all parts of the upload in order. */
async function storePart(
  ctx: Context,
  key: string,
  uploadId: string,
  place: PartPlace,
  file: AvatarSource,
): Promise<StoredPart[]> {
  try {
    const { stored, deleted } = await ctx.transaction(async (tx) => {
      // The lock on the user serializes the parts, so that the last one sees all others.
      const [user, parts] = await Promise.all([
        loadUser(ctx, tx, key),
        replacePart(ctx, tx, key, uploadId, place, file),
        // The part is counted already, the replaced one no more.
        checkQuota(tx, ctx.viewer.tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0),
      ]);
      requireUserEdit(ctx, user);
      checkParts(parts.stored, place);
      return parts;
    });
    await deleteStoredBytes(ctx, deleted);
    return stored;
  } catch (error) {
    await deleteUnreferenced(ctx, [file.id]);
    throw error;
  }
}

function checkParts(stored: readonly StoredPart[], { parts, keys }: PartPlace): void {
  const other = stored.find((one) => one.parts !== parts);
  if (other) throw invalid(keys.parts, `must be ${other.parts}, as in the former parts of the upload`);
  const size = stored.reduce((sum, one) => sum + one.size, 0);
  if (size > MAX_PICTURE_BYTES)
    throw tooLarge(`The parts have ${size} bytes, more than the maximum of ${MAX_PICTURE_BYTES}`);
}

/** The upload `$3` of the user `$2` for a user whose id is `$4` or whose name is `$5`. */
const OF_UPLOAD = `tenant_id = $1 and uploader_id = $2 and upload_id = $3 and user_id = (
  select id from dws.app_user where tenant_id = $1 and (id = $4 or lower(username) = lower($5)))`;

/**
 * Replaces one part, in the round trip of the statements before. Returns all parts of the upload in order, and the ids of
 * files whose rows were deleted.
 */
async function replacePart(
  { viewer }: Context,
  tx: Transaction,
  key: string,
  uploadId: string,
  { part, parts }: PartPlace,
  file: AvatarSource,
): Promise<{ stored: StoredPart[]; deleted: string[] }> {
  const { tenantId, userId } = viewer;
  const upload = [tenantId, userId, uploadId, ...userKeyValues(key)];
  const replaced = tx.query<{ id: string }>({
    text: `
      delete from dws.stored_file
      where tenant_id = $1 and id in (select file_id from dws.avatar_upload_part where ${OF_UPLOAD} and part = $6)
      returning id`,
    values: [...upload, part],
  });
  insertStoredFile(tx, tenantId, { ...file, contentType: 'application/octet-stream' });
  tx.execute({
    text: `
      insert into dws.avatar_upload_part (tenant_id, uploader_id, upload_id, user_id, part, parts, file_id)
      select $1, $2, $3, id, $6, $7, $8
      from dws.app_user
      where tenant_id = $1 and (id = $4 or lower(username) = lower($5))`,
    values: [...upload, part, parts, file.id],
  });
  const oldest = deleteOldestUploads(tx, tenantId, userId);
  const stored = tx.query<StoredPart>({
    text: `
      select p.file_id as "fileId", p.parts, f.size
      from dws.avatar_upload_part p join dws.stored_file f on f.id = p.file_id
      where ${OF_UPLOAD.replace('tenant_id', 'p.tenant_id')}
      order by p.part`,
    values: upload,
  });
  const results = await Promise.all([stored, replaced, oldest]);
  return { stored: results[0], deleted: [...results[1], ...results[2]].map(({ id }) => id) };
}

/** Deletes the uploads of a user but the last ones to which a part was added. Returns the ids of their files. */
const deleteOldestUploads = (tx: Transaction, tenantId: string, uploaderId: string): Promise<{ id: string }[]> =>
  tx.query({
    text: `
      delete from dws.stored_file
      where tenant_id = $1 and id in (
        select file_id from dws.avatar_upload_part where tenant_id = $1 and uploader_id = $2 and (user_id, upload_id) in (
          select user_id, upload_id
          from dws.avatar_upload_part
          where tenant_id = $1 and uploader_id = $2
          group by user_id, upload_id
          order by max(created_at) desc, upload_id
          offset ${MAX_UPLOADS}))
      returning id`,
    values: [tenantId, uploaderId],
  });

/** Sets the avatar from the parts, and deletes them: also if they are refused, so that the client can begin again. */
async function complete(ctx: Context, key: string, parts: string[], filename: string) {
  const { files } = ctx.platform;
  const saved = await files.save(readParts(ctx, parts), MAX_PICTURE_BYTES);
  const deleteParts = (tx: Pick<Transaction, 'execute'>) => {
    deleteStoredFiles(tx, ctx.viewer.tenantId, parts);
    return parts;
  };
  try {
    return await storeAvatar(ctx, key, { ...saved, filename }, deleteParts);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 400 || error.status === 413)) {
      await ctx.transaction(async (tx) => deleteParts(tx));
      await deleteStoredBytes(ctx, parts);
    }
    throw error;
  }
}

async function* readParts({ platform }: Context, ids: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const id of ids) {
    const bytes = await platform.files.read(id);
    // Another request with the last part has completed the upload.
    if (!bytes) throw conflict('The upload is already complete');
    yield bytes;
  }
}

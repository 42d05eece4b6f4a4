import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';
import type { UploadedPicture } from '../resource/picture-upload.ts';
import { deleteSelectedFiles, insertStoredFile } from '../resource/stored-file.ts';

/** Maximum number of unfinished uploads of one user. The oldest further ones are deleted. */
const MAX_UPLOADS = 20;

/** A part that was received. */
export interface NewPart {
  /** The user of the avatar. */
  userId: string;
  uploadId: string;
  /** From 0. */
  part: number;
  partCount: number;
  file: UploadedPicture;
}

/** A part as it is stored. */
export interface StoredPart extends Record<string, unknown> {
  fileId: string;
  partCount: number;
  size: number;
}

/** The upload `$3` of the user `$2` for the user `$4`. */
const OF_UPLOAD = 'p.tenant_id = $1 and p.uploader_id = $2 and p.upload_id = $3 and p.user_id = $4';

/**
 * Replaces one part, in the round trip of the previous statements. Returns all parts of the upload in order, and the
 * ids of files whose rows were deleted. Inserts nothing if the user does not exist.
 */
export async function replacePart(
  { viewer }: Context,
  tx: Transaction,
  { userId, uploadId, part, partCount, file }: NewPart,
): Promise<{ stored: StoredPart[]; replaced: string[] }> {
  const { tenantId, userId: uploaderId } = viewer;
  const upload = [tenantId, uploaderId, uploadId, userId] as const;
  const former = deleteSelectedFiles(
    tx,
    `select file_id from dws.avatar_upload_part p where ${OF_UPLOAD} and part = $5`,
    [...upload, part],
  );
  insertStoredFile(tx, tenantId, { ...file, contentType: 'application/octet-stream' });
  tx.execute({
    text: `
      insert into dws.avatar_upload_part (tenant_id, uploader_id, upload_id, user_id, part, parts, file_id)
      select $1, $2, $3, id, $5, $6, $7
      from dws.app_user
      where tenant_id = $1 and id = $4`,
    values: [...upload, part, partCount, file.id],
  });
  const oldest = deleteOldestUploads(tx, tenantId, uploaderId);
  const stored = tx.query<StoredPart>({
    text: `
      select p.file_id as "fileId", p.parts as "partCount", f.size
      from dws.avatar_upload_part p join dws.stored_file f on f.id = p.file_id
      where ${OF_UPLOAD}
      order by p.part`,
    values: [...upload],
  });
  const results = await Promise.all([stored, former, oldest]);
  return { stored: results[0], replaced: [...results[1], ...results[2]] };
}

/** Deletes the unfinished uploads of a user, except the 20 with the latest parts. Returns the ids of their files. */
const deleteOldestUploads = (tx: Transaction, tenantId: string, uploaderId: string): Promise<string[]> =>
  deleteSelectedFiles(
    tx,
    `
      select file_id from dws.avatar_upload_part where tenant_id = $1 and uploader_id = $2 and (user_id, upload_id) in (
        select user_id, upload_id
        from dws.avatar_upload_part
        where tenant_id = $1 and uploader_id = $2
        group by user_id, upload_id
        order by max(created_at) desc, upload_id
        offset ${MAX_UPLOADS})`,
    [tenantId, uploaderId],
  );

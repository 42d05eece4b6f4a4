import type { User } from '../../../entities/user.ts';
import type { Transaction } from '../../core/platform.ts';
import { deleteSelectedFiles, deleteStoredFiles } from '../resource/stored-file.ts';

/** Deletes the rows of the files of a user's avatar that no user refers to. Returns their ids. */
export function deleteAvatarFiles(
  tx: Pick<Transaction, 'execute'>,
  { tenantId, avatarId, avatarOriginalId }: Pick<User, 'tenantId' | 'avatarId' | 'avatarOriginalId'>,
): string[] {
  const ids = [avatarId, avatarOriginalId].filter((id) => id != null);
  deleteStoredFiles(tx, tenantId, ids);
  return ids;
}

/**
 * Deletes the rows of the parts of avatars that a user has uploaded, or that others have uploaded for the user. Returns
 * the ids of their files.
 */
export const deleteAvatarUploads = (
  tx: Pick<Transaction, 'query'>,
  { tenantId, id }: Pick<User, 'tenantId' | 'id'>,
): Promise<string[]> =>
  deleteSelectedFiles(
    tx,
    `select file_id from dws.avatar_upload_part where tenant_id = $1 and (uploader_id = $2 or user_id = $2)`,
    [tenantId, id],
  );

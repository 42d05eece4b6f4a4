import type { ClosedFolder, DrivePage } from '../../core/drive.ts';
import { notFound, tooLarge } from '../../core/errors.ts';
import { DriveRefusal, isForbidden } from './drive-refusal.ts';

/** Position of a listing that goes from folder to folder. */
export interface FolderCursor {
  /** Ids of the folders that are being listed. */
  folders: string[];
  /** Ids of folders to list after them. */
  waiting: string[];
  /** Next page of `folders` at the provider; null for the first. */
  page: string | null;
}

/** Maximum number of folders that wait: each page writes them to the cursor. */
const MAX_WAITING = 50_000;

/** Returns the place of a cursor of a listing below a folder; that folder for null. */
export const readFolderCursor = (cursor: string | null, folderId: string): FolderCursor =>
  cursor === null ? { folders: [folderId], waiting: [], page: null } : (JSON.parse(cursor) as FolderCursor);

/**
 * Returns the cursor after a page in which folders were `found`. The folders that were found last are listed first, so
 * that few wait at a time. Throws PAYLOAD_TOO_LARGE if more than 50,000 wait. The caller ends a listing of folders in a
 * circle.
 */
export function nextFolders(
  at: FolderCursor,
  found: readonly string[],
  page: string | null,
  foldersAtOnce: number,
): { cursor: string; isLast: boolean } {
  const waiting = [...new Set([...at.waiting, ...found])];
  if (waiting.length > MAX_WAITING) throw tooLarge(`More than ${MAX_WAITING} folders wait to be listed`);
  const next: FolderCursor =
    page === null
      ? { folders: waiting.splice(-foldersAtOnce), waiting, page: null }
      : { folders: at.folders, waiting, page };
  return { cursor: JSON.stringify(next), isLast: next.folders.length === 0 };
}

/**
 * Waits for the page of `at`. If a folder has been deleted since it was found, or may not be opened, returns an empty
 * page. After it the folders are listed in smaller groups, and a failing folder that is alone is skipped. A folder that
 * may not be opened is reported as closed, with the id that `toItemId` returns. Throws NOT_FOUND if the first folder is
 * gone, and the refusal if that one may not be opened.
 */
export async function orWithoutFolder<T>(
  at: FolderCursor,
  firstId: string,
  page: Promise<T>,
  toItemId: (folderId: string) => string = (id) => id,
): Promise<T | DrivePage> {
  try {
    return await page;
  } catch (error) {
    const isClosed = isForbidden(error);
    if (!isClosed && !(error instanceof DriveRefusal && error.httpStatus === 404)) throw error;
    const [folderId] = at.folders as [string];
    if (at.folders.length === 1 && folderId === firstId)
      throw isClosed ? error : notFound({ what: 'folder at the drive', id: firstId });
    const half = at.folders.slice(0, at.folders.length >> 1);
    const waiting = [...at.waiting, ...at.folders.slice(half.length)];
    if (half.length > 0)
      return { events: [], cursor: JSON.stringify({ folders: half, waiting, page: null }), isLast: false };
    const events = isClosed ? [closedFolder(toItemId(folderId), error)] : [];
    return { events, ...nextFolders(at, [], null, 1) };
  }
}

/** Returns the report of a folder that may not be opened. */
export const closedFolder = (closedId: string, { code, message }: DriveRefusal): ClosedFolder => ({
  closedId,
  code,
  message: `The folder cannot be opened: ${message}`,
});

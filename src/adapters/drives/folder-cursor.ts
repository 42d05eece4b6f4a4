import type { DriveItem } from '../../core/drive.ts';

/** Where a listing is that goes from folder to folder. */
export interface FolderCursor {
  /** Ids of the folders that are being listed. */
  folders: string[];
  /** Ids of folders to list after them. */
  waiting: string[];
  /** Next page of `folders` at the provider; null for the first. */
  page: string | null;
}

/** Returns the place of a cursor; null for null. */
export const checkFolderCursor = (cursor: string | null): FolderCursor | null =>
  cursor === null ? null : (JSON.parse(cursor) as FolderCursor);

/**
 * Returns the cursor after a page. Folders that were found last are listed first, so that few wait at a time.
 */
export function nextFolders(
  at: FolderCursor,
  items: readonly DriveItem[],
  page: string | null,
  foldersAtOnce: number,
): { cursor: string; isLast: boolean } {
  const found = items.filter(({ isFolder }) => isFolder).map(({ id }) => id);
  const waiting = [...at.waiting, ...found.filter((id) => !at.waiting.includes(id))];
  const next: FolderCursor =
    page === null
      ? { folders: waiting.splice(-foldersAtOnce), waiting, page: null }
      : { folders: at.folders, waiting, page };
  return { cursor: JSON.stringify(next), isLast: next.folders.length === 0 };
}

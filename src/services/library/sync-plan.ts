import type { LibrarySettings } from '../../../entities/library.ts';
import { formatSize } from '../../core/size.ts';
import { cutBytes, keyOf, type StagedItem } from './sync-stage.ts';

/** Maximum size of a path in UTF-8, because an index of Postgres has a limit. */
export const MAX_PATH_BYTES = 2000;
/** The reason of files with longer paths. */
export const LONG_PATH = `The path has more than ${MAX_PATH_BYTES} bytes`;

/** A file as the library has it. */
export interface KnownFile {
  name: string;
  path: string;
  /** How the path is compared with others; null if the drive states folders. */
  pathKey: string | null;
  contentType: string;
  size: number | null;
  hash: string | null;
  revision: string | null;
  parentId: string | null;
  status: 'synced' | 'skipped' | 'failed';
  reason: string | null;
  url: string | null;
  modifiedAt: string | null;
  syncedAt: string | null;
  storedFileId: string | null;
}

/** A row of a file to store, or the values that a row has. */
export type FileRow = KnownFile & { fileId: string };

/** A reported file with its row in the library. */
export interface StagedFile extends Record<string, unknown> {
  fileId: string;
  /** Null if it was removed. */
  item: StagedItem | null;
  /** Path from the root; null if it is outside. */
  path: string | null;
  known: KnownFile | null;
  /** Ids under which earlier attempts may have saved its contents, the latest first. */
  downloadIds: string[];
}

/** The plan for a reported file. */
export type FilePlan =
  /** Not a file of the library, or no longer one. */
  | { action: 'ignore' }
  /** The row is up to date. */
  | { action: 'keep' }
  /** The row changes, without a download. */
  | { action: 'store'; row: FileRow }
  /** The contents are downloaded. `row` lacks the values that are known only then. */
  | { action: 'download'; row: FileRow };

/** Returns the plan for a reported file. */
export function planFile({ fileId, item, path, known }: StagedFile, settings: LibrarySettings): FilePlan {
  if (!item || path === null || !hasExtension(item, settings.extensions)) return { action: 'ignore' };
  const isLong = Buffer.byteLength(path) > MAX_PATH_BYTES;
  const row: FileRow = {
    fileId,
    name: item.name,
    path: isLong ? `${cutBytes(path, MAX_PATH_BYTES - 3)}…` : path,
    pathKey: keyOf(item),
    contentType: item.contentType,
    size: item.size,
    hash: item.hash,
    revision: item.revision,
    parentId: item.parentId,
    status: 'synced',
    reason: null,
    url: item.url,
    modifiedAt: item.modifiedAt,
    syncedAt: null,
    storedFileId: null,
  };
  const reason = skipReason(item, settings) ?? (isLong ? LONG_PATH : null);
  if (reason !== null) return storeUnlessSame({ ...row, status: 'skipped', reason }, known);
  if (!known || !hasContents(item, known)) return { action: 'download', row };
  const { size, syncedAt, storedFileId } = known;
  return storeUnlessSame({ ...row, size, syncedAt, storedFileId }, known);
}

/** Returns why the contents of a file are not kept; null if they are. */
const skipReason = ({ unreadable, size }: StagedItem, { maxFileBytes }: LibrarySettings): string | null =>
  unreadable ?? (size !== null && size > maxFileBytes ? `The file is larger than ${formatSize(maxFileBytes)}` : null);

const hasExtension = ({ name }: StagedItem, extensions: readonly string[]): boolean =>
  extensions.length === 0 || extensions.includes(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '');

/** Returns whether the library has the contents of a file as they are now. */
const hasContents = ({ hash, revision }: StagedItem, known: KnownFile): boolean =>
  known.storedFileId !== null &&
  (hash === null ? known.hash === null && known.revision === revision : known.hash === hash);

const COMPARED = [
  ...([
    'name',
    'path',
    'pathKey',
    'contentType',
    'size',
    'hash',
    'revision',
    'parentId',
    'status',
    'reason',
    'url',
  ] as const),
  ...(['modifiedAt', 'storedFileId'] as const),
];

const storeUnlessSame = (row: FileRow, known: KnownFile | null): FilePlan =>
  known && COMPARED.every((key) => row[key] === known[key]) ? { action: 'keep' } : { action: 'store', row };

/** The kind of change that a file counts as. Counts concern files that had or have contents. */
export function changeOf(known: KnownFile | null, row: FileRow): 'added' | 'updated' | null {
  const had = known?.storedFileId != null;
  const has = row.storedFileId !== null;
  if (!had) return has ? 'added' : null;
  return !has || row.storedFileId !== known.storedFileId || row.path !== known.path ? 'updated' : null;
}

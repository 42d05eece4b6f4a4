import type { DriveItem } from '../../core/drive.ts';
import { normalizeName } from '../../core/files.ts';
import { DEFAULT_MEDIA_TYPE, isMediaType, mediaTypeOf } from '../../core/media-types.ts';

/** An item as a provider states it, with values of checked types. */
export interface StatedItem {
  id: string;
  name: string | null;
  isFolder: boolean;
  parentId?: string | null;
  path?: string | null;
  foldedPath?: string | null;
  contentType?: string | null;
  size?: number | null;
  hash?: string | null;
  revision: string | null;
  modifiedAt: Date | null;
  url?: string | null;
  unreadable?: string | null;
}

/** Returns an item in the form that syncs read. */
export function toItem(stated: StatedItem): DriveItem {
  const { id, isFolder, contentType, parentId = null, path = null, foldedPath = null, modifiedAt } = stated;
  const name = cleanName(stated.name ?? '');
  const known = contentType && isMediaType(contentType) ? contentType : mediaTypeOf(name);
  return {
    id,
    isFolder,
    name,
    parentId,
    path,
    foldedPath,
    contentType: known ?? DEFAULT_MEDIA_TYPE,
    size: isFolder ? null : (stated.size ?? null),
    hash: isFolder ? null : (stated.hash ?? null),
    revision: stated.revision ?? '',
    modifiedAt,
    url: urlOf(stated.url),
    unreadable: isFolder ? null : (stated.unreadable ?? null),
  };
}

/** Returns a name that is one part of a path, in NFC. */
export function cleanName(text: string): string {
  const name = normalizeName(text).replaceAll(/[/\p{Cc}]/gu, '_');
  return /^(?:\s*|\.\.?)$/.test(name) ? '_' : name;
}

/** Users follow the URL, so only the URL of a page is passed on. */
function urlOf(text: string | null | undefined): string | null {
  const url = text ? URL.parse(text) : null;
  return url && /^https?:$/.test(url.protocol) ? url.href : null;
}

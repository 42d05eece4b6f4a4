import type { ConnectionAccount } from '../../core/connection.ts';
import type { DriveItem } from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { DEFAULT_MEDIA_TYPE, isMediaType, mediaTypeOf } from '../../core/media-types.ts';
import { storableText } from '../../core/storable-text.ts';

/** An item as a provider states it. Nothing about it is certain. */
export interface StatedItem {
  id: unknown;
  name: unknown;
  isFolder: boolean;
  parentId?: unknown;
  path?: string | null;
  contentType?: unknown;
  size?: unknown;
  hash?: unknown;
  revision: unknown;
  modifiedAt?: unknown;
  url?: unknown;
  unreadable?: string | null;
}

/** Returns an item with checked values. Throws UPSTREAM_FAILED without an id. */
export function toItem(stated: StatedItem): DriveItem {
  const id = textOf(stated.id);
  if (id === null) throw upstreamFailed('The drive lists an item without an id');
  const { isFolder } = stated;
  const name = cleanName(typeof stated.name === 'string' ? stated.name : '');
  const contentType = textOf(stated.contentType);
  const known = contentType !== null && isMediaType(contentType) ? contentType : mediaTypeOf(name);
  return {
    id,
    isFolder,
    name,
    parentId: textOf(stated.parentId),
    path: stated.path ?? null,
    contentType: known ?? DEFAULT_MEDIA_TYPE,
    size: isFolder ? null : sizeOf(stated.size),
    hash: isFolder ? null : textOf(stated.hash),
    revision: textOf(stated.revision) ?? '',
    modifiedAt: dateOf(stated.modifiedAt),
    url: urlOf(stated.url),
    unreadable: isFolder ? null : (stated.unreadable ?? null),
  };
}

/** Returns an account with checked values. Throws UPSTREAM_FAILED without an id. */
export function toAccount(id: unknown, email: unknown, displayName: unknown): ConnectionAccount {
  const accountId = textOf(id);
  if (accountId === null) throw upstreamFailed('The drive does not state whose it is');
  return { accountId, email: textOf(email), displayName: textOf(displayName) };
}

/** Maximum number of entries of a page: more than any provider sends. */
const MAX_ENTRIES = 5000;

/** Returns the list of a response. Throws UPSTREAM_FAILED for what is none, and for one that is too long. */
export function listOf<T>(value: unknown): T[] {
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'object' || entry === null))
    throw upstreamFailed('The response of the drive has no list of items');
  if (value.length > MAX_ENTRIES) throw upstreamFailed(`The drive lists more than ${MAX_ENTRIES} items in a page`);
  return value as T[];
}

/** Returns a text that is not empty, also for a number; null for all else. */
function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value === '') return null;
  return storableText(value);
}

/** Returns a name that is one part of a path, in NFC. */
export function cleanName(text: string): string {
  const name = text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[/\p{Cc}]/gu, '_');
  return /^(?:\s*|\.\.?)$/.test(name) ? '_' : name;
}

/** The size may be a text, as of Google. */
function sizeOf(value: unknown): number | null {
  const size = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null;
}

function dateOf(value: unknown): Date | null {
  const date = typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}

/** Users follow the URL, so that only that of a page is passed on. */
function urlOf(value: unknown): string | null {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url && /^https?:$/.test(url.protocol) ? url.href : null;
}

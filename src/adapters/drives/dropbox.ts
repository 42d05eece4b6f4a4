import {
  CursorLost,
  type Drive,
  type DriveAccess,
  type DriveEvent,
  type DriveItem,
  type DrivePage,
  type RemovedPath,
} from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { cleanName, toItem } from './drive-item.ts';
import type { DriveRefusal } from './drive-refusal.ts';
import { downloadDrive, findAtDrive, orLoseCursor, orUnreadable, readDrive } from './drive-request.ts';
import type { StatedObject } from './stated-object.ts';

/** A cursor, which states paths from the root of the drive, with the path where the library's paths begin. */
interface PathCursor {
  /** In lower case, with a leading slash; empty for the root of the drive. */
  root: string;
  cursor: string;
}

const PAGE_SIZE = 2000;
/** This adapter's id of the root of the drive. Dropbox has none. */
const DRIVE_ROOT = '/';
const NO_FILE = 'A document that Dropbox has no file of';

/** Dropbox, API version 2. */
export const DROPBOX: Drive = {
  id: 'dropbox',
  name: 'Dropbox',
  defaults: {
    authUri: 'https://www.dropbox.com/oauth2/authorize',
    tokenUri: 'https://api.dropboxapi.com/oauth2/token',
    // Tokens are revoked by a method of the API.
    revokeUri: null,
    apiUri: 'https://api.dropboxapi.com/2',
    contentUri: 'https://content.dropboxapi.com/2',
    scope: 'account_info.read files.metadata.read files.content.read',
    authParameters: { token_access_type: 'offline' },
    refreshTokenLifetimeMs: null,
  },

  async account(access) {
    const found = await post(access, 'users/get_current_account', null);
    return {
      accountId: found.id('account_id'),
      email: found.text('email'),
      displayName: found.object('name')?.text('display_name') ?? null,
    };
  },

  async root(access, rootId) {
    return isDriveRoot(rootId) ? DRIVE_ROOT : (await findFolder(access, rootId!)).id();
  },

  async start(access, rootId) {
    const root = await findPath(access, rootId);
    const latest = await post(access, 'files/list_folder/get_latest_cursor', toQuery(root));
    return JSON.stringify({ root, cursor: latest.id('cursor') } satisfies PathCursor);
  },

  async list(access, folderId, cursor) {
    if (cursor !== null) return readNext(access, JSON.parse(cursor) as PathCursor, false);
    const root = await findPath(access, folderId);
    const page = post(access, 'files/list_folder', toQuery(root));
    return toPage(root, await findAtDrive('folder', root, page, isMissing), false);
  },

  async changes(access, rootId, cursor) {
    const at = JSON.parse(cursor) as PathCursor;
    // A root that has moved has other paths.
    if (!isDriveRoot(rootId) && (await findPath(access, rootId)) !== at.root)
      throw new CursorLost('The root folder has moved');
    return readNext(access, at, true);
  },

  contents: (access, { id }, maxBytes) =>
    findAtDrive(
      'file',
      id,
      orUnreadable(
        downloadDrive(
          access,
          `${access.contentUri ?? access.apiUri}/files/download`,
          { method: 'POST', headers: { 'dropbox-api-arg': toHeader({ path: id }) } },
          maxBytes,
        ),
        whyRefused,
      ),
      isMissing,
    ),

  revoke: async (access) => void (await post(access, 'auth/token/revoke', null)),
};

const post = (access: DriveAccess, method: string, input: object | null): Promise<StatedObject> =>
  readDrive(access, `${access.apiUri}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });

const toQuery = (path: string) => ({ path, recursive: true, limit: PAGE_SIZE });

/** Returns JSON in the characters that headers may have. */
const toHeader = (value: object): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const isDriveRoot = (id: string | null): boolean => id === null || id === '' || id === DRIVE_ROOT;

const isMissing = ({ httpStatus, reason }: DriveRefusal): boolean =>
  httpStatus === 409 && /(?:^|\/)(?:not_found|not_folder)\b/.test(reason);

/** Dropbox refuses malformed ids and paths as 400. */
async function findFolder(access: DriveAccess, id: string): Promise<StatedObject> {
  const entry = post(access, 'files/get_metadata', { path: id });
  return findAtDrive('folder', id, entry, (refusal) => isMissing(refusal) || refusal.httpStatus === 400);
}

const findPath = async (access: DriveAccess, id: string | null): Promise<string> =>
  isDriveRoot(id) ? '' : ((await findFolder(access, id!)).rawText('path_lower') ?? '');

/** Continues a listing or changes. Dropbox refuses an old cursor as `reset`, and a malformed one as 400. */
async function readNext(access: DriveAccess, { root, cursor }: PathCursor, isChange: boolean): Promise<DrivePage> {
  const call = post(access, 'files/list_folder/continue', { cursor });
  return toPage(root, await orLoseCursor('Dropbox', call, isCursorLost), isChange);
}

const isCursorLost = ({ httpStatus, reason }: DriveRefusal): boolean =>
  httpStatus === 400 || (httpStatus === 409 && /^(?:reset|path)\b/.test(reason));

function toPage(root: string, page: StatedObject, isChange: boolean): DrivePage {
  const [cursor, hasMore] = [page.text('cursor'), page.flag('has_more')];
  // Without them, a part of a listing would pass for all of it.
  if (cursor === null || hasMore === null)
    throw upstreamFailed('The response of Dropbox does not state whether there is more');
  // The number of parts of the root's path.
  const depth = root.split('/').length;
  const events = page.items('entries').flatMap((entry) => toEvent(entry, depth));
  return {
    events: isChange ? removeReplaced(events) : events,
    cursor: JSON.stringify({ root, cursor } satisfies PathCursor),
    isLast: !hasMore,
  };
}

type PathEvent = { item: DriveItem } | RemovedPath;

function toEvent(entry: StatedObject, depth: number): PathEvent[] {
  const partsOf = (text: string) => text.split('/').slice(depth).map(cleanName);
  const lower = entry.rawText('path_lower');
  const shown = entry.rawText('path_display') ?? lower ?? '';
  const path = partsOf(shown).join('/');
  // Dropbox compares the path that it has folded itself.
  const foldedPath = partsOf(lower ?? shown.toLowerCase()).join('/');
  // The root itself.
  if (path === '') return [];
  const tag = entry.text('.tag');
  if (tag === 'deleted') return [{ removedPath: foldedPath }];
  const item = toItem({
    id: entry.id(),
    name: entry.rawText('name'),
    isFolder: tag === 'folder',
    path,
    foldedPath,
    size: entry.size('size'),
    hash: entry.text('content_hash'),
    revision: entry.text('rev') ?? path,
    modifiedAt: entry.time('client_modified'),
    unreadable: whyUnreadable(entry),
  });
  return [{ item }];
}

/**
 * Adds removals of items that files and folders replace: Dropbox states no removal for an item at the path of another
 * one. The removals for successive items come together, before the items. A file replaces everything below its path, a
 * folder keeps it.
 */
function removeReplaced(events: readonly PathEvent[]): DriveEvent[] {
  const all: DriveEvent[] = [];
  let items = new Map<string, DriveItem>();
  const flush = () => {
    all.push(
      ...[...items].map(([removedPath, { isFolder }]) => ({ removedPath, ...(isFolder && { keepsBelow: true }) })),
    );
    all.push(...[...items.values()].map((item) => ({ item })));
    items = new Map();
  };
  for (const event of events) {
    const item = 'item' in event ? event.item : null;
    const key = item?.foldedPath ?? '';
    if (item === null || items.has(key)) flush();
    if (item === null) all.push(event);
    else items.set(key, item);
  }
  flush();
  return all;
}

/** Returns why Dropbox never sends a file. */
function whyRefused({ httpStatus, reason }: DriveRefusal): string | undefined {
  if (httpStatus !== 409) return undefined;
  if (/^path\/restricted_content\b/.test(reason)) return 'Dropbox restricts its content';
  return /^unsupported_file\b/.test(reason) ? NO_FILE : undefined;
}

function whyUnreadable(entry: StatedObject): string | null {
  if (entry.object('symlink_info')) return 'A symbolic link';
  return entry.flag('is_downloadable') === false ? NO_FILE : null;
}

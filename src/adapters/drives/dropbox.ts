import {
  CursorLost,
  type Drive,
  type DriveAccess,
  type DriveEvent,
  type DriveItem,
  type DrivePage,
} from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { cleanName, listOf, toAccount, toItem } from './drive-item.ts';
import type { DriveRefusal } from './drive-refusal.ts';
import { downloadDrive, findAtDrive, orLoseCursor, readDrive } from './drive-request.ts';

interface Entry {
  '.tag': 'file' | 'folder' | 'deleted';
  id: string;
  name: string;
  path_lower?: string;
  path_display?: string;
  rev?: string;
  size?: number;
  content_hash?: string;
  client_modified?: string;
  is_downloadable?: boolean;
  symlink_info?: unknown;
}

interface EntryPage {
  entries: Entry[];
  cursor: string;
  has_more: boolean;
}

/** A cursor, which states paths from the root of the drive, with the path from which ours begin. */
interface PathCursor {
  /** In lower case, with a leading slash; empty for the root of the drive. */
  root: string;
  cursor: string;
}

const PAGE_SIZE = 2000;
/** What this adapter calls the root of the drive, for which Dropbox has no id. */
const DRIVE_ROOT = '/';

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
    type Account = { account_id?: string; email?: string; name?: { display_name?: string } };
    const found = await post<Account>(access, 'users/get_current_account', null);
    return toAccount(found.account_id, found.email, found.name?.display_name);
  },

  async root(access, rootId) {
    return isDriveRoot(rootId) ? DRIVE_ROOT : (await findFolder(access, rootId!)).id;
  },

  async start(access, rootId) {
    const root = await findPath(access, rootId);
    const { cursor } = await post<{ cursor: string }>(access, 'files/list_folder/get_latest_cursor', toQuery(root));
    return JSON.stringify({ root, cursor } satisfies PathCursor);
  },

  async list(access, folderId, cursor) {
    if (cursor !== null) return readNext(access, JSON.parse(cursor) as PathCursor, false);
    const root = await findPath(access, folderId);
    const page = post<EntryPage>(access, 'files/list_folder', toQuery(root));
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
      downloadDrive(
        access,
        `${access.contentUri ?? access.apiUri}/files/download`,
        { method: 'POST', headers: { 'dropbox-api-arg': toHeader({ path: id }) } },
        maxBytes,
      ),
      isMissing,
    ),

  revoke: async (access) => void (await post(access, 'auth/token/revoke', null)),
};

const post = <T>(access: DriveAccess, method: string, input: object | null): Promise<T> =>
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

/** Ids and paths that are no such are refused as 400. */
async function findFolder(access: DriveAccess, id: string): Promise<Entry> {
  const entry = post<Entry>(access, 'files/get_metadata', { path: id });
  return findAtDrive('folder', id, entry, (refusal) => isMissing(refusal) || refusal.httpStatus === 400);
}

const findPath = async (access: DriveAccess, id: string | null): Promise<string> =>
  isDriveRoot(id) ? '' : ((await findFolder(access, id!)).path_lower ?? '');

/** Continues a listing or changes. Dropbox refuses an old cursor as `reset`, and one that is none as 400. */
async function readNext(access: DriveAccess, { root, cursor }: PathCursor, isChange: boolean): Promise<DrivePage> {
  const call = post<EntryPage>(access, 'files/list_folder/continue', { cursor });
  return toPage(root, await orLoseCursor('Dropbox', call, isCursorLost), isChange);
}

const isCursorLost = ({ httpStatus, reason }: DriveRefusal): boolean =>
  httpStatus === 400 || (httpStatus === 409 && /^(?:reset|path)\b/.test(reason));

function toPage(root: string, { entries, cursor, has_more: hasMore }: EntryPage, isChange: boolean): DrivePage {
  // Without them, a part of a listing would pass for all of it.
  if (typeof cursor !== 'string' || typeof hasMore !== 'boolean')
    throw upstreamFailed('The response of Dropbox does not state whether there is more');
  // The number of parts of the root's path.
  const depth = root.split('/').length;
  const events = listOf<Entry>(entries).flatMap((entry) => toEvent(entry, depth));
  return {
    events: isChange ? removeReplaced(events) : events,
    cursor: JSON.stringify({ root, cursor } satisfies PathCursor),
    isLast: !hasMore,
  };
}

type PathEvent = Exclude<DriveEvent, { removedId: string }>;

function toEvent(entry: Entry, depth: number): PathEvent[] {
  const parts = (entry.path_display ?? entry.path_lower ?? '').split('/').slice(depth);
  // The root itself.
  if (parts.length === 0) return [];
  const path = parts.map(cleanName).join('/');
  if (entry['.tag'] === 'deleted') return [{ removedPath: path }];
  const item = toItem({
    id: entry.id,
    name: entry.name,
    isFolder: entry['.tag'] === 'folder',
    path,
    size: entry.size,
    hash: entry.content_hash,
    revision: entry.rev ?? path,
    modifiedAt: entry.client_modified,
    unreadable: whyUnreadable(entry),
  });
  return [{ item }];
}

/**
 * Adds removals of what files replace: Dropbox states none for a file at the path of another one. Those of files in a row
 * come together, before the files. A folder keeps what is in it.
 */
function removeReplaced(events: readonly PathEvent[]): DriveEvent[] {
  const all: DriveEvent[] = [];
  let files = new Map<string, DriveItem>();
  const flush = () => {
    all.push(...[...files.values()].map(({ path }) => ({ removedPath: path! })));
    all.push(...[...files.values()].map((item) => ({ item })));
    files = new Map();
  };
  for (const event of events) {
    const file = 'item' in event && !event.item.isFolder ? event.item : null;
    const key = file?.path?.toLowerCase() ?? '';
    if (file === null || files.has(key)) flush();
    if (file === null) all.push(event);
    else files.set(key, file);
  }
  flush();
  return all;
}

function whyUnreadable(entry: Entry): string | null {
  if (entry.symlink_info !== undefined) return 'A symbolic link';
  return entry.is_downloadable === false ? 'A document that Dropbox has no file of' : null;
}

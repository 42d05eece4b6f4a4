import { CursorLost, type Drive, type DriveAccess, type DriveEvent, type DriveItem } from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { listOf, toAccount, toItem } from './drive-item.ts';
import { DriveRefusal } from './drive-refusal.ts';
import { downloadDrive, findAtDrive, orLoseCursor, readDrive } from './drive-request.ts';
import { nextFolders, orWithoutFolder, readFolderCursor } from './folder-cursor.ts';

type BoxType = 'file' | 'folder' | 'web_link';

interface BoxItem {
  type: BoxType;
  id: string;
  name: string;
  size?: number;
  sha1?: string;
  etag?: string;
  modified_at?: string;
  parent?: { id?: string } | null;
  item_status?: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Age from which Box may not have all events since. */
const MAX_CURSOR_MS = 21 * DAY_MS;
const FIELDS = 'type,id,name,size,sha1,etag,modified_at,parent,item_status';
const PAGE_SIZE = 1000;
const EVENTS_AT_ONCE = 500;
const LOOKUPS_AT_ONCE = 4;
const DRIVE_ROOT = '0';
const PATHS: Readonly<Record<BoxType, string>> = { file: 'files', folder: 'folders', web_link: 'web_links' };

/** Box, API version 2.0. */
export const BOX: Drive = {
  id: 'box',
  name: 'Box',
  defaults: {
    authUri: 'https://account.box.com/api/oauth2/authorize',
    tokenUri: 'https://api.box.com/oauth2/token',
    revokeUri: 'https://api.box.com/oauth2/revoke',
    apiUri: 'https://api.box.com/2.0',
    contentUri: null,
    scope: 'root_readonly',
    authParameters: {},
    refreshTokenLifetimeMs: 60 * DAY_MS,
  },

  async account(access) {
    type User = { id?: string; login?: string; name?: string };
    const user = await get<User>(access, 'users/me?fields=id,login,name');
    return toAccount(user.id, user.login, user.name);
  },

  async root(access, rootId) {
    const id = boxIdOf(rootId);
    const folder = get<BoxItem>(access, `folders/${encodeURIComponent(id)}?fields=id`);
    return idOf('folder', (await findAtDrive('folder', rootId ?? id, folder)).id);
  },

  start: async (access) => toCursor((await readEvents(access, 'now')).next),

  async list(access, folderId, cursor) {
    const first = boxIdOf(folderId);
    const at = readFolderCursor(cursor, first);
    const query = new URLSearchParams({ usemarker: 'true', limit: String(PAGE_SIZE), fields: FIELDS });
    if (at.page !== null) query.set('marker', at.page);
    type ItemPage = { entries?: BoxItem[]; next_marker?: string | null };
    const call = get<ItemPage>(access, `folders/${encodeURIComponent(at.folders[0]!)}/items?${query}`);
    const page = await orWithoutFolder(at, first, at.page === null ? call : loseCursor(call));
    if ('isLast' in page) return page;
    const entries = listOf<BoxItem>(page.entries);
    const found = entries.filter(({ type }) => type === 'folder').map(({ id }) => id);
    return {
      events: entries.map((entry) => ({ item: toDriveItem(entry) })),
      ...nextFolders(at, found, page.next_marker || null, 1),
    };
  },

  async changes(access, _rootId, cursor) {
    const [, time, position] = /^(\d+):(.+)$/.exec(cursor) ?? [];
    if (position === undefined || Date.now() - Number(time) > MAX_CURSOR_MS)
      throw new CursorLost('Box does not keep events for so long');
    const { sources, isEmpty, next } = await readEvents(access, position);
    return {
      events: await lookUpAll(access, sources),
      cursor: toCursor(next),
      // At its end, the stream stands still. A page without events of files or folders may come before others.
      isLast: next === position || isEmpty,
    };
  },

  contents: (access, { id }, maxBytes) =>
    findAtDrive(
      'file',
      id,
      downloadDrive(access, `${access.apiUri}/files/${encodeURIComponent(id)}/content`, {}, maxBytes),
    ),
};

const get = <T>(access: DriveAccess, path: string): Promise<T> => readDrive(access, `${access.apiUri}/${path}`);

/** A file and a folder may have the same id at Box: those of files are left as they are. */
const idOf = (type: BoxType, id: string): string => (type === 'file' ? id : `${type}_${id}`);

/** Returns the id of a folder at Box, also for the one that users see in its address. */
const boxIdOf = (folderId: string | null): string => folderId?.replace(/^folder_/, '') ?? DRIVE_ROOT;

const toCursor = (position: string): string => `${Date.now()}:${position}`;

interface EventPage {
  entries?: { event_id?: string; source?: { type?: string; id?: string } | null }[];
  next_stream_position?: string;
}

/** Returns the items of a page of events, each once: events come repeatedly, and not in their order. */
async function readEvents(access: DriveAccess, position: string) {
  const query = new URLSearchParams({
    stream_type: 'changes',
    stream_position: position,
    limit: String(EVENTS_AT_ONCE),
  });
  const url = `${access.apiUri}/events?${query}`;
  const page = await loseCursor(readDrive<EventPage>(access, url, { longNumbers: ['next_stream_position'] }));
  if (typeof page.next_stream_position !== 'string') throw upstreamFailed('The events of Box have no next position');
  const sources = new Map<string, { type: BoxType; id: string }>();
  const entries = listOf<NonNullable<EventPage['entries']>[number]>(page.entries);
  for (const { source } of entries) {
    const { type, id } = source ?? {};
    if (type !== undefined && id !== undefined && Object.hasOwn(PATHS, type))
      sources.set(`${type}_${id}`, { type: type as BoxType, id });
  }
  return { sources: [...sources.values()], isEmpty: entries.length === 0, next: page.next_stream_position };
}

/** Box refuses a position or marker that it does not know as an invalid parameter. */
const loseCursor = <T>(call: Promise<T>): Promise<T> =>
  orLoseCursor('Box', call, ({ httpStatus }) => httpStatus === 400 || httpStatus === 410);

/** Returns how the items of events are now, whatever the events said about them. */
async function lookUpAll(
  access: DriveAccess,
  sources: readonly { type: BoxType; id: string }[],
): Promise<DriveEvent[]> {
  const events: DriveEvent[] = [];
  for (let i = 0; i < sources.length; i += LOOKUPS_AT_ONCE) {
    const some = sources.slice(i, i + LOOKUPS_AT_ONCE);
    events.push(...(await Promise.all(some.map(({ type, id }) => lookUp(access, type, id)))));
  }
  return events;
}

async function lookUp(access: DriveAccess, type: BoxType, id: string): Promise<DriveEvent> {
  try {
    const item = await get<BoxItem>(access, `${PATHS[type]}/${encodeURIComponent(id)}?fields=${FIELDS}`);
    const isActive = item.item_status === undefined || item.item_status === 'active';
    return isActive ? { item: toDriveItem(item) } : { removedId: idOf(type, id) };
  } catch (error) {
    // Deleted, in the trash, or not accessible any more.
    if (
      error instanceof DriveRefusal &&
      (error.httpStatus === 404 || error.reason === 'access_denied_insufficient_permissions')
    )
      return { removedId: idOf(type, id) };
    throw error;
  }
}

function toDriveItem(item: BoxItem): DriveItem {
  const { type, id } = item;
  return toItem({
    id: idOf(type, id),
    name: item.name,
    isFolder: type === 'folder',
    parentId: item.parent?.id === undefined ? null : idOf('folder', item.parent.id),
    size: item.size,
    hash: item.sha1,
    revision: item.sha1 ?? item.etag,
    modifiedAt: item.modified_at,
    url: type === 'web_link' ? null : `https://app.box.com/${type}/${encodeURIComponent(id)}`,
    unreadable: type === 'web_link' ? 'A bookmark' : null,
  });
}

import { CursorLost, type Drive, type DriveAccess, type DriveEvent, type DriveItem } from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { toItem } from './drive-item.ts';
import { DriveRefusal, isForbidden } from './drive-refusal.ts';
import { downloadDrive, findAtDrive, orLoseCursor, readDrive } from './drive-request.ts';
import { nextFolders, orWithoutFolder, readFolderCursor } from './folder-cursor.ts';
import { StatedObject } from './stated-object.ts';

type BoxType = 'file' | 'folder' | 'web_link';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Age from which Box may no longer have all events. */
const MAX_CURSOR_MS = 21 * DAY_MS;
const FIELDS = 'type,id,name,size,sha1,etag,modified_at,parent,item_status';
const PAGE_SIZE = 1000;
const EVENTS_AT_ONCE = 500;
/** Number of pages without events in a row that are read. */
const MAX_EMPTY_PAGES = 10;
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
    const user = await get(access, 'users/me?fields=id,login,name');
    return { accountId: user.id(), email: user.text('login'), displayName: user.text('name') };
  },

  async root(access, rootId) {
    const id = boxIdOf(rootId);
    const folder = get(access, `folders/${encodeURIComponent(id)}?fields=id`);
    return idOf('folder', (await findAtDrive('folder', rootId ?? id, folder)).id());
  },

  start: async (access) => toCursor((await readEvents(access, 'now')).next),

  async list(access, folderId, cursor) {
    const first = boxIdOf(folderId);
    const at = readFolderCursor(cursor, first);
    const query = new URLSearchParams({ usemarker: 'true', limit: String(PAGE_SIZE), fields: FIELDS });
    if (at.page !== null) query.set('marker', at.page);
    const call = get(access, `folders/${encodeURIComponent(at.folders[0]!)}/items?${query}`);
    const page = await orWithoutFolder(at, first, at.page === null ? call : loseCursor(call), (id) =>
      idOf('folder', id),
    );
    if (!(page instanceof StatedObject)) return page;
    const entries = page.items('entries');
    const found = entries.filter((entry) => entry.text('type') === 'folder').map((entry) => entry.id());
    return {
      events: entries.flatMap((entry) => {
        const type = entry.id('type');
        return isBoxType(type) ? [{ item: toDriveItem(type, entry) }] : [];
      }),
      ...nextFolders(at, found, page.text('next_marker'), 1),
    };
  },

  async changes(access, _rootId, cursor) {
    const [, time, position] = /^(\d+):(.+)$/.exec(cursor) ?? [];
    if (position === undefined || Date.now() - Number(time) > MAX_CURSOR_MS)
      throw new CursorLost('Box does not keep events for so long');
    const page = await readNextEvents(access, position);
    return { events: await lookUpAll(access, page.sources), cursor: toCursor(page.next), isLast: page.isLast };
  },

  contents: (access, { id }, maxBytes) =>
    findAtDrive(
      'file',
      id,
      downloadDrive(access, `${access.apiUri}/files/${encodeURIComponent(id)}/content`, {}, maxBytes),
    ),
};

const get = (access: DriveAccess, path: string): Promise<StatedObject> => readDrive(access, `${access.apiUri}/${path}`);

/** A file and a folder may have the same id at Box: ids of files are left unchanged. */
const idOf = (type: BoxType, id: string): string => (type === 'file' ? id : `${type}_${id}`);

/** Returns the id of a folder at Box. Also accepts the id that users see in its address. */
const boxIdOf = (folderId: string | null): string => folderId?.replace(/^folder_/, '') ?? DRIVE_ROOT;

const toCursor = (position: string): string => `${Date.now()}:${position}`;

/**
 * Reads the next page of events that has any. At its end, the stream stands still; before that, it may move by pages without
 * events. After ten of them, the page is the last one: a stream may move without end.
 */
async function readNextEvents(access: DriveAccess, position: string) {
  let at = position;
  let page = await readEvents(access, at);
  for (let empty = 1; page.isEmpty && page.next !== at && empty < MAX_EMPTY_PAGES; empty += 1) {
    at = page.next;
    page = await readEvents(access, at);
  }
  return { ...page, isLast: page.isEmpty || page.next === at };
}

/** Returns the items of a page of events, each once: events come repeatedly, and not in their order. */
async function readEvents(access: DriveAccess, position: string) {
  const query = new URLSearchParams({
    stream_type: 'changes',
    stream_position: position,
    limit: String(EVENTS_AT_ONCE),
  });
  const url = `${access.apiUri}/events?${query}`;
  const page = await loseCursor(readDrive(access, url, { longNumbers: ['next_stream_position'] }));
  const next = page.text('next_stream_position');
  if (next === null) throw upstreamFailed('The events of Box have no next position');
  const sources = new Map<string, { type: BoxType; id: string }>();
  const entries = page.items('entries');
  for (const entry of entries) {
    const source = entry.object('source');
    const type = source?.text('type') ?? '';
    if (!source || !isBoxType(type)) continue;
    const id = source.id();
    sources.set(`${type}_${id}`, { type, id });
  }
  return { sources: [...sources.values()], isEmpty: entries.length === 0, next };
}

const isBoxType = (type: string): type is BoxType => Object.hasOwn(PATHS, type);

/** Box refuses a position or marker that it does not know as an invalid parameter. */
const loseCursor = <T>(call: Promise<T>): Promise<T> =>
  orLoseCursor('Box', call, ({ httpStatus }) => httpStatus === 400 || httpStatus === 410);

/** Returns the present state of the items of events, whatever the events state about them. */
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
    const item = await get(access, `${PATHS[type]}/${encodeURIComponent(id)}?fields=${FIELDS}`);
    const isActive = (item.text('item_status') ?? 'active') === 'active';
    return isActive ? { item: toDriveItem(type, item) } : { removedId: idOf(type, id) };
  } catch (error) {
    // Deleted, in the trash, or no longer accessible.
    if (isForbidden(error) || (error instanceof DriveRefusal && error.httpStatus === 404))
      return { removedId: idOf(type, id) };
    throw error;
  }
}

function toDriveItem(type: BoxType, item: StatedObject): DriveItem {
  const id = item.id();
  const parentId = item.object('parent')?.text('id') ?? null;
  const hash = item.text('sha1');
  return toItem({
    id: idOf(type, id),
    name: item.rawText('name'),
    isFolder: type === 'folder',
    parentId: parentId === null ? null : idOf('folder', parentId),
    size: item.size('size'),
    hash,
    revision: hash ?? item.text('etag'),
    modifiedAt: item.time('modified_at'),
    url: type === 'web_link' ? null : `https://app.box.com/${type}/${encodeURIComponent(id)}`,
    unreadable: type === 'web_link' ? 'A bookmark' : null,
  });
}

import { CursorLost, type Drive, type DriveAccess, type DriveEvent, type DrivePage } from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { toItem } from './drive-item.ts';
import type { DriveRefusal } from './drive-refusal.ts';
import { checkNextLink, downloadDrive, findAtDrive, orLoseCursor, orUnreadable, readDrive } from './drive-request.ts';
import { nextFolders, orWithoutFolder, readFolderCursor } from './folder-cursor.ts';
import { StatedObject } from './stated-object.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const PAGE_SIZE = 1000;
const MALWARE = 'OneDrive found malware in it';

/** OneDrive by Microsoft Graph, version 1.0. */
export const ONEDRIVE: Drive = {
  id: 'onedrive',
  name: 'OneDrive',
  defaults: {
    authUri: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUri: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    revokeUri: null,
    apiUri: 'https://graph.microsoft.com/v1.0',
    contentUri: null,
    scope: 'offline_access User.Read Files.Read',
    authParameters: {},
    refreshTokenLifetimeMs: 90 * DAY_MS,
  },

  async account(access) {
    const me = await readDrive(access, `${access.apiUri}/me`);
    const email = me.text('mail') ?? me.text('userPrincipalName');
    return { accountId: me.id(), email, displayName: me.text('displayName') };
  },

  async root(access, rootId) {
    return (await findFolder(access, rootId)).id();
  },

  async start(access) {
    return (await readDelta(access, `${urlOf(access, null)}/delta?token=latest`)).cursor;
  },

  // The delta of a drive for work or school exists for its root only, so that folders are listed one by one.
  list: (access, folderId, cursor) =>
    folderId === null
      ? readDelta(access, cursor ?? `${urlOf(access, null)}/delta?$top=${PAGE_SIZE}`)
      : listBelow(access, folderId, cursor),

  async changes(access, rootId, cursor) {
    const page = await findAtDrive('folder', rootId ?? 'root', readDelta(access, cursor));
    if (rootId === null || !page.events.some((event) => 'removedId' in event)) return page;
    // The root folder goes with a folder above it, which no event may say, and may be back since an event said so.
    const id = (await findFolder(access, rootId)).id();
    return { ...page, events: page.events.filter((event) => !('removedId' in event) || event.removedId !== id) };
  },

  contents: (access, { id }, maxBytes) =>
    findAtDrive(
      'file',
      id,
      orUnreadable(downloadDrive(access, `${urlOf(access, id)}/content`, {}, maxBytes), ({ reason }) =>
        reason === 'malwareDetected' ? MALWARE : undefined,
      ),
    ),
};

const urlOf = ({ apiUri }: DriveAccess, id: string | null): string =>
  id === null ? `${apiUri}/me/drive/root` : `${apiUri}/me/drive/items/${encodeURIComponent(id)}`;

function findFolder(access: DriveAccess, rootId: string | null): Promise<StatedObject> {
  // A text that is not an id is refused as 400.
  const isMissing = ({ httpStatus }: DriveRefusal) => httpStatus === 404 || httpStatus === 400;
  return findAtDrive('folder', rootId ?? 'root', readDrive(access, urlOf(access, rootId)), isMissing);
}

/** Reads a page of the listing of a drive or of its changes, which are the same. The cursor is the URL of the next page. */
async function readDelta(access: DriveAccess, cursor: string): Promise<DrivePage> {
  const page = await readPage(access, cursor);
  const nextLink = page.text('@odata.nextLink');
  const next = nextLink ?? page.text('@odata.deltaLink');
  if (next === null) throw upstreamFailed('The response of the drive names no next page');
  return { events: toEvents(page), cursor: checkNextLink(access, next), isLast: nextLink === null };
}

/** Lists a folder and those below it one by one. */
async function listBelow(access: DriveAccess, folderId: string, cursor: string | null): Promise<DrivePage> {
  // Earlier versions stored the URL of a delta of the folder.
  if (cursor !== null && URL.canParse(cursor)) throw new CursorLost('The cursor is of an earlier version');
  const at = readFolderCursor(cursor, folderId);
  const first = `${urlOf(access, at.folders[0]!)}/children?$top=${PAGE_SIZE}`;
  const page = await orWithoutFolder(at, folderId, readPage(access, at.page ?? first));
  if (!(page instanceof StatedObject)) return page;
  const found = page.items('value').filter(isFolder);
  const ids = found.map((folder) => folder.id());
  return { events: toEvents(page), ...nextFolders(at, ids, page.text('@odata.nextLink'), 1) };
}

const readPage = (access: DriveAccess, url: string): Promise<StatedObject> =>
  orLoseCursor('OneDrive', readDrive(access, checkNextLink(access, url)), isCursorLost);

const isCursorLost = ({ httpStatus, reason }: DriveRefusal): boolean =>
  httpStatus === 410 || /^(?:resync|syncState)/.test(reason);

const toEvents = (page: StatedObject): DriveEvent[] => page.items('value').flatMap(toEvent);

/** A folder of this drive. A shortcut to one of another drive, and a notebook, look like folders. */
const isFolder = (item: StatedObject): boolean =>
  item.object('folder') !== null && !item.object('remoteItem') && !item.object('package');

function toEvent(item: StatedObject): DriveEvent[] {
  if (item.object('deleted')) return [{ removedId: item.id() }];
  if (item.object('root')) return [];
  const file = item.object('file');
  const hashes = file?.object('hashes');
  const stated = toItem({
    id: item.id(),
    name: item.rawText('name'),
    isFolder: isFolder(item),
    parentId: item.object('parentReference')?.text('id'),
    contentType: file?.text('mimeType'),
    size: item.size('size'),
    hash: hashes?.text('quickXorHash') ?? hashes?.text('sha256Hash') ?? hashes?.text('sha1Hash'),
    revision: item.text('cTag') ?? item.text('eTag'),
    modifiedAt: item.time('lastModifiedDateTime'),
    url: item.text('webUrl'),
    unreadable: whyUnreadable(item),
  });
  return [{ item: stated }];
}

function whyUnreadable(item: StatedObject): string | null {
  if (item.object('remoteItem')) return 'A shortcut to another drive';
  if (item.object('package')) return 'A notebook, which OneDrive does not have as a file';
  if (item.object('malware')) return MALWARE;
  return item.object('file') ? null : 'An item without contents';
}

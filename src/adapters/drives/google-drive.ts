import type { Drive, DriveAccess, DriveEvent, DriveItem, DrivePage } from '../../core/drive.ts';
import { tooLarge, upstreamFailed } from '../../core/errors.ts';
import { toItem } from './drive-item.ts';
import { DriveRefusal } from './drive-refusal.ts';
import { downloadDrive, findAtDrive, orLoseCursor, orUnreadable, readDrive } from './drive-request.ts';
import { nextFolders, orWithoutFolder, readFolderCursor } from './folder-cursor.ts';
import { StatedObject } from './stated-object.ts';

const FOLDER = 'application/vnd.google-apps.folder';
const GOOGLE_TYPE = 'application/vnd.google-apps.';
const OFFICE_TYPE = 'application/vnd.openxmlformats-officedocument.';
const FIELDS =
  'id,name,mimeType,parents,size,md5Checksum,headRevisionId,modifiedTime,trashed,webViewLink,capabilities/canDownload';
/** Includes files on drives that several users share. */
const ALL_DRIVES = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' };
const PAGE_SIZE = '1000';
/** Number of folders whose items one call lists. */
const FOLDERS_AT_ONCE = 20;

/** Media types after the conversion of documents of Google, and their extensions. */
const EXPORTS: ReadonlyMap<string, { contentType: string; extension: string }> = new Map([
  [`${GOOGLE_TYPE}document`, { contentType: `${OFFICE_TYPE}wordprocessingml.document`, extension: '.docx' }],
  [`${GOOGLE_TYPE}spreadsheet`, { contentType: `${OFFICE_TYPE}spreadsheetml.sheet`, extension: '.xlsx' }],
  [`${GOOGLE_TYPE}presentation`, { contentType: `${OFFICE_TYPE}presentationml.presentation`, extension: '.pptx' }],
]);
const EXPORT_TYPES: ReadonlySet<string> = new Set([...EXPORTS.values()].map(({ contentType }) => contentType));

/** Reasons of refused downloads that stay. */
const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ['cannotDownloadAbusiveFile', 'Google found malware or spam in it'],
  ['abuse', 'Google found malware or spam in it'],
  ['cannotDownloadFile', 'Its owner permits no downloads'],
]);

/** Google Drive, API version 3. */
export const GOOGLE_DRIVE: Drive = {
  id: 'google-drive',
  name: 'Google Drive',
  defaults: {
    authUri: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUri: 'https://oauth2.googleapis.com/token',
    revokeUri: 'https://oauth2.googleapis.com/revoke',
    apiUri: 'https://www.googleapis.com/drive/v3',
    contentUri: null,
    scope: 'https://www.googleapis.com/auth/drive.readonly',
    // Only with the consent page does Google issue a refresh token again.
    authParameters: { access_type: 'offline', prompt: 'consent' },
    refreshTokenLifetimeMs: null,
  },

  async account(access) {
    const user = (await get(access, 'about', { fields: 'user' })).object('user');
    if (!user) throw upstreamFailed('Google Drive does not state whose it is');
    return {
      accountId: user.id('permissionId'),
      email: user.text('emailAddress'),
      displayName: user.text('displayName'),
    };
  },

  root: async (access, rootId) => (await findFolder(access, rootId)).id(),

  async start(access, rootId) {
    const driveId = rootId === null ? null : (await findFolder(access, rootId)).text('driveId');
    const start = await get(access, 'changes/startPageToken', {
      supportsAllDrives: 'true',
      ...(driveId !== null && { driveId }),
    });
    return JSON.stringify({ driveId, token: start.id('startPageToken') });
  },

  list: (access, folderId, cursor) =>
    loseCursor(cursor, folderId === null ? listAll(access, cursor) : listBelow(access, folderId, cursor)),

  changes: (access, _rootId, cursor) => loseCursor(cursor, readChanges(access, cursor)),

  async contents(access, { id, contentType }, maxBytes) {
    const file = `${access.apiUri}/files/${encodeURIComponent(id)}`;
    const media = downloadDrive(access, `${file}?alt=media&supportsAllDrives=true`, {}, maxBytes);
    const isExported = (error: unknown) =>
      error instanceof DriveRefusal && error.reason === 'fileNotDownloadable' && EXPORT_TYPES.has(contentType);
    return findAtDrive(
      'file',
      id,
      orUnreadable(
        media.catch((error: unknown) => {
          if (!isExported(error)) throw error;
          return exportFile(access, `${file}/export?${new URLSearchParams({ mimeType: contentType })}`, maxBytes);
        }),
        ({ reason }) => UNREADABLE.get(reason),
      ),
    );
  },
};

const get = (access: DriveAccess, path: string, query: Record<string, string>): Promise<StatedObject> =>
  readDrive(access, `${access.apiUri}/${path}?${new URLSearchParams(query)}`);

const findFolder = (access: DriveAccess, id: string | null): Promise<StatedObject> =>
  findAtDrive(
    'folder',
    id ?? 'root',
    // The root is an alias, by which no item names its folder.
    get(access, `files/${encodeURIComponent(id ?? 'root')}`, { fields: 'id,driveId', supportsAllDrives: 'true' }),
  );

const FILE_PAGE_FIELDS = `nextPageToken,incompleteSearch,files(${FIELDS})`;

/** Returns the items of a page. Throws UPSTREAM_FAILED if Google has not searched all drives. */
function itemsOf(page: StatedObject): DriveItem[] {
  if (page.flag('incompleteSearch')) throw upstreamFailed('Google Drive could not search all files');
  return page.items('files').map(toDriveItem);
}

/** Lists all files of the user, wherever they are: faster than folder by folder. */
async function listAll(access: DriveAccess, cursor: string | null) {
  const page = await get(access, 'files', {
    q: 'trashed=false',
    fields: FILE_PAGE_FIELDS,
    pageSize: PAGE_SIZE,
    ...(cursor !== null && { pageToken: cursor }),
  });
  const events = itemsOf(page).map((item) => ({ item }));
  const next = page.text('nextPageToken');
  return { events, cursor: next ?? '', isLast: next === null };
}

async function listBelow(access: DriveAccess, folderId: string, cursor: string | null): Promise<DrivePage> {
  const at = readFolderCursor(cursor, folderId);
  const parents = at.folders.map((id) => `'${id.replaceAll(/['\\]/g, '\\$&')}' in parents`).join(' or ');
  const query = {
    q: `trashed=false and (${parents})`,
    fields: FILE_PAGE_FIELDS,
    pageSize: PAGE_SIZE,
    ...ALL_DRIVES,
    ...(at.page !== null && { pageToken: at.page }),
  };
  const page = await orWithoutFolder(at, folderId, get(access, 'files', query));
  if (!(page instanceof StatedObject)) return page;
  const items = itemsOf(page);
  const found = items.filter(({ isFolder }) => isFolder).map(({ id }) => id);
  const next = nextFolders(at, found, page.text('nextPageToken'), FOLDERS_AT_ONCE);
  return { events: items.map((item) => ({ item })), ...next };
}

async function readChanges(access: DriveAccess, cursor: string) {
  const { driveId, token } = JSON.parse(cursor) as { driveId: string | null; token: string };
  const page = await get(access, 'changes', {
    pageToken: token,
    fields: `nextPageToken,newStartPageToken,changes(fileId,removed,file(${FIELDS}))`,
    pageSize: PAGE_SIZE,
    ...ALL_DRIVES,
    ...(driveId !== null && { driveId }),
  });
  const events = page.items('changes').flatMap(toEvents);
  const nextPage = page.text('nextPageToken');
  const next = nextPage ?? page.text('newStartPageToken');
  if (next === null) throw upstreamFailed('The changes of Google Drive have no next page');
  return { events, cursor: JSON.stringify({ driveId, token: next }), isLast: nextPage === null };
}

/** Changes of a shared drive itself have no file. */
function toEvents(change: StatedObject): DriveEvent[] {
  const removedId = change.text('fileId');
  if (removedId === null) return [];
  const file = change.object('file');
  return change.flag('removed') || !file || file.flag('trashed') ? [{ removedId }] : [{ item: toDriveItem(file) }];
}

function toDriveItem(file: StatedObject): DriveItem {
  const [name, type] = [file.rawText('name') ?? '', file.text('mimeType') ?? ''];
  const exported = EXPORTS.get(type);
  const isNamed = !exported || name.toLowerCase().endsWith(exported.extension);
  return toItem({
    id: file.id(),
    name: isNamed ? name : `${name}${exported.extension}`,
    isFolder: type === FOLDER,
    parentId: file.firstText('parents'),
    contentType: exported?.contentType ?? type,
    // The size of a document differs from the size of its converted file.
    size: exported ? null : file.size('size'),
    hash: file.text('md5Checksum'),
    revision: file.text('headRevisionId') ?? file.text('modifiedTime'),
    modifiedAt: file.time('modifiedTime'),
    url: file.text('webViewLink'),
    unreadable: whyUnreadable(file, type, exported !== undefined),
  });
}

function whyUnreadable(file: StatedObject, type: string, isExported: boolean): string | null {
  if (type === `${GOOGLE_TYPE}shortcut`) return 'A shortcut to another file';
  if (type.startsWith(GOOGLE_TYPE) && !isExported)
    return `Google converts no ${type.slice(GOOGLE_TYPE.length)} to a file`;
  const canDownload = file.object('capabilities')?.flag('canDownload');
  return canDownload === false ? 'Its owner permits no downloads' : null;
}

async function exportFile(access: DriveAccess, url: string, maxBytes: number) {
  try {
    return await downloadDrive(access, url, {}, maxBytes);
  } catch (error) {
    if (error instanceof DriveRefusal && error.reason === 'exportSizeLimitExceeded')
      throw tooLarge('Google converts documents to files of at most 10 MB');
    throw error;
  }
}

/** Waits for a call with a cursor. Google refuses an old one as an invalid value, or as gone. */
const loseCursor = <T>(cursor: string | null, call: Promise<T>): Promise<T> =>
  cursor === null
    ? call
    : orLoseCursor(
        'Google Drive',
        call,
        ({ httpStatus, reason }) =>
          httpStatus === 410 || (httpStatus === 400 && /^invalid(?:PageToken)?$/.test(reason)),
      );

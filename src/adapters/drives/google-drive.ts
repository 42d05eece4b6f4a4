import type { Drive, DriveAccess, DriveEvent, DriveItem, DrivePage } from '../../core/drive.ts';
import { tooLarge, upstreamFailed } from '../../core/errors.ts';
import { listOf, toAccount, toItem } from './drive-item.ts';
import { DriveRefusal } from './drive-refusal.ts';
import { downloadDrive, findAtDrive, orLoseCursor, readDrive } from './drive-request.ts';
import { nextFolders, orWithoutFolder, readFolderCursor } from './folder-cursor.ts';

interface GoogleFile {
  id: string;
  name?: string;
  mimeType?: string;
  parents?: string[];
  size?: string;
  md5Checksum?: string;
  headRevisionId?: string;
  modifiedTime?: string;
  trashed?: boolean;
  webViewLink?: string;
  driveId?: string;
  capabilities?: { canDownload?: boolean };
}

const FOLDER = 'application/vnd.google-apps.folder';
const GOOGLE_TYPE = 'application/vnd.google-apps.';
const OFFICE_TYPE = 'application/vnd.openxmlformats-officedocument.';
const FIELDS =
  'id,name,mimeType,parents,size,md5Checksum,headRevisionId,modifiedTime,trashed,webViewLink,capabilities/canDownload';
/** Includes what lies on drives that several users share. */
const ALL_DRIVES = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' };
const PAGE_SIZE = '1000';
/** Number of folders whose items one call lists. */
const FOLDERS_AT_ONCE = 20;

/** Media types to which Google converts its own documents, and their extensions. */
const EXPORTS: ReadonlyMap<string, { contentType: string; extension: string }> = new Map([
  [`${GOOGLE_TYPE}document`, { contentType: `${OFFICE_TYPE}wordprocessingml.document`, extension: '.docx' }],
  [`${GOOGLE_TYPE}spreadsheet`, { contentType: `${OFFICE_TYPE}spreadsheetml.sheet`, extension: '.xlsx' }],
  [`${GOOGLE_TYPE}presentation`, { contentType: `${OFFICE_TYPE}presentationml.presentation`, extension: '.pptx' }],
]);
const EXPORT_TYPES: ReadonlySet<string> = new Set([...EXPORTS.values()].map(({ contentType }) => contentType));

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
    const { user } = await get<{ user?: Record<string, unknown> }>(access, 'about', { fields: 'user' });
    return toAccount(user?.permissionId, user?.emailAddress, user?.displayName);
  },

  root: async (access, rootId) => (await findFolder(access, rootId)).id,

  async start(access, rootId) {
    const driveId = rootId === null ? null : ((await findFolder(access, rootId)).driveId ?? null);
    const { startPageToken } = await get<{ startPageToken: string }>(access, 'changes/startPageToken', {
      supportsAllDrives: 'true',
      ...(driveId !== null && { driveId }),
    });
    return JSON.stringify({ driveId, token: startPageToken });
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
      media.catch((error: unknown) => {
        if (!isExported(error)) throw error;
        return exportFile(access, `${file}/export?${new URLSearchParams({ mimeType: contentType })}`, maxBytes);
      }),
    );
  },
};

const get = <T>(access: DriveAccess, path: string, query: Record<string, string>): Promise<T> =>
  readDrive(access, `${access.apiUri}/${path}?${new URLSearchParams(query)}`);

const findFolder = (access: DriveAccess, id: string | null): Promise<GoogleFile> =>
  findAtDrive(
    'folder',
    id ?? 'root',
    // The root is an alias, by which no item names its folder.
    get(access, `files/${encodeURIComponent(id ?? 'root')}`, { fields: 'id,driveId', supportsAllDrives: 'true' }),
  );

interface FilePage {
  files?: GoogleFile[];
  nextPageToken?: string;
  incompleteSearch?: boolean;
}

const FILE_PAGE_FIELDS = `nextPageToken,incompleteSearch,files(${FIELDS})`;

/** Returns the items of a page. Throws UPSTREAM_FAILED if Google has not searched all drives. */
function itemsOf({ files, incompleteSearch }: FilePage): DriveItem[] {
  if (incompleteSearch) throw upstreamFailed('Google Drive could not search all files');
  return listOf<GoogleFile>(files).map(toDriveItem);
}

/** Lists all files of the user, wherever they are: faster than folder by folder. */
async function listAll(access: DriveAccess, cursor: string | null) {
  const page = await get<FilePage>(access, 'files', {
    q: 'trashed=false',
    fields: FILE_PAGE_FIELDS,
    pageSize: PAGE_SIZE,
    ...(cursor !== null && { pageToken: cursor }),
  });
  const events = itemsOf(page).map((item) => ({ item }));
  return { events, cursor: page.nextPageToken ?? '', isLast: !page.nextPageToken };
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
  const page = await orWithoutFolder(at, folderId, get<FilePage>(access, 'files', query));
  if ('isLast' in page) return page;
  const items = itemsOf(page);
  const found = items.filter(({ isFolder }) => isFolder).map(({ id }) => id);
  const next = nextFolders(at, found, page.nextPageToken ?? null, FOLDERS_AT_ONCE);
  return { events: items.map((item) => ({ item })), ...next };
}

interface Change {
  fileId?: string;
  removed?: boolean;
  file?: GoogleFile;
}

async function readChanges(access: DriveAccess, cursor: string) {
  const { driveId, token } = JSON.parse(cursor) as { driveId: string | null; token: string };
  const page = await get<{ changes?: Change[]; nextPageToken?: string; newStartPageToken?: string }>(
    access,
    'changes',
    {
      pageToken: token,
      fields: `nextPageToken,newStartPageToken,changes(fileId,removed,file(${FIELDS}))`,
      pageSize: PAGE_SIZE,
      ...ALL_DRIVES,
      ...(driveId !== null && { driveId }),
    },
  );
  const events = listOf<Change>(page.changes).flatMap(toEvents);
  const next = page.nextPageToken ?? page.newStartPageToken;
  if (!next) throw upstreamFailed('The changes of Google Drive have no next page');
  return { events, cursor: JSON.stringify({ driveId, token: next }), isLast: !page.nextPageToken };
}

/** Changes of a shared drive itself have no file. */
function toEvents({ fileId, removed, file }: Change): DriveEvent[] {
  if (fileId === undefined) return [];
  return removed || !file || file.trashed ? [{ removedId: fileId }] : [{ item: toDriveItem(file) }];
}

function toDriveItem(file: GoogleFile): DriveItem {
  const { name = '', mimeType = '' } = file;
  const exported = EXPORTS.get(mimeType);
  const isNamed = !exported || name.toLowerCase().endsWith(exported.extension);
  return toItem({
    id: file.id,
    name: isNamed ? name : `${name}${exported.extension}`,
    isFolder: mimeType === FOLDER,
    parentId: file.parents?.[0],
    contentType: exported?.contentType ?? mimeType,
    // The size of a document is not that of the file to which it is converted.
    size: exported ? null : file.size,
    hash: file.md5Checksum,
    revision: file.headRevisionId ?? file.modifiedTime,
    modifiedAt: file.modifiedTime,
    url: file.webViewLink,
    unreadable: whyUnreadable(file, exported !== undefined),
  });
}

function whyUnreadable({ mimeType = '', capabilities }: GoogleFile, isExported: boolean): string | null {
  if (mimeType === `${GOOGLE_TYPE}shortcut`) return 'A shortcut to another file';
  if (mimeType.startsWith(GOOGLE_TYPE) && !isExported)
    return `Google converts no ${mimeType.slice(GOOGLE_TYPE.length)} to a file`;
  return capabilities?.canDownload === false ? 'Its owner permits no downloads' : null;
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

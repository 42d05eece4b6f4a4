import type { Drive, DriveAccess, DriveEvent, DrivePage } from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { listOf, toAccount, toItem } from './drive-item.ts';
import type { DriveRefusal } from './drive-refusal.ts';
import { checkNextLink, downloadDrive, findAtDrive, orLoseCursor, readDrive } from './drive-request.ts';

interface GraphItem {
  id: string;
  name: string;
  size?: number;
  eTag?: string;
  cTag?: string;
  webUrl?: string;
  lastModifiedDateTime?: string;
  parentReference?: { id?: string };
  file?: { mimeType?: string; hashes?: { quickXorHash?: string; sha256Hash?: string; sha1Hash?: string } };
  folder?: object;
  root?: object;
  package?: object;
  remoteItem?: object;
  malware?: object;
  deleted?: object;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const PAGE_SIZE = 1000;

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
    type Me = { id?: string; displayName?: string; mail?: string | null; userPrincipalName?: string };
    const me = await readDrive<Me>(access, `${access.apiUri}/me`);
    return toAccount(me.id, me.mail ?? me.userPrincipalName, me.displayName);
  },

  async root(access, rootId) {
    const folder = readDrive<GraphItem>(access, urlOf(access, rootId));
    // An id that is none is refused as 400.
    const isMissing = ({ httpStatus }: DriveRefusal) => httpStatus === 404 || httpStatus === 400;
    return (await findAtDrive('folder', rootId ?? 'root', folder, isMissing)).id;
  },

  async start(access, rootId) {
    const { cursor } = await readDelta(access, rootId, `${urlOf(access, rootId)}/delta?token=latest`);
    return cursor;
  },

  list(access, folderId, cursor) {
    const page = readDelta(access, folderId, cursor ?? `${urlOf(access, folderId)}/delta?$top=${PAGE_SIZE}`);
    return cursor === null ? findAtDrive('folder', folderId ?? 'root', page) : page;
  },

  changes: (access, rootId, cursor) => findAtDrive('folder', rootId ?? 'root', readDelta(access, rootId, cursor)),

  contents: (access, { id }, maxBytes) =>
    findAtDrive('file', id, downloadDrive(access, `${urlOf(access, id)}/content`, {}, maxBytes)),
};

const urlOf = ({ apiUri }: DriveAccess, id: string | null): string =>
  id === null ? `${apiUri}/me/drive/root` : `${apiUri}/me/drive/items/${encodeURIComponent(id)}`;

interface DeltaPage {
  value: GraphItem[];
  '@odata.nextLink'?: string;
  '@odata.deltaLink'?: string;
}

/** Reads a page of a listing or of changes, which are the same. The cursor is the URL of the next page. */
async function readDelta(access: DriveAccess, rootId: string | null, cursor: string): Promise<DrivePage> {
  const call = readDrive<DeltaPage>(access, checkNextLink(access, cursor));
  const page = await orLoseCursor('OneDrive', call, isCursorLost);
  const { '@odata.nextLink': nextLink, '@odata.deltaLink': deltaLink } = page;
  const next = nextLink ?? deltaLink;
  if (next === undefined) throw upstreamFailed('The response of the drive names no next page');
  return {
    events: listOf<GraphItem>(page.value).flatMap((item) => toEvents(item, rootId)),
    cursor: checkNextLink(access, next),
    isLast: nextLink === undefined,
  };
}

const isCursorLost = ({ httpStatus, reason }: DriveRefusal): boolean =>
  httpStatus === 410 || /^(?:resync|syncState)/.test(reason);

function toEvents(item: GraphItem, rootId: string | null): DriveEvent[] {
  if (item.deleted) return [{ removedId: item.id }];
  if (item.root || item.id === rootId) return [];
  const { quickXorHash, sha256Hash, sha1Hash } = item.file?.hashes ?? {};
  const stated = toItem({
    id: item.id,
    name: item.name,
    isFolder: item.folder !== undefined && !item.remoteItem && !item.package,
    parentId: item.parentReference?.id,
    contentType: item.file?.mimeType,
    size: item.size,
    hash: quickXorHash ?? sha256Hash ?? sha1Hash,
    revision: item.cTag ?? item.eTag,
    modifiedAt: item.lastModifiedDateTime,
    url: item.webUrl,
    unreadable: whyUnreadable(item),
  });
  return [{ item: stated }];
}

function whyUnreadable({ remoteItem, package: notebook, malware, file }: GraphItem): string | null {
  if (remoteItem) return 'A shortcut to another drive';
  if (notebook) return 'A notebook, of which OneDrive has no file';
  if (malware) return 'OneDrive found malware in it';
  return file ? null : 'An item without contents';
}

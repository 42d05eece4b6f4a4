/**
 * The protocol of OneDrive by Microsoft Graph: one delta for listing and changes, contents at another host. Drives for work
 * or school (`business`) and of SharePoint (`documentLibrary`) differ from personal ones, as these pages say:
 * https://github.com/OneDrive/onedrive-api-docs/blob/live/docs/rest-api/getting-started/release-notes.md
 * https://learn.microsoft.com/en-us/graph/api/driveitem-delta#remarks
 */
import { DriveTree, hashOf, type FakeChange, type FakeItem } from './drive-tree.ts';
import type { FakeReply, FakeRequest } from './fake-http.ts';
import type { DriveFake, FakeProtocol, FakeRoute, Place } from './fake-server.ts';

type DriveType = 'personal' | 'business' | 'documentLibrary';

interface Cursor {
  /** Id of the folder that is followed. */
  folderId: string;
  listing: Place | null;
  log: Place;
  /** Whether an empty page was sent for it. */
  isAfterEmpty?: boolean;
}

const refuse = (status: number, reason: string): FakeReply => ({
  status,
  json: { error: { code: reason, message: `Refused: ${reason}`, innerError: {} } },
});

/** Of files for work or school, a delta states no `cTag`, and nothing states media types. Their folders have no `cTag`. */
function toGraphItem({ tree, quirks }: DriveFake, item: FakeItem, driveType: DriveType, isDelta: boolean): object {
  const isFile = !item.isFolder && item.special === null;
  const isPersonal = driveType === 'personal';
  // Hashes need not be there: https://learn.microsoft.com/en-us/graph/api/resources/hashes
  const hashes = quirks.has('no-hashes') ? undefined : { quickXorHash: hashOf(item.content, 'sha1') };
  return {
    id: item.id,
    name: item === tree.root ? 'root' : item.name,
    eTag: `"{${item.id}},${item.version}"`,
    ...((isPersonal || (isFile && !isDelta)) && { cTag: `"c:{${item.id}},${item.contentVersion}"` }),
    size: item.content.size,
    webUrl: `https://onedrive.live.com/?id=${encodeURIComponent(item.id)}`,
    lastModifiedDateTime: item.modifiedAt.toISOString(),
    ...(item.parentId !== null && { parentReference: { id: item.parentId, driveType } }),
    ...(item === tree.root && { root: {} }),
    ...(item.isFolder && { folder: { childCount: tree.children(item).length } }),
    ...(isFile && { file: { ...(isPersonal && { mimeType: 'text/plain' }), hashes } }),
    ...(item.special === 'shortcut' && { remoteItem: { id: 'elsewhere' }, folder: { childCount: 1 } }),
    // https://learn.microsoft.com/en-us/graph/api/resources/malware
    ...(item.special === 'malware' && { file: {}, malware: { description: 'A virus' } }),
    // An album: https://learn.microsoft.com/en-us/graph/api/resources/bundle
    ...(item.special === 'bundle' && { bundle: { childCount: 1 } }),
    ...(item.special !== null && !/^(shortcut|malware|bundle)$/.test(item.special) && { package: { type: 'oneNote' } }),
  };
}

function readDelta(fake: DriveFake, folder: FakeItem, cursor: Cursor, path: string, driveType: DriveType): FakeReply {
  const { tree } = fake;
  // Both forms are in the reference.
  const toLink = (next: Cursor) => {
    const token = fake.encode(next);
    return `${fake.addresses.apiUri}${path}${driveType === 'personal' ? `?token=${token}` : `(token='${token}')`}`;
  };
  const toReply = (value: object[], next: Cursor, isLast: boolean): FakeReply => ({
    json: { value, [isLast ? '@odata.deltaLink' : '@odata.nextLink']: toLink(next) },
  });
  // https://github.com/OneDrive/onedrive-api-docs/issues/1424
  const endless = fake.endless(cursor);
  if (endless) return toReply([], endless, false);
  if (cursor.listing) {
    const isListed = (item: FakeItem) => tree.isVisible(item) && tree.isBelow(item, folder);
    const { found, next } = fake.page(tree.order, cursor.listing, 200, isListed);
    return toReply(
      found.map((item) => toGraphItem(fake, item, driveType, true)),
      { ...cursor, listing: next },
      next === null,
    );
  }
  // A page may be empty, and have a next link nevertheless.
  if (fake.quirks.has('empty-pages') && !cursor.isAfterEmpty && cursor.log.at < tree.log.length)
    return toReply([], { ...cursor, isAfterEmpty: true }, false);
  // https://github.com/microsoftgraph/microsoft-graph-docs/issues/2749
  if (fake.quirks.has('same-link')) return toReply([], cursor, false);
  const { found, next } = fake.page(tree.log, cursor.log, 200);
  const log = next ?? { at: tree.log.length, last: null };
  // The folder that contains a change is listed too.
  const above = found.length > 0 ? [toGraphItem(fake, folder, driveType, true)] : [];
  const changed = found.flatMap((change) => toChanged(fake, change, folder, driveType));
  return toReply([...above, ...changed], { ...cursor, log, isAfterEmpty: false }, next === null);
}

/** Shows only the id of an item that leaves the followed folder. */
function toChanged(fake: DriveFake, { item, oldPath }: FakeChange, folder: FakeItem, driveType: DriveType): object[] {
  const { tree, quirks } = fake;
  if (tree.isVisible(item) && tree.isBelow(item, folder)) {
    const shown = toGraphItem(fake, item, driveType, true);
    // An item may come twice, and the last one counts: https://learn.microsoft.com/en-us/graph/api/driveitem-delta#remarks
    const earlier = { ...shown, name: 'Earlier', parentReference: { id: folder.id, driveType } };
    return quirks.has('earlier-states') && item !== tree.root ? [earlier, shown] : [shown];
  }
  return oldPath === null ? [] : [{ id: item.id, deleted: { state: 'deleted' } }];
}

function listChildren(fake: DriveFake, folder: FakeItem, token: string | null, driveType: DriveType): FakeReply {
  const { tree } = fake;
  const place = token === null ? { at: 0, last: null } : fake.decode<Place>(token);
  if (!place) return refuse(410, 'resyncRequired');
  const isListed = (item: FakeItem) => item.parentId === folder.id && tree.isVisible(item);
  const { found, next } = fake.page(tree.order, place, 200, isListed);
  const endless = fake.endless(place);
  const link = `${fake.addresses.apiUri}/me/drive/items/${encodeURIComponent(folder.id)}/children?$skiptoken=`;
  return {
    json: {
      value: endless ? [] : found.map((item) => toGraphItem(fake, item, driveType, false)),
      ...((endless ?? next) !== null && { '@odata.nextLink': link + fake.encode(endless ?? next) }),
    },
  };
}

/** Returns the route of deltas. Drives that are not personal have deltas only for the root. */
function deltaRoute(fake: DriveFake, find: (path: string) => FakeItem | undefined, driveType: DriveType): FakeRoute {
  const { tree } = fake;
  const pattern = /^\/v1.0\/me\/drive\/(root|items\/[^/]+)\/delta(?:\(token='([^']+)'\))?$/;
  const tokenOf = ({ path, query }: FakeRequest) => query.get('token') ?? pattern.exec(path)![2] ?? null;
  const cursorOf = (token: string | null): Cursor | undefined =>
    token === null || token === 'latest' ? undefined : fake.decode<Cursor>(token);
  return {
    kind: (request) => {
      const token = tokenOf(request);
      if (token === 'latest') return 'start';
      return token === null || cursorOf(token)?.listing ? 'list' : 'changes';
    },
    method: 'GET',
    pattern,
    respond: (request, [path]) => {
      const folder = find(path!);
      if (!folder) return refuse(404, 'itemNotFound');
      // https://github.com/OneDrive/onedrive-api-docs/issues/842
      if (driveType !== 'personal' && path !== 'root') return refuse(501, 'notSupported');
      const token = tokenOf(request);
      const log = { at: tree.log.length, last: null };
      const listing = token === 'latest' ? null : { at: 0, last: null };
      const isNew = token === null || token === 'latest';
      const cursor = isNew ? { folderId: folder.id, listing, log } : cursorOf(token);
      const restart = `${fake.addresses.apiUri}/me/drive/${path}/delta`;
      if (!cursor) return { ...refuse(410, 'resyncRequired'), headers: { location: restart } };
      return readDelta(fake, folder, cursor, `/me/drive/${path}/delta`, driveType);
    },
  };
}

function createRoutes(fake: DriveFake, driveType: DriveType): FakeRoute[] {
  const { tree } = fake;
  const get = (kind: FakeRoute['kind'], path: string, respond: FakeRoute['respond']): FakeRoute => ({
    kind,
    method: 'GET',
    pattern: new RegExp(`^/v1.0/${path}$`),
    respond,
  });
  const find = (path: string): FakeItem | undefined => {
    const item = path === 'root' ? tree.root : tree.get(decodeURIComponent(path.slice('items/'.length)));
    return item && tree.isVisible(item) ? item : undefined;
  };
  return [
    get('account', 'me', () => ({
      json: { id: fake.account.id, displayName: fake.account.name, mail: null, userPrincipalName: fake.account.email },
    })),
    deltaRoute(fake, find, driveType),
    get('list', 'me/drive/(root|items/[^/]+)/children', ({ query }, [path]) => {
      const folder = find(path!);
      // https://learn.microsoft.com/en-us/graph/errors
      const refusal = folder && fake.refuseClosed([folder.id]);
      if (refusal) return refusal;
      return folder ? listChildren(fake, folder, query.get('$skiptoken'), driveType) : refuse(404, 'itemNotFound');
    }),
    get('contents', 'me/drive/items/([^/]+)/content', (_request, [id]) => {
      const item = tree.get(id!);
      if (!item || !tree.isVisible(item)) return refuse(404, 'itemNotFound');
      return item.special ? refuse(400, 'notSupported') : { status: 302, headers: { location: fake.linkTo(item) } };
    }),
    get('root', 'me/drive/(root|items/[^/]+)', (_request, [path]) => {
      const item = find(path!);
      return item ? { json: toGraphItem(fake, item, driveType, false) } : refuse(404, 'itemNotFound');
    }),
    fake.download,
  ];
}

const createProtocol = (driveType: DriveType): FakeProtocol => ({
  type: 'onedrive',
  apiPath: '/v1.0',
  contentPath: null,
  rotates: true,
  isOffline: (query) => (query.get('scope') ?? '').split(' ').includes('offline_access'),
  createTree: () => new DriveTree('ROOT!1', (count) => `FAKE!${count + 100}`),
  refuse,
  createRoutes: (fake) => createRoutes(fake, driveType),
});

/** A personal drive. */
export const ONEDRIVE_PROTOCOL = createProtocol('personal');
/** A drive for work or school. */
export const ONEDRIVE_BUSINESS_PROTOCOL = createProtocol('business');
/** A document library of SharePoint. */
export const SHAREPOINT_PROTOCOL = createProtocol('documentLibrary');

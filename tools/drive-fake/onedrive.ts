/** The protocol of OneDrive by Microsoft Graph: one delta for listing and changes, contents at another host. */
import { DriveTree, hashOf, type FakeChange, type FakeItem } from './drive-tree.ts';
import type { DriveFake, FakeProtocol, FakeReply, FakeRoute, Place } from './fake-server.ts';

interface Cursor {
  /** Id of the folder that is followed. */
  folderId: string;
  listing: Place | null;
  log: Place;
}

const refuse = (status: number, reason: string): FakeReply => ({
  status,
  json: { error: { code: reason, message: `Refused: ${reason}`, innerError: {} } },
});

function toGraphItem(tree: DriveTree, item: FakeItem): object {
  const isFile = !item.isFolder && item.special === null;
  return {
    id: item.id,
    name: item === tree.root ? 'root' : item.name,
    eTag: `"{${item.id}},${item.version}"`,
    cTag: `"c:{${item.id}},${item.contentVersion}"`,
    size: item.content.size,
    webUrl: `https://onedrive.live.com/?id=${encodeURIComponent(item.id)}`,
    lastModifiedDateTime: item.modifiedAt.toISOString(),
    ...(item.parentId !== null && { parentReference: { id: item.parentId, driveType: 'personal' } }),
    ...(item === tree.root && { root: {} }),
    ...(item.isFolder && { folder: { childCount: tree.children(item).length } }),
    ...(isFile && { file: { mimeType: 'text/plain', hashes: { quickXorHash: hashOf(item.content, 'sha1') } } }),
    ...(item.special === 'shortcut' && { remoteItem: { id: 'elsewhere' }, folder: { childCount: 1 } }),
    ...(item.special !== null && item.special !== 'shortcut' && { package: { type: 'oneNote' } }),
  };
}

function readDelta(fake: DriveFake, folder: FakeItem, cursor: Cursor, path: string): FakeReply {
  const { tree } = fake;
  const toLink = (next: Cursor) => `${fake.addresses.apiUri}${path}?token=${fake.encode(next)}`;
  const toReply = (value: object[], next: Cursor, isLast: boolean): FakeReply => ({
    json: { value, [isLast ? '@odata.deltaLink' : '@odata.nextLink']: toLink(next) },
  });
  if (cursor.listing) {
    const isListed = (item: FakeItem) => tree.isVisible(item) && tree.isBelow(item, folder);
    const { found, next } = fake.page(tree.order, cursor.listing, 200, isListed);
    return toReply(
      found.map((item) => toGraphItem(tree, item)),
      { ...cursor, listing: next },
      next === null,
    );
  }
  const { found, next } = fake.page(tree.log, cursor.log, 200);
  const log = next ?? { at: tree.log.length, last: null };
  // What contains a change is mentioned too.
  const above = found.length > 0 ? [toGraphItem(tree, folder)] : [];
  const changed = found.flatMap((change) => toChanged(tree, change, folder));
  return toReply([...above, ...changed], { ...cursor, log }, next === null);
}

/** Of what leaves the folder that is followed, only the id is shown. */
function toChanged(tree: DriveTree, { item, oldPath }: FakeChange, folder: FakeItem): object[] {
  if (tree.isVisible(item) && tree.isBelow(item, folder)) return [toGraphItem(tree, item)];
  return oldPath === null ? [] : [{ id: item.id, deleted: { state: 'deleted' } }];
}

function createRoutes(fake: DriveFake): FakeRoute[] {
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
  const cursorOf = (token: string | null): Cursor | undefined =>
    token === null || token === 'latest' ? undefined : fake.decode<Cursor>(token);
  return [
    get('account', 'me', () => ({
      json: { id: fake.account.id, displayName: fake.account.name, mail: null, userPrincipalName: fake.account.email },
    })),
    get(
      ({ query }) => {
        const token = query.get('token');
        if (token === 'latest') return 'start';
        return token === null || cursorOf(token)?.listing ? 'list' : 'changes';
      },
      'me/drive/(root|items/[^/]+)/delta',
      ({ query }, [path]) => {
        const folder = find(path!);
        if (!folder) return refuse(404, 'itemNotFound');
        const token = query.get('token');
        const log = { at: tree.log.length, last: null };
        const listing = token === 'latest' ? null : { at: 0, last: null };
        const isNew = token === null || token === 'latest';
        const cursor = isNew ? { folderId: folder.id, listing, log } : cursorOf(token);
        const restart = `${fake.addresses.apiUri}/me/drive/${path}/delta`;
        if (!cursor) return { ...refuse(410, 'resyncRequired'), headers: { location: restart } };
        return readDelta(fake, folder, cursor, `/me/drive/${path}/delta`);
      },
    ),
    get('contents', 'me/drive/items/([^/]+)/content', (_request, [id]) => {
      const item = tree.get(id!);
      if (!item || !tree.isVisible(item)) return refuse(404, 'itemNotFound');
      return item.special ? refuse(400, 'notSupported') : { status: 302, headers: { location: fake.linkTo(item) } };
    }),
    get('root', 'me/drive/(root|items/[^/]+)', (_request, [path]) => {
      const item = find(path!);
      return item ? { json: toGraphItem(tree, item) } : refuse(404, 'itemNotFound');
    }),
    fake.download,
  ];
}

export const ONEDRIVE_PROTOCOL: FakeProtocol = {
  apiPath: '/v1.0',
  contentPath: null,
  rotates: true,
  isOffline: (query) => (query.get('scope') ?? '').split(' ').includes('offline_access'),
  createTree: () => new DriveTree('ROOT!1', (count) => `FAKE!${count + 100}`),
  refuse,
  createRoutes,
};

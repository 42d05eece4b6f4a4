/** The protocol of Dropbox, version 2: paths instead of folders, POST for all. */
import { DriveTree, hashOf, type FakeChange, type FakeItem } from './drive-tree.ts';
import type { DriveFake, FakeProtocol, FakeReply, FakeRequest, FakeRoute, Place } from './fake-server.ts';

/** A cursor first lists what is below a path, then reads the log from where it was at the start. */
interface Cursor {
  root: string;
  listing: Place | null;
  log: Place;
}

const refuse = (status: number, reason: string): FakeReply =>
  status === 400
    ? { status, text: `Error in call to API function: ${reason}` }
    : { status, json: { error_summary: `${reason}/...`, error: { '.tag': reason.split('/')[0] } } };

const inputOf = <T>({ body }: FakeRequest): T => JSON.parse(body) as T;

function toEntry(tree: DriveTree, item: FakeItem): object {
  const path = `/${tree.pathOf(item)}`;
  const place = { name: item.name, id: item.id, path_display: path, path_lower: path.toLowerCase() };
  if (item.isFolder) return { '.tag': 'folder', ...place };
  return {
    '.tag': 'file',
    ...place,
    rev: `rev${item.contentVersion}`,
    size: item.content.size,
    content_hash: hashOf(item.content, 'sha256'),
    client_modified: item.modifiedAt.toISOString(),
    server_modified: item.modifiedAt.toISOString(),
    is_downloadable: item.special === null,
  };
}

const isWithin = (path: string, root: string): boolean =>
  root === '' || `${path.toLowerCase()}/`.startsWith(`${root}/`);

function toEntries(tree: DriveTree, { type, item, oldPath }: FakeChange, root: string): object[] {
  const isGone = oldPath !== null && type !== 'content' && isWithin(`/${oldPath}`, root);
  const old = `/${oldPath}`;
  const name = old.slice(old.lastIndexOf('/') + 1);
  const deleted = { '.tag': 'deleted', name, path_display: old, path_lower: old.toLowerCase() };
  const shown = /^(?:move|rename|restore)$/.test(type) && !item.isDeleted ? tree.subtree(item) : [item];
  const present = shown.filter((below) => tree.isVisible(below) && isWithin(`/${tree.pathOf(below)}`, root));
  return [...(isGone ? [deleted] : []), ...present.map((below) => toEntry(tree, below))];
}

/** Returns the folder at a path or of an id; undefined if there is none. */
function findItem({ tree }: DriveFake, path: string): FakeItem | undefined {
  const item = path.startsWith('id:') ? tree.get(path) : tree.find(path, true);
  return item && tree.isVisible(item) ? item : undefined;
}

function startCursor(fake: DriveFake, path: string): Cursor | FakeReply {
  const folder = path === '' ? fake.tree.root : findItem(fake, path);
  if (!folder?.isFolder) return refuse(409, 'path/not_found');
  const root = folder === fake.tree.root ? '' : `/${fake.tree.pathOf(folder)}`.toLowerCase();
  return { root, listing: { at: 0, last: null }, log: { at: fake.tree.log.length, last: null } };
}

function listPage(fake: DriveFake, cursor: Cursor): FakeReply {
  const { tree } = fake;
  const listing = cursor.listing!;
  const isListed = (item: FakeItem) =>
    item !== tree.root && tree.isVisible(item) && isWithin(`/${tree.pathOf(item)}`, cursor.root);
  const { found, next } = fake.page(tree.order, listing, 2000, isListed);
  return {
    json: {
      entries: found.map((item) => toEntry(tree, item)),
      cursor: fake.encode({ ...cursor, listing: next } satisfies Cursor),
      has_more: next !== null,
    },
  };
}

function continueCursor(fake: DriveFake, text: string): FakeReply {
  const cursor = fake.decode<Cursor>(text);
  if (!cursor) return refuse(409, 'reset');
  if (cursor.listing) return listPage(fake, cursor);
  const { tree } = fake;
  const { found, next } = fake.page(tree.log, cursor.log, 2000);
  const log = next ?? { at: tree.log.length, last: null };
  return {
    json: {
      entries: found.flatMap((change) => toEntries(tree, change, cursor.root)),
      cursor: fake.encode({ ...cursor, log } satisfies Cursor),
      has_more: next !== null,
    },
  };
}

function sendFile(fake: DriveFake, { headers, body }: FakeRequest): FakeReply {
  const { path } = JSON.parse(String(headers['dropbox-api-arg'])) as { path: string };
  if (body !== '') return refuse(400, 'the body must be empty');
  const item = findItem(fake, path);
  if (!item) return refuse(409, 'path/not_found');
  return item.special ? refuse(409, 'unsupported_file') : { content: item.content };
}

const post = (kind: FakeRoute['kind'], path: string, respond: FakeRoute['respond']): FakeRoute => ({
  kind,
  method: 'POST',
  pattern: new RegExp(`^/2/${path}$`),
  respond,
});

function createRoutes(fake: DriveFake): FakeRoute[] {
  const withCursor = (request: FakeRequest, respond: (cursor: Cursor) => FakeReply): FakeReply => {
    const started = startCursor(fake, inputOf<{ path: string }>(request).path);
    return 'root' in started ? respond(started) : started;
  };
  const kindOfContinue = (request: FakeRequest) =>
    fake.decode<Cursor>(inputOf<{ cursor: string }>(request).cursor)?.listing ? 'list' : 'changes';
  return [
    post('account', 'users/get_current_account', () => ({
      json: { account_id: fake.account.id, email: fake.account.email, name: { display_name: fake.account.name } },
    })),
    post('revoke', 'auth/token/revoke', ({ headers }) => {
      fake.authority.revoke(headers.authorization!.slice('Bearer '.length));
      return { json: {} };
    }),
    post('root', 'files/get_metadata', (request) => {
      const item = findItem(fake, inputOf<{ path: string }>(request).path);
      return item ? { json: toEntry(fake.tree, item) } : refuse(409, 'path/not_found');
    }),
    post('start', 'files/list_folder/get_latest_cursor', (request) =>
      withCursor(request, (cursor) => ({ json: { cursor: fake.encode({ ...cursor, listing: null }) } })),
    ),
    post('list', 'files/list_folder', (request) => withCursor(request, (cursor) => listPage(fake, cursor))),
    post(kindOfContinue, 'files/list_folder/continue', (request) =>
      continueCursor(fake, inputOf<{ cursor: string }>(request).cursor),
    ),
    { ...post('contents', 'files/download', (request) => sendFile(fake, request)), isContent: true },
  ];
}

export const DROPBOX_PROTOCOL: FakeProtocol = {
  apiPath: '/2',
  contentPath: '/2',
  rotates: false,
  isOffline: (query) => query.get('token_access_type') === 'offline',
  createTree: () => new DriveTree('id:root', (count) => `id:dropbox_${count}`),
  refuse,
  createRoutes,
};

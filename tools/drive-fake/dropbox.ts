/** The protocol of Dropbox, version 2: paths instead of folders, POST for all. */
import { DriveTree, hashOf, type FakeChange, type FakeItem } from './drive-tree.ts';
import type { FakeReply, FakeRequest } from './fake-http.ts';
import type { DriveFake, FakeProtocol, FakeRoute, Place } from './fake-server.ts';

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

/**
 * Returns a path as the fake compares it. Dropbox documents `path_lower` only as lower-case. Unlike JavaScript, it
 * converts character by character, so a final sigma is not special.
 * https://www.dropbox.com/developers/documentation/http/documentation#files-list_folder
 */
const fold = (path: string): string => Array.from(path, (character) => character.toLowerCase()).join('');

const inputOf = <T>({ body }: FakeRequest): T => JSON.parse(body) as T;

/**
 * Items that are not mounted have no path, parents of a displayed path may be in another case, and what cannot be downloaded
 * says so: https://www.dropbox.com/developers/documentation/http/documentation#files-list_folder
 */
function toEntry({ tree, quirks }: DriveFake, item: FakeItem): object {
  const path = `/${tree.pathOf(item)}`;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const shown = quirks.has('folded-parents') ? `${fold(path.slice(0, -name.length))}${name}` : path;
  const place = {
    name: item.name,
    id: item.id,
    ...(item.special !== 'unmounted' && { path_display: shown, path_lower: fold(path) }),
  };
  if (item.isFolder) return { '.tag': 'folder', ...place };
  return {
    '.tag': 'file',
    ...place,
    rev: `rev${item.contentVersion}`,
    size: item.content.size,
    content_hash: hashOf(item.content, 'sha256'),
    client_modified: item.modifiedAt.toISOString(),
    server_modified: item.modifiedAt.toISOString(),
    is_downloadable: item.special === null || item.special === 'shortcut',
    ...(item.special === 'shortcut' && { symlink_info: { target: '/elsewhere' } }),
  };
}

const isWithin = (path: string, root: string): boolean => root === '' || `${fold(path)}/`.startsWith(`${root}/`);

/** The order of the entries of a move is not promised. */
function toEntries(fake: DriveFake, { type, item, oldPath }: FakeChange, root: string): object[] {
  const { tree, quirks } = fake;
  const isGone = oldPath !== null && type !== 'content' && isWithin(`/${oldPath}`, root);
  const old = `/${oldPath}`;
  const name = old.slice(old.lastIndexOf('/') + 1);
  const deleted = { '.tag': 'deleted', name, path_display: old, path_lower: fold(old) };
  const shown = /^(?:move|rename|restore)$/.test(type) && !item.isDeleted ? tree.subtree(item) : [item];
  const present = shown.filter((below) => tree.isVisible(below) && isWithin(`/${tree.pathOf(below)}`, root));
  const added = present.map((below) => toEntry(fake, below));
  const removed = isGone ? [deleted] : [];
  return quirks.has('adds-first') ? [...added, ...removed] : [...removed, ...added];
}

/** Returns the folder at a path or of an id; undefined if there is none. */
function findItem({ tree }: DriveFake, path: string): FakeItem | undefined {
  const item = path.startsWith('id:') ? tree.get(path) : tree.find(path, true);
  return item && tree.isVisible(item) ? item : undefined;
}

function startCursor(fake: DriveFake, path: string): Cursor | FakeReply {
  const folder = path === '' ? fake.tree.root : findItem(fake, path);
  if (!folder?.isFolder) return refuse(409, 'path/not_found');
  const root = folder === fake.tree.root ? '' : fold(`/${fake.tree.pathOf(folder)}`);
  return { root, listing: { at: 0, last: null }, log: { at: fake.tree.log.length, last: null } };
}

/** No entries, and another page: in the reference of list_folder/continue only `has_more` shows the end. */
const sendEndless = (fake: DriveFake, cursor: Cursor): FakeReply => ({
  json: { entries: [], cursor: fake.encode(cursor), has_more: true },
});

function listPage(fake: DriveFake, cursor: Cursor): FakeReply {
  const { tree } = fake;
  const endless = fake.endless(cursor);
  if (endless) return sendEndless(fake, endless);
  const listing = cursor.listing!;
  const isListed = (item: FakeItem) =>
    item !== tree.root && tree.isVisible(item) && isWithin(`/${tree.pathOf(item)}`, cursor.root);
  const { found, next } = fake.page(tree.order, listing, 2000, isListed);
  return {
    json: {
      entries: found.map((item) => toEntry(fake, item)),
      cursor: fake.encode({ ...cursor, listing: next } satisfies Cursor),
      has_more: next !== null,
    },
  };
}

function continueCursor(fake: DriveFake, text: string): FakeReply {
  const cursor = fake.decode<Cursor>(text);
  if (!cursor) return refuse(409, 'reset');
  if (cursor.listing) return listPage(fake, cursor);
  const endless = fake.endless(cursor);
  if (endless) return sendEndless(fake, endless);
  const { tree } = fake;
  const { found, next } = fake.page(tree.log, cursor.log, 2000);
  const log = next ?? { at: tree.log.length, last: null };
  return {
    json: {
      entries: found.flatMap((change) => toEntries(fake, change, cursor.root)),
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
      return item ? { json: toEntry(fake, item) } : refuse(409, 'path/not_found');
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
  type: 'dropbox',
  apiPath: '/2',
  contentPath: '/2',
  rotates: false,
  isOffline: (query) => query.get('token_access_type') === 'offline',
  createTree: () => new DriveTree('id:root', (count) => `id:dropbox_${count}`),
  refuse,
  createRoutes,
};

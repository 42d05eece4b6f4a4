/** The protocol of Box, version 2.0: folder by folder, and a stream of events that repeats and is not in order. */
import { DriveTree, hashOf, type ChangeType, type FakeChange, type FakeItem } from './drive-tree.ts';
import type { FakeReply } from './fake-http.ts';
import type { DriveFake, FakeProtocol, FakeRoute, Place } from './fake-server.ts';

/** Positions are larger than the numbers of JavaScript. */
const FIRST_POSITION = 1_152_922_976_252_290_886n;
const EPOCH = 1_000_000_000n;

const EVENT_TYPES: Record<ChangeType, string> = {
  create: 'ITEM_CREATE',
  content: 'ITEM_UPLOAD',
  move: 'ITEM_MOVE',
  rename: 'ITEM_RENAME',
  trash: 'ITEM_TRASH',
  restore: 'ITEM_UNDELETE_VIA_TRASH',
  delete: 'ITEM_TRASH',
};

const refuse = (status: number, reason: string): FakeReply => ({
  status,
  json: { type: 'error', status, code: reason, message: `Refused: ${reason}`, request_id: 'abc' },
});

/** In the tree, ids of files and folders differ. At Box they do not. */
const boxIdOf = ({ id }: FakeItem): string => id.replace(/^\w+_/, '');

const typeOf = ({ isFolder, special }: FakeItem): string => (isFolder ? 'folder' : special ? 'web_link' : 'file');

function toBoxItem(tree: DriveTree, item: FakeItem): object {
  const parent = item.parentId === null ? null : tree.get(item.parentId);
  return {
    type: typeOf(item),
    id: boxIdOf(item),
    name: item === tree.root ? 'All Files' : item.name,
    etag: String(item.version),
    sequence_id: String(item.version),
    modified_at: item.modifiedAt.toISOString(),
    parent: parent ? { type: 'folder', id: boxIdOf(parent) } : null,
    item_status: tree.isVisible(item) ? 'active' : 'trashed',
    ...(typeOf(item) === 'file' && { size: item.content.size, sha1: hashOf(item.content, 'sha1') }),
  };
}

function findItem({ tree }: DriveFake, type: string, id: string): FakeItem | undefined {
  const item = tree.get(type === 'folders' ? `folder_${id}` : `file_${id}`);
  return item && tree.isVisible(item) ? item : undefined;
}

function listFolder(fake: DriveFake, id: string, marker: string | null): FakeReply {
  const { tree } = fake;
  const folder = findItem(fake, 'folders', id);
  if (!folder) return refuse(404, 'not_found');
  // https://developer.box.com/guides/api-calls/permissions-and-errors/common-errors
  const refusal = fake.refuseClosed([folder.id]);
  if (refusal) return refusal;
  const place = marker === null ? { at: 0, last: null } : fake.decode<Place>(marker);
  if (!place) return refuse(400, 'bad_request');
  // Only `next_marker` shows the end: https://developer.box.com/guides/api-calls/pagination/marker-based
  const endless = fake.endless(place);
  if (endless) return { json: { entries: [], limit: 1000, next_marker: fake.encode(endless) } };
  const { found, next } = fake.page(
    tree.order,
    place,
    1000,
    (item) => item.parentId === folder.id && tree.isVisible(item),
  );
  return {
    json: {
      entries: found.map((item) => toBoxItem(tree, item)),
      limit: 1000,
      next_marker: next === null ? null : fake.encode(next),
    },
  };
}

/**
 * Positions are two for each event: after the first, a page is empty although events follow. The guide says to go on from
 * `next_stream_position`, and promises no events in each page: https://developer.box.com/guides/events/pagination
 */
function readEvents(fake: DriveFake, text: string): FakeReply {
  const { tree, epoch, quirks } = fake;
  // The reference has positions of any size, as text or number: https://developer.box.com/reference/get-events
  const first = (quirks.has('small-positions') ? 1n : FIRST_POSITION) + BigInt(epoch) * EPOCH;
  const position = text === 'now' ? 2 * tree.log.length : Number(BigInt(text) - first);
  const at = position >> 1;
  if (at < 0 || at > tree.log.length) return refuse(400, 'bad_request');
  const send = (entries: object[], next: number) =>
    sendEvents(entries, first + BigInt(next), quirks.has('text-positions'));
  if (position % 2 === 0 && at < tree.log.length) return send([], position + 1);
  const end = Math.min(at + fake.pageSize, tree.log.length);
  const shown = at === end ? [] : tree.log.slice(Math.max(at - 1, 0), end).reverse();
  const toEvent = ({ type, item }: FakeChange, i: number) => ({
    type: 'event',
    event_id: `event-${end - i}`,
    event_type: EVENT_TYPES[type],
    source: toBoxItem(tree, item),
  });
  return send(shown.length > 0 ? [...OTHER_EVENTS, ...shown.map(toEvent)] : [], 2 * end);
}

/** Events without a source, and of other things than files: https://developer.box.com/reference/resources/event */
const OTHER_EVENTS = [
  { type: 'event', event_id: 'login', event_type: 'LOGIN', source: null },
  { type: 'event', event_id: 'comment', event_type: 'COMMENT_CREATE', source: { type: 'comment', id: '1' } },
];

function sendEvents(entries: object[], position: bigint, isText: boolean): FakeReply {
  const body = JSON.stringify({ chunk_size: entries.length, next_stream_position: '@', entries });
  return {
    headers: { 'content-type': 'application/json' },
    text: isText ? body.replace('@', String(position)) : body.replace('"@"', String(position)),
  };
}

function createRoutes(fake: DriveFake): FakeRoute[] {
  const { tree } = fake;
  const get = (kind: FakeRoute['kind'], path: string, respond: FakeRoute['respond']): FakeRoute => ({
    kind,
    method: 'GET',
    pattern: new RegExp(`^/2.0/${path}$`),
    respond,
  });
  return [
    get('account', 'users/me', () => ({
      json: { type: 'user', id: fake.account.id, name: fake.account.name, login: fake.account.email },
    })),
    get('list', 'folders/([^/]+)/items', ({ query }, [id]) => listFolder(fake, id!, query.get('marker'))),
    get(
      ({ query }) => (query.get('stream_position') === 'now' ? 'start' : 'changes'),
      'events',
      ({ query }) => readEvents(fake, query.get('stream_position') ?? '0'),
    ),
    get('contents', 'files/([^/]+)/content', (_request, [id]) => {
      const item = findItem(fake, 'files', id!);
      return item ? { status: 302, headers: { location: fake.linkTo(item) } } : refuse(404, 'not_found');
    }),
    get('lookup', '(files|folders|web_links)/([^/]+)', (_request, [type, id]) => {
      const item = findItem(fake, type!, id!);
      return item ? { json: toBoxItem(tree, item) } : refuse(404, 'not_found');
    }),
    fake.download,
  ];
}

export const BOX_PROTOCOL: FakeProtocol = {
  type: 'box',
  apiPath: '/2.0',
  contentPath: null,
  rotates: true,
  isOffline: () => true,
  createTree: () =>
    // The first file in a folder has the id of the folder.
    new DriveTree('folder_0', (count, isFolder) => (isFolder ? `folder_${count + 1000}` : `file_${count + 999}`)),
  refuse,
  createRoutes,
};

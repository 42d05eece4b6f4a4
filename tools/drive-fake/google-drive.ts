/** The protocol of Google Drive, version 3. */
import { DriveTree, hashOf, type FakeChange, type FakeItem, type SpecialItem } from './drive-tree.ts';
import type { FakeReply } from './fake-http.ts';
import type { DriveFake, FakeProtocol, FakeRoute, Place } from './fake-server.ts';

const GOOGLE_TYPE = 'application/vnd.google-apps.';
const TYPES: Record<SpecialItem, string> = {
  document: `${GOOGLE_TYPE}document`,
  sheet: `${GOOGLE_TYPE}spreadsheet`,
  slides: `${GOOGLE_TYPE}presentation`,
  shortcut: `${GOOGLE_TYPE}shortcut`,
  form: `${GOOGLE_TYPE}form`,
  malware: 'application/octet-stream',
  bundle: `${GOOGLE_TYPE}map`,
  unmounted: 'text/plain',
};
const MAX_EXPORT_BYTES = 10 * 1024 * 1024;

/** Reasons that are stated in the form of all APIs of Google, without the list of errors of Drive. */
const DETAIL_REASONS: ReadonlySet<string> = new Set(['RATE_LIMIT_EXCEEDED']);

/**
 * https://developers.google.com/workspace/drive/api/guides/handle-errors
 * https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto
 */
function refuse(status: number, reason: string): FakeReply {
  const error = { code: status, message: `Refused: ${reason}` };
  if (!DETAIL_REASONS.has(reason))
    return { status, json: { error: { ...error, errors: [{ domain: 'global', reason }] } } };
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' };
  return { status, json: { error: { ...error, status: 'PERMISSION_DENIED', details: [info] } } };
}

const isExportable = ({ special }: FakeItem): boolean => special !== null && /^(document|sheet|slides)$/.test(special);

function toFile(item: FakeItem, isTrashed: boolean) {
  const isPlain = !item.isFolder && (item.special === null || item.special === 'malware');
  return {
    kind: 'drive#file',
    id: item.id,
    name: item.name,
    mimeType: item.isFolder ? `${GOOGLE_TYPE}folder` : item.special ? TYPES[item.special] : 'text/plain',
    parents: item.parentId === null ? undefined : [item.parentId],
    modifiedTime: item.modifiedAt.toISOString(),
    trashed: isTrashed,
    webViewLink: `https://drive.google.com/file/d/${item.id}/view`,
    capabilities: { canDownload: !item.isFolder },
    ...(isPlain && {
      size: String(item.content.size),
      md5Checksum: hashOf(item.content, 'md5'),
      headRevisionId: `${item.id}-r${item.contentVersion}`,
    }),
  };
}

function listFiles(fake: DriveFake, query: URLSearchParams): FakeReply {
  const { tree } = fake;
  const token = query.get('pageToken');
  // The newest first, so that what is in a folder comes before it.
  const cursor = token === null ? { total: tree.order.length, at: 0, last: null } : fake.decode<FilePlace>(token);
  if (!cursor) return refuse(400, 'invalid');
  const parents = [...query.get('q')!.matchAll(/'([^']+)' in parents/g)].map(([, id]) => id!);
  if (parents.some((id) => !tree.get(id))) return refuse(404, 'notFound');
  // https://developers.google.com/workspace/drive/api/guides/handle-errors#insufficientFilePermissions
  const refusal = fake.refuseClosed(parents);
  if (refusal) return refusal;
  // A page may be empty before the end: https://developers.google.com/workspace/drive/api/reference/rest/v3/files/list
  const endless = fake.endless(cursor);
  if (endless) return { json: { kind: 'drive#fileList', files: [], nextPageToken: fake.encode(endless) } };
  const isListed = (item: FakeItem) =>
    item !== tree.root && tree.isVisible(item) && (parents.length === 0 || parents.includes(item.parentId!));
  const items = tree.order.slice(0, cursor.total).toReversed();
  const { found, next } = fake.page(items, cursor, Number(query.get('pageSize') ?? 100), isListed);
  return {
    json: {
      kind: 'drive#fileList',
      files: found.map((item) => toFile(item, false)),
      ...(next !== null && { nextPageToken: fake.encode({ ...next, total: cursor.total }) }),
    },
  };
}

interface FilePlace extends Place {
  /** Number of items at the start of the listing. */
  total: number;
}

/** A change of a shared drive itself, which has no file: https://developers.google.com/workspace/drive/api/reference/rest/v3/changes */
const DRIVE_CHANGE = { kind: 'drive#change', changeType: 'drive', driveId: '0AShared', removed: false };

function listChanges(fake: DriveFake, query: URLSearchParams): FakeReply {
  const { tree } = fake;
  const cursor = fake.decode<Place>(query.get('pageToken') ?? '');
  if (!cursor) return refuse(400, 'invalid');
  const endless = fake.endless(cursor);
  if (endless) return { json: { kind: 'drive#changeList', changes: [], nextPageToken: fake.encode(endless) } };
  const toChange = ({ item }: FakeChange) => ({
    kind: 'drive#change',
    changeType: 'file',
    fileId: item.id,
    removed: item.isDeleted,
    ...(!item.isDeleted && { file: toFile(item, !tree.isVisible(item)) }),
  });
  const { found, next } = fake.page(tree.log, cursor, Number(query.get('pageSize') ?? 100));
  return {
    json: {
      kind: 'drive#changeList',
      changes: [...(found.length > 0 ? [DRIVE_CHANGE] : []), ...found.map(toChange)],
      ...(next === null ? { newStartPageToken: startToken(fake) } : { nextPageToken: fake.encode(next) }),
    },
  };
}

const startToken = (fake: DriveFake): string => fake.encode({ at: fake.tree.log.length, last: null } satisfies Place);

function describeFile({ tree }: DriveFake, id: string): FakeReply {
  const item = tree.get(id === 'root' ? tree.root.id : id);
  return item ? { json: toFile(item, !tree.isVisible(item)) } : refuse(404, 'notFound');
}

function sendFile({ tree }: DriveFake, id: string): FakeReply {
  const item = tree.get(id);
  if (!item) return refuse(404, 'notFound');
  // https://github.com/prasmussen/gdrive/issues/234
  if (item.special === 'malware') return refuse(403, 'cannotDownloadAbusiveFile');
  return item.special || item.isFolder ? refuse(403, 'fileNotDownloadable') : { content: item.content };
}

function exportFile({ tree }: DriveFake, id: string, query: URLSearchParams): FakeReply {
  const item = tree.get(id);
  if (!item) return refuse(404, 'notFound');
  if (!isExportable(item) || !query.get('mimeType')?.includes('officedocument'))
    return refuse(403, 'fileNotExportable');
  return item.content.size > MAX_EXPORT_BYTES ? refuse(403, 'exportSizeLimitExceeded') : { content: item.content };
}

export const GOOGLE_PROTOCOL: FakeProtocol = {
  type: 'google-drive',
  apiPath: '/drive/v3',
  contentPath: null,
  rotates: false,
  isOffline: (query) => query.get('access_type') === 'offline' && query.get('prompt') === 'consent',
  createTree: () => new DriveTree('0AFakeRoot', (count) => `1Google_${count}`),
  refuse,
  createRoutes(fake) {
    const get = (kind: string, path: string, respond: FakeRoute['respond']): FakeRoute => ({
      kind,
      method: 'GET',
      pattern: new RegExp(`^/drive/v3/${path}$`),
      respond,
    });
    return [
      get('account', 'about', () => ({
        json: {
          user: {
            kind: 'drive#user',
            displayName: fake.account.name,
            emailAddress: fake.account.email,
            permissionId: fake.account.id,
          },
        },
      })),
      get('list', 'files', ({ query }) => listFiles(fake, query)),
      get('start', 'changes/startPageToken', () => ({ json: { startPageToken: startToken(fake) } })),
      get('changes', 'changes', ({ query }) => listChanges(fake, query)),
      get('export', 'files/([^/]+)/export', ({ query }, [id]) => exportFile(fake, id!, query)),
      { ...get('contents', 'files/([^/]+)', (_request, [id]) => sendFile(fake, id!)), parameter: 'alt' },
      get('root', 'files/([^/]+)', (_request, [id]) => describeFile(fake, id!)),
    ];
  },
};

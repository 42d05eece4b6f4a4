import type { ClosedFolder, DriveEvent, DriveItem } from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { truncateFilename } from '../../core/files.ts';
import { normalizeText } from '../../core/normalize-text.ts';
import type { Transaction } from '../../core/platform.ts';
import { storableText } from '../../core/storable-text.ts';

/** A reported file as it is stored until the library has it. Dates are ISO 8601. */
export type StagedItem = Pick<
  DriveItem,
  'name' | 'parentId' | 'path' | 'foldedPath' | 'contentType' | 'size' | 'hash' | 'revision' | 'url' | 'unreadable'
> & { modifiedAt: string | null };

const MAX_ID_CHARACTERS = 500;
/** Other texts of an item, what errors call them, and their maximum in characters. Names are cut. */
const TEXTS = [
  ['contentType', 'a media type', 255],
  ['hash', 'a hash', 500],
  ['revision', 'a revision', 500],
  ['url', 'an address', 10_000],
  ['path', 'a path', 100_000],
  ['foldedPath', 'a path', 100_000],
] as const;
/** Above the maximum of paths, because their lower case may be longer. */
const MAX_KEY_BYTES = 2500;

/** Where events are staged. */
interface Stage {
  tenantId: string;
  scopeId: string;
  libraryId: string;
  rootId: string;
  /** Whether the children of folders are listed too, so that new folders need no listing of their own. */
  isListing: boolean;
}

/** A removed path as paths are compared. */
interface RemovedKey {
  key: string;
  keepsBelow: boolean;
}

/** Events without a removed path between them, by the ids of their items. The last one about an item counts. */
interface EventGroup {
  files: Map<string, StagedItem | null>;
  folders: Map<string, DriveItem | null>;
  removedPaths: RemovedKey[];
  closedFolders: Map<string, ClosedFolder>;
}

/** Stores the events of a page until all pages are known. Returns whether paths of folders may have changed. */
export function stageEvents(tx: Transaction, stage: Stage, events: readonly DriveEvent[]): boolean {
  let isTreeStale = false;
  for (const group of groupEvents(events, stage.rootId)) {
    if (group.removedPaths.length > 0) stageRemovedPaths(tx, stage, group.removedPaths);
    if (group.folders.size > 0) stageFolders(tx, stage, group.folders);
    if (group.closedFolders.size > 0) stageClosedFolders(tx, stage, [...group.closedFolders.values()]);
    if (group.files.size > 0) stageFiles(tx, stage, group.files);
    isTreeStale ||= group.folders.size > 0;
  }
  return isTreeStale;
}

/** Returns the form in which paths are compared. It is short enough for an index. */
const pathKey = (path: string): string =>
  cutBytes(normalizeText(storableText(path.slice(0, 8 * MAX_KEY_BYTES)), 'NFC').toLowerCase(), MAX_KEY_BYTES);

/** Returns the form in which the path of an item is compared; null if the drive states folders. */
export const keyOf = ({ path, foldedPath }: Pick<StagedItem, 'path' | 'foldedPath'>): string | null =>
  path === null ? null : pathKey(foldedPath ?? path);

/** Returns the longest start of a text that has at most `maxBytes` in UTF-8. */
export const cutBytes = (text: string, maxBytes: number): string =>
  Buffer.byteLength(text) <= maxBytes
    ? text
    : Buffer.from(text)
        .subarray(0, maxBytes)
        .toString()
        .replace(/(?<!\uFFFD)\uFFFD+$/, '');

/** Throws UPSTREAM_FAILED for ids that no index can have, and for texts that no file needs. */
function checkTexts(event: DriveEvent): void {
  const item = 'item' in event ? event.item : null;
  // The folders that are closed were reported before.
  const ids = item ? [item.id, item.parentId] : 'removedId' in event ? [event.removedId] : [];
  const named = () => (item ? ` for ${JSON.stringify(truncateFilename(storableText(item.name)))}` : '');
  if (ids.some((id) => id !== null && id.length > MAX_ID_CHARACTERS))
    throw upstreamFailed(`The drive states an id of more than ${MAX_ID_CHARACTERS} characters${named()}`);
  if (!item) return;
  for (const [text, what, maximum] of TEXTS)
    if ((item[text]?.length ?? 0) > maximum)
      throw upstreamFailed(`The drive states ${what} of more than ${maximum} characters${named()} (${item.id})`);
}

/** Returns SQL of a time as items state it. */
export const isoSql = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const storableOrNull = (text: string | null): string | null => (text === null ? null : storableText(text));

/** Splits events into parts that one statement can store: removed paths, then items. */
function groupEvents(events: readonly DriveEvent[], rootId: string): EventGroup[] {
  const groups: EventGroup[] = [];
  const start = (): EventGroup => {
    const group = { files: new Map(), folders: new Map(), removedPaths: [], closedFolders: new Map() };
    groups.push(group);
    return group;
  };
  let group = start();
  for (const event of events) {
    checkTexts(event);
    const hasItems = group.files.size + group.folders.size > 0;
    if ('removedPath' in event) {
      if (hasItems) group = start();
      group.removedPaths.push({ key: pathKey(event.removedPath), keepsBelow: event.keepsBelow ?? false });
    } else if ('removedId' in event) {
      group.files.set(event.removedId, null);
      group.folders.set(event.removedId, null);
    } else if ('closedId' in event) {
      group.closedFolders.set(event.closedId, event);
    } else if (event.item.isFolder) {
      group.files.delete(event.item.id);
      // A drive that states paths needs no folders.
      if (event.item.path === null && event.item.id !== rootId) group.folders.set(event.item.id, event.item);
    } else {
      group.folders.delete(event.item.id);
      group.files.set(event.item.id, toStaged(event.item));
    }
  }
  return groups;
}

const toStaged = (item: DriveItem): StagedItem => ({
  name: truncateFilename(storableText(item.name)),
  parentId: storableOrNull(item.parentId),
  path: storableOrNull(item.path),
  foldedPath: storableOrNull(item.foldedPath),
  contentType: storableText(item.contentType),
  size: item.size,
  hash: storableOrNull(item.hash),
  revision: storableText(item.revision),
  modifiedAt: item.modifiedAt?.toISOString() ?? null,
  url: storableOrNull(item.url),
  unreadable: storableOrNull(item.unreadable),
});

function stageFiles(tx: Transaction, { tenantId, scopeId }: Stage, files: EventGroup['files']): void {
  const rows = [...files].map(([id, item]) => ({
    id: storableText(id),
    item,
    key: item ? keyOf(item) : null,
  }));
  tx.execute({
    text: `
      insert into dws.library_sync_change (scope_id, tenant_id, file_id, item, path_key)
      select $2, $1, id, case when jsonb_typeof(item) = 'object' then item end, key
      from jsonb_to_recordset($3::jsonb) as r(id text, item jsonb, key text)
      on conflict (scope_id, file_id) do update
      set item = excluded.item, path_key = excluded.path_key, is_done = false, error = null, download_ids = '{}'`,
    values: [tenantId, scopeId, JSON.stringify(rows)],
  });
}

function stageFolders(tx: Transaction, { tenantId, scopeId, isListing }: Stage, folders: EventGroup['folders']): void {
  const removed = [...folders].filter(([, folder]) => folder === null).map(([id]) => storableText(id));
  if (removed.length > 0)
    tx.execute({
      text: `delete from dws.library_sync_folder where tenant_id = $1 and scope_id = $2 and folder_id = any($3::text[])`,
      values: [tenantId, scopeId, removed],
    });
  const rows = [...folders.values()].flatMap((folder) =>
    folder
      ? [
          {
            id: storableText(folder.id),
            parent: storableOrNull(folder.parentId),
            name: truncateFilename(storableText(folder.name)),
          },
        ]
      : [],
  );
  if (rows.length > 0)
    tx.execute({
      text: `
        insert into dws.library_sync_folder (scope_id, tenant_id, folder_id, parent_id, name, is_listed)
        select $2, $1, id, parent, name, $4
        from jsonb_to_recordset($3::jsonb) as r(id text, parent text, name text)
        on conflict (scope_id, folder_id) do update
        set parent_id = excluded.parent_id, name = excluded.name,
          is_listed = (dws.library_sync_folder.is_listed or excluded.is_listed)
            and dws.library_sync_folder.error is null,
          is_unread = dws.library_sync_folder.is_unread
            and (not excluded.is_listed or dws.library_sync_folder.error is not null)`,
      values: [tenantId, scopeId, JSON.stringify(rows), isListing],
    });
}

/** Stores why folders could not be listed. Their known contents stay. */
function stageClosedFolders(tx: Transaction, { tenantId, scopeId }: Stage, folders: readonly ClosedFolder[]): void {
  const errors = folders.map(({ closedId, code, message }) => ({
    id: storableText(closedId),
    error: { code, message: storableText(message) },
  }));
  tx.execute({
    text: `
      update dws.library_sync_folder f
      set is_listed = false, is_unread = true, error = r.error
      from jsonb_to_recordset($3::jsonb) as r(id text, error jsonb)
      where f.tenant_id = $1 and f.scope_id = $2 and f.folder_id = r.id`,
    values: [tenantId, scopeId, JSON.stringify(errors)],
  });
}

/**
 * Stages the removal of all files at paths, and below those paths that do not keep their contents. A file that was
 * reported at another path before is no longer there.
 */
function stageRemovedPaths(tx: Transaction, { tenantId, scopeId, libraryId }: Stage, removed: RemovedKey[]): void {
  // The character after a slash is 0: the range contains the path and all paths below it.
  const isAt = (column: string) =>
    `${column} >= r.key and ${column} < r.key || '0'
      and (${column} = r.key or not r."keepsBelow" and starts_with(${column}, r.key || '/'))`;
  const paths = `unnest($3::text[], $4::boolean[]) as r(key, "keepsBelow")`;
  const values = [tenantId, scopeId, removed.map(({ key }) => key), removed.map(({ keepsBelow }) => keepsBelow)];
  tx.execute({
    text: `
      update dws.library_sync_change c set item = null, path_key = null, is_done = false, error = null, download_ids = '{}'
      from ${paths}
      where c.tenant_id = $1 and c.scope_id = $2 and ${isAt('c.path_key')}`,
    values,
  });
  tx.execute({
    text: `
      insert into dws.library_sync_change (scope_id, tenant_id, file_id)
      select distinct $2::uuid, f.tenant_id, f.file_id
      from ${paths}
      join dws.library_file f on f.tenant_id = $1 and f.library_id = $5 and ${isAt('f.path_key')}
      on conflict (scope_id, file_id) do nothing`,
    values: [...values, libraryId],
  });
}

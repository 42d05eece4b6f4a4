import type { DriveEvent, DriveItem } from '../../core/drive.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { truncateFilename } from '../../core/files.ts';
import type { Transaction } from '../../core/platform.ts';
import { storableText } from '../../core/storable-text.ts';

/** What is stored of a file that a drive reported, until the library has it. Dates are ISO 8601. */
export type StagedItem = Pick<
  DriveItem,
  'name' | 'parentId' | 'path' | 'contentType' | 'size' | 'hash' | 'revision' | 'url' | 'unreadable'
> & { modifiedAt: string | null };

const MAX_ID_CHARACTERS = 500;
/** Above the maximum of paths, of which the lower case may be longer. */
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

/** Events without a removed path between them, by the ids of their items. The last one about an item counts. */
interface EventGroup {
  files: Map<string, StagedItem | null>;
  folders: Map<string, DriveItem | null>;
  removedPaths: string[];
}

/**
 * Stores the events of a page for the time at which all are known. Returns whether paths of folders may have changed.
 */
export function stageEvents(tx: Transaction, stage: Stage, events: readonly DriveEvent[]): boolean {
  let isTreeStale = false;
  for (const group of groupEvents(events, stage.rootId)) {
    if (group.removedPaths.length > 0) stageRemovedPaths(tx, stage, group.removedPaths);
    if (group.folders.size > 0) stageFolders(tx, stage, group.folders);
    if (group.files.size > 0) stageFiles(tx, stage, group.files);
    isTreeStale ||= group.folders.size > 0;
  }
  return isTreeStale;
}

/** Returns how a path is compared with others. It is of a size that an index can have. */
export const pathKey = (path: string): string =>
  cutBytes(storableText(path).normalize('NFC').toLowerCase(), MAX_KEY_BYTES);

/** Returns the characters at the start of a text that have at most `maxBytes` in UTF-8. */
export const cutBytes = (text: string, maxBytes: number): string =>
  Buffer.byteLength(text) <= maxBytes
    ? text
    : Buffer.from(text)
        .subarray(0, maxBytes)
        .toString()
        .replace(/\uFFFD+$/, '');

/** Throws UPSTREAM_FAILED for ids that no index can have. */
function checkIds(event: DriveEvent): void {
  const ids = 'item' in event ? [event.item.id, event.item.parentId] : 'removedId' in event ? [event.removedId] : [];
  if (ids.some((id) => id !== null && id.length > MAX_ID_CHARACTERS))
    throw upstreamFailed(`The drive states an id of more than ${MAX_ID_CHARACTERS} characters`);
}

/** Returns SQL of a time as items state it. */
export const isoSql = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const storableOrNull = (text: string | null): string | null => (text === null ? null : storableText(text));

/** Splits events into parts that can be stored at once: removed paths, then items. */
function groupEvents(events: readonly DriveEvent[], rootId: string): EventGroup[] {
  const groups: EventGroup[] = [];
  const start = (): EventGroup => {
    const group = { files: new Map(), folders: new Map(), removedPaths: [] };
    groups.push(group);
    return group;
  };
  let group = start();
  for (const event of events) {
    checkIds(event);
    const hasItems = group.files.size + group.folders.size > 0;
    if ('removedPath' in event) {
      if (hasItems) group = start();
      group.removedPaths.push(pathKey(event.removedPath));
    } else if ('removedId' in event) {
      group.files.set(event.removedId, null);
      group.folders.set(event.removedId, null);
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
    key: item?.path === null || item?.path === undefined ? null : pathKey(item.path),
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
          is_listed = dws.library_sync_folder.is_listed or excluded.is_listed`,
      values: [tenantId, scopeId, JSON.stringify(rows), isListing],
    });
}

/**
 * Stages the removal of all files at paths and below. A file that was reported at another path before is not there any
 * more.
 */
function stageRemovedPaths(tx: Transaction, { tenantId, scopeId, libraryId }: Stage, keys: readonly string[]): void {
  // The character after a slash is 0: the range contains the path and all paths below it.
  const isAt = (column: string) =>
    `${column} >= k and ${column} < k || '0' and (${column} = k or starts_with(${column}, k || '/'))`;
  tx.execute({
    text: `
      update dws.library_sync_change c set item = null, path_key = null, is_done = false, error = null, download_ids = '{}'
      from unnest($3::text[]) k
      where c.tenant_id = $1 and c.scope_id = $2 and ${isAt('c.path_key')}`,
    values: [tenantId, scopeId, keys],
  });
  tx.execute({
    text: `
      insert into dws.library_sync_change (scope_id, tenant_id, file_id)
      select distinct $2::uuid, f.tenant_id, f.file_id
      from unnest($3::text[]) k
      join dws.library_file f on f.tenant_id = $1 and f.library_id = $4 and ${isAt('f.path_key')}
      on conflict (scope_id, file_id) do nothing`,
    values: [tenantId, scopeId, keys, libraryId],
  });
}

import { expect } from 'vitest';
import type { LibrarySync } from '../../../entities/library-sync.ts';
import type { Drive, DriveEvent, DriveItem } from '../../../src/core/drive.ts';
import { yieldOnce } from '../../../src/core/files.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import { test } from '../../operation/fixture.ts';
import { ScriptedDrive } from '../../support/scripted-drive.ts';
import { createLibrary, handlerOf, readContents, startSync } from './sync-fixture.ts';

/** A file at a path, whose contents are `text`. */
const file = (id: string, path: string, text = id): DriveEvent => {
  const item: DriveItem = {
    id,
    isFolder: false,
    name: path.split('/').at(-1)!,
    parentId: null,
    path,
    foldedPath: path.toLowerCase(),
    contentType: 'text/plain',
    size: text.length,
    hash: text,
    revision: text,
    modifiedAt: null,
    url: null,
    unreadable: null,
  };
  return { item };
};

/** A drive that states paths. Its changes are the given pages, one a sync. */
function pathDrive(listing: DriveEvent[], changes: DriveEvent[][]): { drive: Drive; downloads: string[] } {
  const scripted = new ScriptedDrive();
  const downloads: string[] = [];
  const drive: Drive = {
    id: 'paths',
    name: 'Paths',
    defaults: scripted.defaults,
    account: scripted.account,
    root: async () => '',
    start: async () => '0',
    list: async () => ({ events: listing, cursor: '', isLast: true }),
    changes: async (_access, _rootId, cursor) => ({
      events: changes[Number(cursor) - 1] ?? [],
      cursor: String(Number(cursor) + 1),
      isLast: true,
    }),
    async contents(_access, { id }) {
      downloads.push(id);
      return yieldOnce(Buffer.from(id));
    },
  };
  return { drive, downloads };
}

test('removed paths take all below, moved files keep their contents, and case does not count', async ({ world }) => {
  const { drive, downloads } = pathDrive(
    [file('a', 'x/a'), file('b', 'X/sub/b'), file('c', 'x2/c'), file('d', 'x/d'), file('É', 'É/e')],
    [
      // A moved file is removed at its old path and reported at the new one, in either order.
      [{ removedPath: 'x' }, file('a', 'y/a'), { removedPath: 'é' }],
      [file('c', 'z/c'), { removedPath: 'x2/c' }],
      [{ removedPath: 'z/c' }, file('new', 'z/c'), file('gone', 'g/h'), { removedPath: 'g' }],
    ],
  );
  const ctx = await world.caller();
  const libraryId = await createLibrary(world, ctx);
  await world.startWorker({ 'library.sync': handlerOf(drive) });
  const sync = async () => (await wait(ctx, await startSync(ctx, libraryId))).result as unknown as LibrarySync;
  expect(await sync()).toMatchObject({ addedFiles: 5 });
  expect(await sync()).toMatchObject({ syncedFiles: 2, addedFiles: 0, updatedFiles: 1, deletedFiles: 3 });
  expect(await readContents(world, libraryId)).toEqual({ 'x2/c': 'c', 'y/a': 'a' });
  expect(await sync()).toMatchObject({ syncedFiles: 2, addedFiles: 0, updatedFiles: 1, deletedFiles: 0 });
  expect(await sync()).toMatchObject({ syncedFiles: 2, addedFiles: 1, updatedFiles: 0, deletedFiles: 1 });
  expect(await readContents(world, libraryId)).toEqual({ 'y/a': 'a', 'z/c': 'new' });
  expect(downloads).toHaveLength(6);
});

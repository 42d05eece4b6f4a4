import { describe, expect } from 'vitest';
import { DriveRefusal } from '../../../src/adapters/drives/drive-refusal.ts';
import { conflict } from '../../../src/core/errors.ts';
import { yieldOnce } from '../../../src/core/files.ts';
import { eventually, rows } from '../../operation/fixture.ts';
import { test, type SyncedWorld } from './sync-fixture.ts';

test('files are stored although the bytes of a replaced one take long to delete', async ({ synced }) => {
  const { drive, sync, contents, world, libraryId } = synced;
  const { files, system } = world.platform;
  drive.pageSize = 1000;
  const names = Array.from({ length: 12 }, (_, index) => `${String.fromCodePoint(97 + index)}.txt`);
  for (const name of names) drive.put(name, 'former');
  await sync();
  const ids = names.map((name) => drive.put(name, `new ${name}`));
  const expected = Object.fromEntries(names.map((name) => [name, `new ${name}`]));

  const former = (await files.list()).length;
  const begun = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const removing = Promise.withResolvers<void>();
  const isRemoved = Promise.withResolvers<void>();
  let opened = 0;
  let lateId = '';
  drive.onContents = async (id) => {
    opened += 1;
    if (opened > 4) return undefined;
    if (opened === 4) {
      lateId = id;
      begun.resolve();
    }
    await isLocked.promise;
    if (id === lateId) await late.promise;
    return undefined;
  };
  const remove = files.remove.bind(files);
  let removed = 0;
  files.remove = async (id) => {
    removed += 1;
    if (removed === 1) {
      removing.resolve();
      await isRemoved.promise;
    }
    await remove(id);
  };
  const result = sync();
  await begun.promise;
  await system.transaction(async (query) => {
    // The first download is being stored while two others end.
    await query({ text: `select id from dws.library where id = $1 for update`, values: [libraryId] });
    isLocked.resolve();
    await eventually(async () => (await files.list()).length === former + 3);
  });
  await removing.promise;
  late.resolve();
  const isStored = `select from dws.library_sync_change where scope_id = $1 and file_id = $2 and is_done`;
  await eventually(async () => (await rows(world, isStored, [libraryId, lateId])).length === 1);
  isRemoved.resolve();
  expect(await result).toMatchObject({ updatedFiles: ids.length, syncedFiles: ids.length });
  expect(await contents()).toEqual(expected);
  expect(await files.list()).toHaveLength(names.length);
});

test('a sync fails if it has left out a file, which the next one reads', async ({ synced }) => {
  const { drive, sync, contents, world, libraryId } = synced;
  drive.put('a', 'A');
  drive.onContents = async () => {
    // The files have been found already.
    await rows(
      world,
      `insert into dws.library_sync_change (scope_id, tenant_id, file_id, item)
      select scope_id, tenant_id, '!left', item || '{"name": "b"}' from dws.library_sync_change
      where scope_id = $1`,
      [libraryId],
    );
    return undefined;
  };
  await expect(sync()).rejects.toMatchObject({ code: 'INTERNAL', message: '1 reported file was left out' });
  drive.onContents = () => yieldOnce(Buffer.from('B'));
  expect(await sync()).toMatchObject({ addedFiles: 1, syncedFiles: 2 });
  expect(await contents()).toEqual({ a: 'A', b: 'B' });
});

/** Folders with a path of 1,756 bytes. */
const DEEP = Array.from({ length: 7 }, () => 'f'.repeat(250)).join('/');

/** Fails a sync, full or not, that has stored `x/a` and another file below `x`, and not `z`. */
async function failAfterStoring({ drive, sync, contents }: SyncedWorld, isFull: boolean): Promise<void> {
  drive.pageSize = 1000;
  if (!isFull) await sync();
  const stored = [drive.put('x/a', 'A'), drive.put(`x/${DEEP}/b`, 'B')];
  const lastId = drive.put('z', 'Z');
  drive.onContents = async (id) => {
    if (id !== lastId) return undefined;
    await eventually(async () => Object.keys(await contents()).length === stored.length);
    throw conflict('The connection has expired');
  };
  await expect(sync()).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await contents()).toEqual({ 'x/a': 'A', [`x/${DEEP}/b`]: 'B' });
  drive.onContents = () => undefined;
  drive.downloads.length = 0;
}

describe.each([
  ['full', true],
  ['later', false],
])('after a %s sync that failed once it had stored files, the next one', (_kind, isFull) => {
  test('brings their paths up to date if their folder was renamed', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    await failAfterStoring(synced, isFull);
    drive.move(drive.folder('x'), { name: 'y' });
    const result = { updatedFiles: 2, addedFiles: 1, deletedFiles: 0, syncedFiles: 3 };
    expect(await sync({ dryRun: true })).toMatchObject(result);
    expect(await sync()).toMatchObject(result);
    expect(await contents()).toEqual({ 'y/a': 'A', [`y/${DEEP}/b`]: 'B', z: 'Z' });
    expect(drive.downloads).toHaveLength(1);
  });

  test('deletes those whose folder was trashed or moved away', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    await failAfterStoring(synced, isFull);
    if (isFull) drive.remove(drive.folder('x'));
    else drive.move(drive.folder('x'), { parentId: 'elsewhere' });
    const result = { updatedFiles: 0, addedFiles: 1, deletedFiles: 2, syncedFiles: 1 };
    expect(await sync({ dryRun: true })).toMatchObject(result);
    expect(await sync()).toMatchObject(result);
    expect(await contents()).toEqual({ z: 'Z' });
  });

  test('skips those whose paths have become too long', async ({ synced }) => {
    const { drive, sync, contents } = synced;
    await failAfterStoring(synced, isFull);
    const name = 'y'.repeat(255);
    drive.move(drive.folder('x'), { name });
    expect(await sync()).toMatchObject({ addedFiles: 1, syncedFiles: 2, skippedFiles: 1 });
    expect(await contents()).toEqual({ [`${name}/a`]: 'A', z: 'Z' });
  });
});

test.for([401, 403])(
  'a listing is continued after a drive has refused its token with %i',
  async (status, { synced }) => {
    const { drive, sync } = synced;
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) drive.put(name, name);
    drive.onList = (call) => {
      if (call === 2 || call === 3) throw new DriveRefusal(`The host responded with ${status}`, status, '', null);
    };
    for (let failures = 0; failures < 2; failures += 1)
      await expect(sync()).rejects.toMatchObject({ message: `The host responded with ${status}` });
    expect(await sync()).toMatchObject({ addedFiles: 6 });
    // The first page was asked for once, the second one three times.
    expect(drive.calls.list).toBe(5);
  },
);

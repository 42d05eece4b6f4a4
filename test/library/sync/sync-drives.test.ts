import { expect } from 'vitest';
import type { LibrarySync } from '../../../entities/library-sync.ts';
import { createHandlers } from '../../../src/operations/handlers.ts';
import { openDrive } from '../../../src/services/library/open-drive.ts';
import { wait } from '../../../src/services/operation/operation-wait.ts';
import { startDriveFake } from '../../../tools/drive-fake.ts';
import { rows, test } from '../../operation/fixture.ts';
import { connectFake, createLibrary, readContents, startSync } from './sync-fixture.ts';

const PROVIDERS = ['google-drive', 'dropbox', 'onedrive', 'onedrive-business', 'sharepoint', 'box'];

for (const provider of PROVIDERS)
  test(`a library of ${provider} follows every way of change`, async ({ world }) => {
    const fake = await startDriveFake(provider);
    const { tree } = fake;
    const ctx = await world.caller();
    const libraryId = await createLibrary(world, ctx);
    await connectFake(world, ctx, libraryId, fake);
    await world.startWorker(createHandlers(world.loaders));
    const sync = async (flags = {}) => {
      const { result } = await wait(ctx, await startSync(ctx, libraryId, flags));
      const { syncedFiles, addedFiles, updatedFiles, deletedFiles, errors } = result as unknown as LibrarySync;
      return { counts: [syncedFiles, addedFiles, updatedFiles, deletedFiles], errors };
    };
    const downloads = () => fake.calls['contents'] ?? 0;
    for (const path of ['a.txt', 'x/b.txt', 'x/y/c.txt', 'x/y/d.txt', 'z/e.txt']) tree.put(path, { text: `1 ${path}` });
    expect(await sync()).toEqual({ counts: [5, 5, 0, 0], errors: [] });
    expect(await sync()).toEqual({ counts: [5, 0, 0, 0], errors: [] });
    expect(downloads()).toBe(5);

    tree.put('a.txt', { text: '2' });
    tree.put('new/f.txt', { text: '3' });
    tree.move('x/y', 'moved');
    tree.move('x/b.txt', 'x/renamed.txt');
    tree.trash('z');
    expect(await sync()).toEqual({ counts: [5, 1, 4, 1], errors: [] });
    expect(downloads()).toBe(7);
    const expected = {
      'a.txt': '2',
      'moved/c.txt': '1 x/y/c.txt',
      'moved/d.txt': '1 x/y/d.txt',
      'new/f.txt': '3',
      'x/renamed.txt': '1 x/b.txt',
    };
    expect(await readContents(world, libraryId)).toEqual(expected);

    tree.delete('moved/c.txt');
    fake.loseCursors();
    expect(await sync()).toEqual({ counts: [4, 0, 0, 1], errors: [] });
    expect(downloads()).toBe(7);
    expect(await sync({ purge: true })).toEqual({ counts: [4, 4, 0, 4], errors: [] });
    expect(Object.keys(await readContents(world, libraryId))).toEqual(
      Object.keys(expected).filter((path) => path !== 'moved/c.txt'),
    );
    await fake.close();
  });

test('what a sync knows belongs to the address of its drive', async ({ world }) => {
  const fake = await startDriveFake('box');
  const ctx = await world.caller();
  const libraryId = await createLibrary(world, ctx);
  await connectFake(world, ctx, libraryId, fake);
  const settings = { rootId: null, extensions: [], maxFileBytes: 1 };
  const library = { id: libraryId, tenantId: ctx.viewer.tenantId, settings };
  const validForOf = async () => (await openDrive(world.platform, library, new AbortController().signal)).validFor;
  const former = await validForOf();
  expect(await validForOf()).toBe(former);
  await rows(world, `update dws.integration set api_uri = 'https://other.example/2.0'`);
  expect(await validForOf()).not.toBe(former);
  await fake.close();
});

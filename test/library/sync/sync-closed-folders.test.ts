import { describe, expect } from 'vitest';
import { fakeTest as test } from './sync-fixture.ts';

/** Drives that list by folders, with the reasons by which they refuse one. */
const REFUSALS = [
  ['box', 'access_denied_insufficient_permissions'],
  ['box', 'forbidden_by_policy'],
  ['google-drive', 'insufficientFilePermissions'],
  ['onedrive', 'accessDenied'],
  ['onedrive-business', 'accessDenied'],
] as const;

describe.for(REFUSALS)('a folder that %s refuses with 403 %s', ([provider, reason]) => {
  const closed = (path: string) => ({
    path,
    fileId: expect.any(String),
    code: 'UPSTREAM_FAILED',
    message: expect.stringMatching(
      new RegExp(`^The folder cannot be opened: The host "127.0.0.1" responded with 403: .*${reason}`),
    ),
  });
  const FILES = ['in/a', 'in/p/b', 'in/p/q/r/c', 'in/x/d', 'out/e'];

  test('is reported, and the rest is synced until it can be opened', async ({ openFake }) => {
    const { fake, tree, sync, contents, follow } = await openFake(provider);
    for (const path of FILES) tree.put(path, { text: path });
    await follow('in');
    fake.closeFolder('in/p', reason);
    expect(await sync()).toMatchObject({ addedFiles: 2, errorCount: 1, errors: [closed('p')] });
    expect(Object.keys(await contents())).toEqual(['a', 'x/d']);
    tree.put('in/x/f', { text: 'more' });
    expect(await sync()).toMatchObject({ full: false, addedFiles: 1, errorCount: 1, errors: [closed('p')] });
    fake.closeFolder('in/p', null);
    expect(await sync()).toMatchObject({ full: false, addedFiles: 2, errorCount: 0, errors: [] });
    expect(Object.keys(await contents())).toEqual(['a', 'p/b', 'p/q/r/c', 'x/d', 'x/f']);
    expect(await sync()).toMatchObject({ addedFiles: 0, updatedFiles: 0, deletedFiles: 0, errors: [] });
  });

  test('keeps its known files in every sync, until the drive says that it is gone', async ({ openFake }) => {
    const { fake, tree, sync, contents, follow } = await openFake(provider);
    for (const path of FILES) tree.put(path, { text: path });
    await follow('in');
    await sync();
    const known = ['a', 'p/b', 'p/q/r/c', 'x/d'];
    fake.closeFolder('in/p', reason);
    tree.delete('in/x');
    expect(await sync({ full: true, dryRun: true })).toMatchObject({ deletedFiles: 1, errors: [closed('p')] });
    expect(await sync({ full: true })).toMatchObject({ full: true, deletedFiles: 1, errors: [closed('p')] });
    fake.loseCursors();
    tree.move('in/p', 'in/renamed');
    expect(await sync()).toMatchObject({ full: true, deletedFiles: 0, errors: [closed('renamed')] });
    expect(await sync({ dryRun: true })).toMatchObject({ deletedFiles: 0, errors: [closed('renamed')] });
    expect(Object.keys(await contents())).toEqual(['a', 'renamed/b', 'renamed/q/r/c']);
    tree.delete('in/renamed');
    expect(await sync()).toMatchObject({ full: false, deletedFiles: 2, errors: [] });
    expect(Object.keys(await contents())).toEqual([known[0]]);
  });

  test('loses the files that were deleted while it was closed', async ({ openFake }) => {
    const { fake, tree, sync, contents, follow } = await openFake(provider);
    for (const path of FILES) tree.put(path, { text: path });
    tree.put('in/p/q/kept', { text: 'kept' });
    tree.put('in/p/s/g', { text: 'g' });
    await follow('in');
    await sync();
    fake.closeFolder('in/p', reason);
    await sync({ full: true });
    tree.delete('in/p/q/r');
    tree.delete('in/p/b');
    tree.move('in/p/s/g', 'in/g');
    tree.delete('in/p/s');
    // The changes of a folder that is closed are not reported.
    tree.log.splice(-4);
    tree.log.push({ type: 'move', item: tree.at('in/g'), oldPath: 'in/p/s/g' });
    expect(await sync()).toMatchObject({ full: false, deletedFiles: 0, errors: [closed('p')] });
    expect(Object.keys(await contents())).toEqual(['a', 'g', 'p/b', 'p/q/kept', 'p/q/r/c', 'x/d']);
    fake.closeFolder('in/p', null);
    expect(await sync()).toMatchObject({ full: false, deletedFiles: 2, errors: [] });
    expect(Object.keys(await contents())).toEqual(['a', 'g', 'p/q/kept', 'x/d']);
  });

  test('that comes into the root is reported, and listed once it can be opened', async ({ openFake }) => {
    const { fake, tree, sync, contents, follow } = await openFake(provider);
    for (const path of [...FILES, 'out/p/b', 'out/p/q/c']) tree.put(path, { text: path });
    await follow('in/x');
    await sync();
    fake.closeFolder('out/p', reason);
    tree.move('out/p', 'in/x/p');
    expect(await sync()).toMatchObject({ full: false, addedFiles: 0, errors: [closed('p')] });
    fake.closeFolder('in/x/p', null);
    expect(await sync()).toMatchObject({ full: false, addedFiles: 2, errors: [] });
    expect(Object.keys(await contents())).toEqual(['d', 'p/b', 'p/q/c']);
  });

  test('fails the sync, which deletes nothing, if it is the root', async ({ openFake }) => {
    const { fake, tree, sync, contents, follow } = await openFake(provider);
    tree.put('in/a', { text: '1' });
    await follow('in');
    await sync();
    fake.closeFolder('in', reason);
    await expect(sync({ full: true })).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
    expect(await contents()).toEqual({ a: '1' });
  });
});

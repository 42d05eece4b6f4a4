import { describe, expect } from 'vitest';
import { rows } from '../../operation/fixture.ts';
import { fakeTest as test } from './sync-fixture.ts';

describe.for(['onedrive-business', 'sharepoint'])('a library of %s', (provider) => {
  test('of the whole drive lists folders that appear', async ({ openFake }) => {
    const { tree, sync, contents } = await openFake(provider);
    tree.put('a', { text: '1' });
    await sync();
    tree.put('new/b', { text: '2' });
    tree.put('new/below/c', { text: '3' });
    expect(await sync()).toMatchObject({ full: false, addedFiles: 2 });
    expect(await contents()).toEqual({ a: '1', 'new/b': '2', 'new/below/c': '3' });
  });

  test('of one folder follows what comes into it, leaves it and moves with it', async ({ openFake }) => {
    const { tree, sync, contents, follow } = await openFake(provider);
    for (const path of ['in/a', 'in/x/b', 'out/y/c', 'out/y/z/d', 'out/e']) tree.put(path, { text: path });
    await follow('in');
    expect(await sync()).toMatchObject({ full: true, addedFiles: 2 });
    expect(await contents()).toEqual({ a: 'in/a', 'x/b': 'in/x/b' });
    tree.move('out/y', 'in/x/y');
    tree.put('out/e', { text: 'not followed' });
    expect(await sync()).toMatchObject({ full: false, addedFiles: 2 });
    expect(Object.keys(await contents())).toEqual(['a', 'x/b', 'x/y/c', 'x/y/z/d']);
    tree.move('in', 'renamed');
    tree.move('renamed', 'out/below/moved');
    expect(await sync()).toMatchObject({ full: false, addedFiles: 0, updatedFiles: 0, deletedFiles: 0 });
    tree.move('out/below/moved/x/y', 'out/y');
    tree.put('out/below/moved/f', { text: '6' });
    expect(await sync()).toMatchObject({ full: false, addedFiles: 1, deletedFiles: 2 });
    expect(Object.keys(await contents())).toEqual(['a', 'f', 'x/b']);
  });

  test('of one folder keeps its files while the folder is deleted, with a folder above it or alone', async ({
    openFake,
  }) => {
    const { tree, sync, contents, follow } = await openFake(provider);
    tree.put('above/in/a', { text: '1' });
    await follow('above/in');
    await sync();
    for (const path of ['above', 'above/in']) {
      const trashed = tree.trash(path);
      await expect(sync()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await contents()).toEqual({ a: '1' });
      tree.restore(trashed);
      expect(await sync()).toMatchObject({ full: false, deletedFiles: 0, syncedFiles: 1 });
    }
  });

  test('knows items whose folders are reported after them', async ({ openFake }) => {
    const { fake, tree, sync, contents } = await openFake(provider);
    fake.pageSize = 1;
    await sync();
    tree.put('late/deep/a', { text: '1' });
    tree.log.reverse();
    expect(await sync()).toMatchObject({ full: false, addedFiles: 1 });
    expect(await contents()).toEqual({ 'late/deep/a': '1' });
  });

  test('lists all again if the drive loses its tokens while a folder is listed', async ({ openFake }) => {
    const { fake, tree, sync, contents } = await openFake(provider);
    await sync();
    for (let n = 0; n < 5; n += 1) tree.put(`new/${n}`, { text: `${n}` });
    let lists = 0;
    fake.onCall = (kind) => void (kind === 'list' && (lists += 1) === 2 && fake.loseCursors());
    expect(await sync()).toMatchObject({ full: true, addedFiles: 5 });
    expect(Object.keys(await contents())).toHaveLength(5);
  });

  test('that could not list a folder before recovers by itself', async ({ openFake, world }) => {
    const { fake, tree, sync, contents, libraryId } = await openFake(provider);
    await sync();
    tree.put('new/a', { text: '1' });
    fake.fail({ kind: 'list', status: 400, reason: 'notSupported' });
    await expect(sync()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
    // As an earlier version left a listing that has begun.
    const [folder, cursor] = [tree.at('new').id, `${fake.addresses.apiUri}/me/drive/items/x/delta?token=1`];
    await rows(world, `update dws.library_sync set listing_folder_id = $2, listing_cursor = $3 where library_id = $1`, [
      libraryId,
      folder,
      cursor,
    ]);
    expect(await sync()).toMatchObject({ full: false, addedFiles: 1 });
    expect(await contents()).toEqual({ 'new/a': '1' });
  });
});

test('a drive that repeats the link to its next page fails the sync clearly', async ({ openFake }) => {
  const { fake, tree, sync } = await openFake('onedrive');
  await sync();
  tree.put('a', { text: '1' });
  fake.quirks.add('same-link');
  await expect(sync()).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    message: 'The drive repeats a page of its listing',
  });
  fake.quirks.clear();
  expect(await sync()).toMatchObject({ full: false, addedFiles: 1 });
});

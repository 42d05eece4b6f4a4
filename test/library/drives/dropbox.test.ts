import { expect, test } from 'vitest';
import { CursorLost } from '../../../src/core/drive.ts';
import { DriveMirror, useDrives } from '../../support/drive-access.ts';

/** Behaviour of Dropbox alone. drive-contract.test.ts has the behaviour of all drives. */
const open = useDrives();

test('replaces a file by another one at its path without stating a removal', async () => {
  const { tree, mirror, readText } = await open('dropbox');
  tree.put('a.txt', { text: 'old' });
  await mirror.readAll();
  const { id } = tree.replace('a.txt', 'new');
  await mirror.readChanges();
  expect(mirror.files.map((file) => [file.id, file.path])).toEqual([[id, 'a.txt']]);
  expect(await readText('a.txt')).toBe('new');
});

test('states the removals of replaced files before all files in a row', async () => {
  const { tree, fake, drive, access } = await open('dropbox');
  tree.put('docs/b.txt', { text: '1' });
  fake.pageSize = 100;
  const cursor = await drive.start(access, null);
  for (const name of ['a', 'b', 'a']) tree.put(name, { text: name });
  tree.delete('docs');
  tree.put('c', { text: 'c' });
  const { events } = await drive.changes(access, null, cursor);
  const short = events.map((event) =>
    'item' in event ? event.item.path : `-${(event as { removedPath: string }).removedPath}`,
  );
  expect(short).toEqual(['-a', '-b', 'a', 'b', '-a', 'a', '-docs', '-c', 'c']);
});

test('removes what is at a path whatever its case', async () => {
  const { tree, mirror } = await open('dropbox');
  tree.put('Docs/Éa.txt', { text: '1' });
  await mirror.readAll();
  tree.log.push({ type: 'delete', item: { ...tree.at('Docs'), isDeleted: true, isTrashed: true }, oldPath: 'dOCS' });
  await mirror.readChanges();
  expect(mirror.paths).toEqual([]);
});

test('fails if a page does not state whether there is more', async () => {
  const { fake, drive, access } = await open('dropbox');
  fake.fail({ kind: 'list', html: '{"entries":[],"cursor":"x"}' });
  await expect(drive.list(access, null, null)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
});

test('loses the cursor of a root folder that has moved', async () => {
  const { tree, drive, access } = await open('dropbox');
  tree.put('team/docs/a.txt', { text: '1' });
  const mirror = new DriveMirror({ drive, access }, tree.at('team/docs').id);
  await mirror.readAll();
  expect(mirror.paths).toEqual(['a.txt']);
  tree.move('team', 'crew');
  await expect(mirror.readChanges()).rejects.toBeInstanceOf(CursorLost);
  await mirror.readAll();
  expect(mirror.paths).toEqual(['a.txt']);
});

test('revokes the token by its own method', async () => {
  const { fake, drive, access } = await open('dropbox');
  const token = await access.token();
  await drive.revoke!(access);
  expect(fake.authority.isValid(token)).toBe(false);
});

test('replaces a file by a folder without stating a removal, and keeps what is in the folder', async () => {
  const { tree, mirror } = await open('dropbox');
  tree.put('x', { text: 'file' });
  await mirror.readAll();
  const before = tree.log.length;
  tree.replace('x', null);
  tree.put('x/b', { text: 'below' });
  // The folder may be reported after what is in it.
  tree.log.push(...tree.log.splice(before).reverse());
  await mirror.readChanges();
  expect(mirror.paths).toEqual(['x/b']);
});

test('compares paths as it has folded them', async () => {
  const { tree, mirror } = await open('dropbox');
  tree.put('ΟΔΟΣ/x', { text: '1' });
  await mirror.readAll();
  // The drive folds a final sigma like any other one, unlike JavaScript.
  expect(mirror.files[0]).toMatchObject({ path: 'ΟΔΟΣ/x', foldedPath: 'οδοσ/x' });
  tree.log.push({ type: 'delete', item: { ...tree.at('ΟΔΟΣ'), isDeleted: true, isTrashed: true }, oldPath: 'οδοσ' });
  await mirror.readChanges();
  expect(mirror.paths).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import type { Quirk } from '../../../tools/drive-fake/fake-server.ts';
import { useDrives } from '../../support/drive-access.ts';

/** Optional behaviour of providers, according to their references or public reports, which the fakes cite. */
const open = useDrives();

/** Changes of every kind, which must come out right whatever the quirks. */
async function followChanges(provider: string, quirks: Quirk[]) {
  const drive = await open(provider);
  const { fake, tree, mirror } = drive;
  for (const quirk of quirks) fake.quirks.add(quirk);
  for (const path of ['a', 'B/c', 'B/Deep/d', 'Bx/e', 'swap/1', 'swap/2']) tree.put(path, { text: path });
  await mirror.readAll();
  tree.move('swap/1', 'swap/3');
  tree.move('swap/2', 'swap/1');
  tree.move('swap/3', 'swap/2');
  tree.move('B/Deep', 'Moved');
  tree.put('a', { text: 'changed' });
  tree.put('new/f', { text: 'new' });
  tree.delete('B');
  await mirror.readChanges();
  return drive;
}

test.each<[string, Quirk[]]>([
  ['onedrive', ['earlier-states', 'empty-pages', 'no-hashes']],
  ['onedrive-business', ['earlier-states', 'empty-pages', 'no-hashes']],
  ['dropbox', ['adds-first']],
  ['dropbox', ['folded-parents']],
  ['box', ['text-positions']],
  ['box', ['small-positions']],
  ['google-drive', []],
])('%s is followed with %j', async (provider, quirks) => {
  const { mirror, tree, readText } = await followChanges(provider, quirks);
  const shown = mirror.paths.map((path) => path.toLowerCase());
  expect(shown).toEqual(['a', 'bx/e', 'moved/d', 'new/f', 'swap/1', 'swap/2']);
  expect(await readText('a')).toBe('changed');
  const idAt = (path: string) => tree.at(path).id.replace(/^file_/, '');
  const idOf = (name: string) => mirror.files.find((file) => file.name === name)!.id;
  expect([idOf('1'), idOf('2')]).toEqual([idAt('swap/1'), idAt('swap/2')]);
  expect(await readText('1')).toBe('swap/2');
});

describe('OneDrive', () => {
  test('states a revision of a file without a hash, which changes with its contents', async () => {
    const { fake, tree, mirror, fileNamed } = await open('onedrive-business');
    fake.quirks.add('no-hashes');
    tree.put('a', { text: '1' });
    await mirror.readAll();
    const { hash, revision } = fileNamed('a');
    tree.put('a', { text: '2' });
    await mirror.readChanges();
    expect(hash).toBeNull();
    expect(fileNamed('a').revision).not.toBe(revision);
  });

  test('may report a folder as deleted before a file has moved out of it', async () => {
    const { tree, mirror } = await open('onedrive');
    tree.put('folder/a', { text: '1' });
    await mirror.readAll();
    tree.move('folder/a', 'a');
    tree.delete('folder');
    tree.log.push(...tree.log.splice(-2).reverse());
    await mirror.readChanges();
    expect(mirror.paths).toEqual(['a']);
  });

  test.each([
    ['bundle', 'An item without contents'],
    ['malware', 'OneDrive found malware in it'],
  ] as const)('has a %s, which is unreadable', async (special, reason) => {
    const { tree, mirror, fileNamed } = await open('onedrive');
    tree.put('x', { special });
    await mirror.readAll();
    expect(fileNamed('x').unreadable).toBe(reason);
  });

  test('is asked again at the date of Retry-After', async () => {
    const { fake, drive, access } = await open('onedrive');
    fake.fail({ kind: 'list', status: 429, retryAfter: new Date().toUTCString() });
    await drive.list(access, null, null);
    expect(fake.calls.list).toBe(2);
  });
});

describe('Google Drive', () => {
  test('has files without a folder, which are not below the root', async () => {
    const { tree, mirror } = await open('google-drive');
    tree.put('a', { text: '1' });
    tree.putShared('shared', '2');
    await mirror.readAll();
    expect(mirror.paths).toEqual(['a']);
    tree.putShared('shared too', '3');
    await mirror.readChanges();
    expect(mirror.paths).toEqual(['a']);
  });

  test('is asked again after a page of HTML with 502', async () => {
    const { fake, drive, access } = await open('google-drive');
    fake.fail({ kind: 'list', status: 502, html: '<h1>Server Error</h1>', retryAfter: 0 });
    await drive.list(access, null, null);
    expect(fake.calls.list).toBe(2);
  });
});

describe('Dropbox', () => {
  test('has items that are not mounted, which have no path', async () => {
    const { tree, mirror } = await open('dropbox');
    tree.put('a', { text: '1' });
    tree.put('away', { special: 'unmounted' });
    await mirror.readAll();
    expect(mirror.paths).toEqual(['a']);
  });

  test.each([
    ['document', 'A document that Dropbox has no file of'],
    ['shortcut', 'A symbolic link'],
  ] as const)('has a %s, which is unreadable', async (special, reason) => {
    const { tree, mirror, fileNamed } = await open('dropbox');
    tree.put('x', { special });
    await mirror.readAll();
    expect(fileNamed('x').unreadable).toBe(reason);
  });
});

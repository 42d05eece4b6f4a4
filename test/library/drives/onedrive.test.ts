import { describe, expect, test } from 'vitest';
import { CursorLost } from '../../../src/core/drive.ts';
import { DriveMirror, useDrives } from '../../support/drive-access.ts';

/** Behaviour of OneDrive alone. drive-contract.test.ts has the behaviour of all drives. */
const open = useDrives();

test('names no next page at another host', async () => {
  const { tree, drive, access } = await open('onedrive');
  for (const name of ['a', 'b', 'c', 'd']) tree.put(name, { text: name });
  const page = await drive.list(access, null, null);
  expect(new URL(page.cursor).origin).toBe(new URL(access.apiUri).origin);
  const elsewhere = page.cursor.replace('127.0.0.1', 'localhost');
  await expect(drive.list(access, null, elsewhere)).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    message: 'The drive names a next page at another host',
  });
});

test('does not mention the root', async () => {
  const { tree, drive, access } = await open('onedrive');
  tree.put('docs/a.txt', { text: '1' });
  const { events } = await drive.list(access, null, null);
  expect(events.map((event) => 'item' in event && event.item.name)).toEqual(['docs']);
  const below = await drive.list(access, tree.at('docs').id, null);
  expect(below.events.map((event) => 'item' in event && event.item.name)).toEqual(['a.txt']);
});

test('downloads from another host without the token', async () => {
  const { tree, fake, mirror, readText } = await open('onedrive');
  tree.put('a.txt', { text: 'alpha' });
  await mirror.readAll();
  expect(await readText('a.txt')).toBe('alpha');
  expect([fake.calls.contents, fake.calls.download, fake.leakedTokens]).toEqual([1, 1, 0]);
});

describe('a cursor of an earlier version', () => {
  test('of a folder of a personal drive continues its changes', async () => {
    const { tree, drive, access } = await open('onedrive');
    tree.put('docs/a.txt', { text: '1' });
    const { id } = tree.at('docs');
    const cursor = `${access.apiUri}/me/drive/items/${encodeURIComponent(id)}/delta?token=latest`;
    const { cursor: next } = await drive.changes(access, id, cursor);
    tree.put('docs/b.txt', { text: '2' });
    tree.put('c.txt', { text: 'outside' });
    const { events } = await drive.changes(access, id, next);
    expect(events.map((event) => 'item' in event && event.item.name)).toEqual(['docs', 'b.txt']);
  });

  test('of the listing of a folder is lost', async () => {
    const { drive, access } = await open('onedrive');
    const cursor = `${access.apiUri}/me/drive/items/1/delta?token=x`;
    await expect(drive.list(access, '1', cursor)).rejects.toBeInstanceOf(CursorLost);
  });
});

describe.each(['onedrive', 'onedrive-business', 'sharepoint'])('%s', (provider) => {
  test('lists a folder by its children, a page at a time', async () => {
    const { tree, drive, access } = await open(provider);
    for (const path of ['in/1', 'in/2', 'in/3', 'in/sub/4', 'out/5']) tree.put(path, { text: path });
    const mirror = new DriveMirror({ drive, access }, tree.at('in').id);
    // Three pages of `in`, where the last has nothing new, and one of `in/sub`.
    expect(await mirror.readAll()).toBe(4);
    expect(mirror.paths).toEqual(['1', '2', '3', 'sub/4']);
  });

  test('throws NOT_FOUND if the root folder goes with a folder above it, which is all that the changes say', async () => {
    const { tree, drive, access } = await open(provider);
    tree.put('above/in/1', { text: '1' });
    const { id } = tree.at('above/in');
    const cursor = await drive.start(access, id);
    tree.trash('above');
    await expect(drive.changes(access, id, cursor)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('does not report a root folder as removed that is back', async () => {
    const { tree, drive, access } = await open(provider);
    tree.put('in/1', { text: '1' });
    const { id } = tree.at('in');
    const cursor = await drive.start(access, id);
    const old = tree.put('in/old', { text: '2' });
    tree.delete('in/old');
    // An earlier report of the deletion, as of a page before.
    tree.log.push({ type: 'trash', item: { ...tree.at('in'), isTrashed: true }, oldPath: 'in' });
    const removed = [];
    for (let [at, isLast] = [cursor, false]; !isLast;) {
      const page = await drive.changes(access, id, at);
      removed.push(...page.events.flatMap((event) => ('removedId' in event ? event.removedId : [])));
      [at, isLast] = [page.cursor, page.isLast];
    }
    expect(new Set(removed)).toEqual(new Set([old.id]));
  });
});

import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CursorLost, type DriveItem } from '../../../src/core/drive.ts';
import type { FakeItem } from '../../../tools/drive-fake/drive-tree.ts';
import { DriveMirror, openDriveFixture, readBytes, type DriveFixture } from '../../support/drive-access.ts';

/** Properties that providers state differently. */
interface Provider {
  id: string;
  hash: string;
  /** Kind of the calls that return bytes. */
  contentsKind: string;
  rootId: string;
}

const PROVIDERS: Provider[] = [
  { id: 'google-drive', hash: 'md5', contentsKind: 'contents', rootId: '0AFakeRoot' },
  { id: 'dropbox', hash: 'sha256', contentsKind: 'contents', rootId: '/' },
  { id: 'onedrive', hash: 'sha1', contentsKind: 'download', rootId: 'ROOT!1' },
  { id: 'onedrive-business', hash: 'sha1', contentsKind: 'download', rootId: 'ROOT!1' },
  { id: 'sharepoint', hash: 'sha1', contentsKind: 'download', rootId: 'ROOT!1' },
  { id: 'box', hash: 'sha1', contentsKind: 'download', rootId: 'folder_0' },
];

/** In the fake of Box, ids of files have a prefix that Box does not have. */
const idOf = ({ id }: FakeItem): string => id.replace(/^file_/, '');

const NEVER = new AbortController().signal;

describe.each(PROVIDERS)('$id', (provider) => {
  let fixture: DriveFixture;
  let mirror: DriveMirror;

  beforeEach(async () => {
    fixture = await openDriveFixture(provider.id);
    mirror = new DriveMirror(fixture);
    const { tree } = fixture.fake;
    tree.put('a.txt', { text: 'alpha' });
    tree.put('docs/b.txt', { text: 'beta' });
    tree.put('docs/old/c.txt', { text: 'gamma' });
    tree.put('docs/old/deep/d.txt', { text: 'delta' });
    tree.put('e.txt', { text: 'epsilon' });
  });
  afterEach(() => fixture.close());

  const fileAt = (path: string): DriveItem => mirror.files.find((file) => mirror.pathOf(file) === path)!;
  const readText = async (item: Pick<DriveItem, 'id' | 'contentType'>, maxBytes = 1000): Promise<string> => {
    const content = await fixture.drive.contents(fixture.access, item, maxBytes);
    return (await readBytes(content)).toString();
  };
  const callsOf = (kind: string): number => fixture.fake.calls[kind] ?? 0;
  const ALL = ['a.txt', 'docs/b.txt', 'docs/old/c.txt', 'docs/old/deep/d.txt', 'e.txt'];

  describe('a listing', () => {
    test('has every file with its path, hash, size and time, over several pages', async () => {
      expect(await mirror.readAll()).toBeGreaterThan(1);
      expect(mirror.paths).toEqual(ALL);
      const item = fixture.fake.tree.at('docs/b.txt');
      expect(fileAt('docs/b.txt')).toMatchObject({
        id: idOf(item),
        name: 'b.txt',
        contentType: 'text/plain',
        size: 4,
        hash: createHash(provider.hash).update('beta').digest('hex'),
        modifiedAt: item.modifiedAt,
        unreadable: null,
      });
    });

    test('of a folder has what is below it only', async () => {
      const folder = fixture.fake.tree.at('docs');
      mirror = new DriveMirror(fixture, folder.id);
      await mirror.readAll();
      expect(mirror.paths).toEqual(['b.txt', 'old/c.txt', 'old/deep/d.txt']);
      fixture.fake.tree.put('docs/new/f.txt', { text: 'new' });
      fixture.fake.tree.put('outside.txt', { text: 'not below' });
      await mirror.readChanges();
      expect(mirror.paths).toEqual(['b.txt', 'new/f.txt', 'old/c.txt', 'old/deep/d.txt']);
    });

    test('has names in NFC that are one part of a path', async () => {
      fixture.fake.tree.put('u\u0308ber.txt', { text: 'x' });
      fixture.fake.tree.put('日本/😀 "q" \\.txt', { text: 'y' });
      await mirror.readAll();
      expect(mirror.paths).toContain('über.txt');
      expect(await readText(fileAt('日本/😀 "q" \\.txt'))).toBe('y');
    });

    test('is complete with the changes, whatever changes while it is read', async () => {
      const { tree } = fixture.fake;
      const steps = [
        () => tree.put('new/in-new.txt', { text: '1' }),
        () => tree.move('a.txt', 'docs/a-moved.txt'),
        () => tree.delete('e.txt'),
        () => tree.move('docs/old', 'older'),
        () => tree.put('docs/b.txt', { text: 'beta 2' }),
        () => tree.delete('older/deep'),
      ];
      fixture.fake.onCall = (kind) => void (kind === 'list' && steps.shift()?.());
      await mirror.readAll();
      for (const step of steps.splice(0)) step();
      await mirror.readChanges();
      expect(mirror.paths).toEqual(['docs/a-moved.txt', 'docs/b.txt', 'new/in-new.txt', 'older/c.txt']);
      expect(await readText(fileAt('docs/b.txt'))).toBe('beta 2');
    });

    test('throws CursorLost if the drive has lost its page', async () => {
      const page = await fixture.drive.list(fixture.access, null, null);
      expect(page.isLast).toBe(false);
      fixture.fake.loseCursors();
      await expect(fixture.drive.list(fixture.access, null, page.cursor)).rejects.toBeInstanceOf(CursorLost);
    });

    test('of a folder that is gone is NOT_FOUND', async () => {
      const { id } = fixture.fake.tree.delete('docs');
      await expect(fixture.drive.list(fixture.access, id, null)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    test('continues without a folder that was deleted during it', async () => {
      const folder = fixture.fake.tree.at('docs');
      mirror = new DriveMirror(fixture, folder.id);
      let listed = 0;
      fixture.fake.onCall = (kind) => {
        if (kind === 'list' && ++listed === 2) fixture.fake.tree.delete('docs/old');
      };
      await mirror.readAll();
      expect(mirror.paths).toEqual(['b.txt']);
    });
  });

  describe('changes', () => {
    beforeEach(() => mirror.readAll());

    test('of none are one call without events', async () => {
      const before = callsOf('changes');
      expect(await mirror.readChanges()).toEqual([]);
      expect(callsOf('changes') - before).toBe(1);
    });

    test('keep the id and hash of a file that is moved or renamed', async () => {
      const before = fileAt('docs/b.txt');
      fixture.fake.tree.move('docs/b.txt', 'elsewhere/renamed.txt');
      await mirror.readChanges();
      expect(mirror.paths).toEqual([
        'a.txt',
        'docs/old/c.txt',
        'docs/old/deep/d.txt',
        'e.txt',
        'elsewhere/renamed.txt',
      ]);
      expect(fileAt('elsewhere/renamed.txt')).toMatchObject({ id: before.id, hash: before.hash });
    });

    test('have another hash and revision after new contents', async () => {
      const before = fileAt('a.txt');
      fixture.fake.tree.put('a.txt', { text: 'alpha 2' });
      await mirror.readChanges();
      const after = fileAt('a.txt');
      expect(after.id).toBe(before.id);
      expect([after.hash === before.hash, after.revision === before.revision]).toEqual([false, false]);
      expect(await readText(after)).toBe('alpha 2');
    });

    test('move all that is in a folder with it', async () => {
      fixture.fake.tree.move('docs/old', 'archive/2020');
      await mirror.readChanges();
      expect(mirror.paths).toEqual(['a.txt', 'archive/2020/c.txt', 'archive/2020/deep/d.txt', 'docs/b.txt', 'e.txt']);
    });

    test.each(['trash', 'delete'] as const)('remove what is in a folder after %s', async (way) => {
      const folder = fixture.fake.tree[way]('docs/old');
      await mirror.readChanges();
      expect(mirror.items.has(folder.id)).toBe(false);
      expect(mirror.paths).toEqual(['a.txt', 'docs/b.txt', 'e.txt']);
    });

    test('bring back a folder that is restored from the trash', async () => {
      const folder = fixture.fake.tree.trash('docs/old');
      await mirror.readChanges();
      fixture.fake.tree.restore(folder);
      await mirror.readChanges();
      expect(mirror.paths).toEqual(ALL);
    });

    test('show a file that replaced a deleted one of the same name', async () => {
      fixture.fake.tree.delete('a.txt');
      const replacement = fixture.fake.tree.put('a.txt', { text: 'another' });
      await mirror.readChanges();
      expect(mirror.paths).toEqual(ALL);
      expect(fileAt('a.txt').id).toBe(idOf(replacement));
    });

    test('after a lost cursor throw CursorLost, and a full listing finds all', async () => {
      fixture.fake.loseCursors();
      fixture.fake.tree.delete('e.txt');
      await expect(mirror.readChanges()).rejects.toBeInstanceOf(CursorLost);
      expect(await mirror.readChangesOrAll()).toBe(true);
      expect(mirror.paths).toEqual(ALL.filter((path) => path !== 'e.txt'));
    });
  });

  describe('contents', () => {
    test('of a file that is gone are NOT_FOUND', async () => {
      await mirror.readAll();
      const file = fileAt('a.txt');
      fixture.fake.tree.delete('a.txt');
      await expect(readText(file)).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 });
    });

    test('past the maximum are PAYLOAD_TOO_LARGE', async () => {
      await mirror.readAll();
      await expect(readText(fileAt('a.txt'), 4)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', status: 413 });
      expect(await readText(fileAt('a.txt'), 5)).toBe('alpha');
    });

    test('of 300 MB pass through in little memory', async () => {
      const size = 300_000_000;
      fixture.fake.tree.put('large.bin', { size });
      await mirror.readAll();
      const content = await fixture.drive.contents(fixture.access, fileAt('large.bin'), size);
      let [read, peak] = [0, 0];
      const before = process.memoryUsage.rss();
      for await (const part of content) {
        read += part.length;
        peak = Math.max(peak, process.memoryUsage.rss());
      }
      expect(read).toBe(size);
      expect(peak - before).toBeLessThan(150_000_000);
    });

    test('that break off are UNAVAILABLE', async () => {
      fixture.fake.tree.put('large.bin', { size: 1_000_000 });
      await mirror.readAll();
      fixture.fake.fail({ kind: provider.contentsKind, isCut: true });
      await expect(readText(fileAt('large.bin'), 1_000_000)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });

    test('end with the signal', async () => {
      fixture.fake.tree.put('large.bin', { size: 50_000_000 });
      await mirror.readAll();
      const aborted = new AbortController();
      const access = { ...fixture.access, signal: aborted.signal };
      const content = await fixture.drive.contents(access, fileAt('large.bin'), 50_000_000);
      const read = async () => {
        for await (const _part of content) aborted.abort(new Error('Cancelled in the middle'));
      };
      await expect(read()).rejects.toThrow('Cancelled in the middle');
    });

    test('go to no other host with the token', async () => {
      await mirror.readAll();
      expect(await readText(fileAt('docs/old/c.txt'))).toBe('gamma');
      expect(fixture.fake.leakedTokens).toBe(0);
    });

    test('of a shortcut are unreadable, with a reason', async () => {
      fixture.fake.tree.put('link', { special: 'shortcut' });
      await mirror.readAll();
      expect(fileAt('link').unreadable).toEqual(expect.stringMatching(/^[A-Z].{5,}/));
    });
  });

  describe('a call', () => {
    const list = () => fixture.drive.list(fixture.access, null, null);

    test('returns the account', async () => {
      expect(await fixture.drive.account(fixture.access)).toEqual({
        accountId: 'account-1',
        email: 'ann@example.com',
        displayName: 'Ann Example',
      });
    });

    test('returns the id of the root, and NOT_FOUND for a folder that is not there', async () => {
      expect(await fixture.drive.root(fixture.access, null)).toBe(provider.rootId);
      await expect(fixture.drive.root(fixture.access, 'id:unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    test('is sent again once with another token after a 401', async () => {
      fixture.fake.authority.expireTokens();
      await list();
      expect(fixture.refused).toHaveLength(1);
      expect(callsOf('list')).toBe(2);
    });

    test('fails after a second 401, without the token in its message', async () => {
      const token = 'access-of-nobody-0123456789';
      const access = { ...fixture.access, token: () => Promise.resolve(token) };
      const error = await fixture.drive.account(access).catch((thrown: unknown) => thrown as Error);
      expect(error).toMatchObject({ code: 'UPSTREAM_FAILED' });
      expect((error as Error).message).toContain('401');
      expect((error as Error).message).not.toContain(token);
      expect(callsOf('account')).toBe(2);
    });

    test.each([429, 500, 502, 503])('is tried again after %i, as Retry-After says', async (status) => {
      fixture.fake.fail({ kind: 'list', status, retryAfter: 0, count: 4 });
      const { events } = await list();
      expect(events.length).toBeGreaterThan(0);
      expect(callsOf('list')).toBe(5);
    });

    test('is tried five times at most', async () => {
      fixture.fake.fail({ kind: 'list', status: 503, retryAfter: 0, count: 9 });
      await expect(list()).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
      expect(callsOf('list')).toBe(5);
    });

    test('is not tried again before a Retry-After that is too long', async () => {
      fixture.fake.fail({ kind: 'list', status: 429, retryAfter: 3600, count: 9 });
      await expect(list()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(callsOf('list')).toBe(1);
    });

    test('is tried again after a lost connection', async () => {
      fixture.fake.fail({ kind: 'list', isCut: true });
      expect((await list()).events.length).toBeGreaterThan(0);
    });

    test('is not tried again after a refusal', async () => {
      fixture.fake.fail({ kind: 'list', status: 403, reason: 'forbidden', count: 9 });
      await expect(list()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
      expect(callsOf('list')).toBe(1);
    });

    test('ends with the signal while it waits', async () => {
      fixture.fake.fail({ kind: 'list', status: 429, retryAfter: 200, count: 9 });
      const aborted = new AbortController();
      fixture.fake.onCall = () => void setImmediate(() => aborted.abort(new Error('Cancelled')));
      const access = { ...fixture.access, signal: AbortSignal.any([NEVER, aborted.signal]) };
      await expect(fixture.drive.list(access, null, null)).rejects.toThrow('Cancelled');
    });
  });
});

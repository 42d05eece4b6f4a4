import { afterEach, describe, expect, test } from 'vitest';
import { nextFolders } from '../../../src/adapters/drives/folder-cursor.ts';
import { CursorLost, FileUnreadable } from '../../../src/core/drive.ts';
import { retryDelay } from '../../../src/core/retry-delay.ts';
import { DriveMirror, openDriveFixture, readBytes, type DriveFixture } from '../../support/drive-access.ts';

/** Behaviour of single providers. drive-contract.test.ts has the behaviour of all. */
let fixture: DriveFixture;
let mirror: DriveMirror;

async function open(provider: string): Promise<DriveFixture['fake']['tree']> {
  fixture = await openDriveFixture(provider);
  mirror = new DriveMirror(fixture);
  return fixture.fake.tree;
}
afterEach(() => fixture?.close());

const fileNamed = (name: string) => mirror.files.find((file) => file.name === name)!;
async function readText(name: string): Promise<string> {
  const content = await fixture.drive.contents(fixture.access, fileNamed(name), 100_000_000);
  return (await readBytes(content)).toString();
}

describe('Google Drive', () => {
  const OFFICE = 'application/vnd.openxmlformats-officedocument.';

  test('converts documents, sheets and slides to files of Office', async () => {
    const tree = await open('google-drive');
    tree.put('Letter', { special: 'document', text: 'as docx' });
    tree.put('Budget.XLSX', { special: 'sheet', text: 'as xlsx' });
    tree.put('Talk', { special: 'slides', text: 'as pptx' });
    await mirror.readAll();
    expect(
      mirror.files.map(({ name, contentType, size, hash, unreadable }) => [name, contentType, size, hash, unreadable]),
    ).toEqual([
      ['Budget.XLSX', `${OFFICE}spreadsheetml.sheet`, null, null, null],
      ['Letter.docx', `${OFFICE}wordprocessingml.document`, null, null, null],
      ['Talk.pptx', `${OFFICE}presentationml.presentation`, null, null, null],
    ]);
    expect(await readText('Letter.docx')).toBe('as docx');
    expect(await readText('Budget.XLSX')).toBe('as xlsx');
    expect(fixture.fake.calls.export).toBe(2);
  });

  test('changes the revision of a document with its contents, and not when it moves', async () => {
    const tree = await open('google-drive');
    const document = tree.put('Letter', { special: 'document', text: 'one' });
    document.modifiedAt = new Date('2026-01-02T03:04:05Z');
    await mirror.readAll();
    const { revision } = fileNamed('Letter.docx');
    tree.move('Letter', 'moved/Letter');
    await mirror.readChanges();
    expect(fileNamed('Letter.docx').revision).toBe(revision);
    tree.put('moved/Letter', { text: 'two' });
    await mirror.readChanges();
    expect(fileNamed('Letter.docx').revision).not.toBe(revision);
  });

  test('refuses what it does not convert for its size as PAYLOAD_TOO_LARGE', async () => {
    const tree = await open('google-drive');
    tree.put('Large', { special: 'document', size: 11 * 1024 * 1024 });
    await mirror.readAll();
    await expect(readText('Large.docx')).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'Google converts documents to files of at most 10 MB',
    });
  });

  test('states a reason for forms', async () => {
    const tree = await open('google-drive');
    tree.put('Survey', { special: 'form' });
    await mirror.readAll();
    expect(fileNamed('Survey').unreadable).toBe('Google converts no form to a file');
  });

  test('fails if it has not searched all files, and without a next page of changes', async () => {
    await open('google-drive');
    fixture.fake.fail({ kind: 'list', html: '{"files":[],"incompleteSearch":true}', count: 2 });
    for (const folderId of [null, '0AFakeRoot'])
      await expect(fixture.drive.list(fixture.access, folderId, null)).rejects.toMatchObject({
        code: 'UPSTREAM_FAILED',
        message: 'Google Drive could not search all files',
      });
    const cursor = await fixture.drive.start(fixture.access, null);
    fixture.fake.fail({ kind: 'changes', html: '{"changes":[]}' });
    await expect(fixture.drive.changes(fixture.access, null, cursor)).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
    });
  });

  test('has names with slashes, which become one part of a path', async () => {
    const tree = await open('google-drive');
    tree.put('x').name = '../../etc\0/passwd';
    await mirror.readAll();
    expect(mirror.paths).toEqual(['.._.._etc__passwd']);
  });
});

describe('the folders of a listing', () => {
  const at = (waiting: string[]) => ({ folders: ['a'], waiting, page: null });

  test('wait once each, and those that were found last are listed first', () => {
    const { cursor } = nextFolders(at(['b', 'c']), ['c', 'd', 'd'], null, 1);
    expect(JSON.parse(cursor)).toEqual({ folders: ['d'], waiting: ['b', 'c'], page: null });
  });

  test('are 50,000 at most', () => {
    const ids = Array.from({ length: 50_000 }, (_, n) => `folder ${n}`);
    expect(nextFolders(at(ids), ids, null, 20).isLast).toBe(false);
    expect(() => nextFolders(at(ids), ['one more'], null, 20)).toThrow('More than 50000 folders wait to be listed');
  });
});

describe('the rate of calls', () => {
  test.each([
    ['google-drive', 'userRateLimitExceeded'],
    ['google-drive', 'rateLimitExceeded'],
    ['google-drive', 'quotaExceeded'],
    ['google-drive', 'dailyLimitExceeded'],
    ['google-drive', 'RATE_LIMIT_EXCEEDED'],
    ['box', 'rate_limit_exceeded'],
  ])('is limited by %s with 403 %s too', async (provider, reason) => {
    await open(provider);
    fixture.fake.fail({ kind: 'list', status: 403, reason, retryAfter: 0, count: 2 });
    await fixture.drive.list(fixture.access, null, null);
    expect(fixture.fake.calls.list).toBe(3);
  });

  test('is lowered by Retry-After, else by twice the time and chance', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(retryDelay(1, '7', now)).toBe(7000);
    expect(retryDelay(1, 'Thu, 01 Jan 2026 00:00:09 GMT', now)).toBe(9000);
    expect(retryDelay(1, 'Thu, 01 Jan 2020 00:00:00 GMT', now)).toBe(0);
    expect(retryDelay(1, '301', now)).toBeNull();
    for (const [tries, longest] of [
      [1, 500],
      [2, 1000],
      [3, 2000],
      [4, 4000],
    ] as const) {
      for (const retryAfter of [null, 'soon']) {
        const waitMs = retryDelay(tries, retryAfter, now)!;
        expect(waitMs).toBeGreaterThanOrEqual(longest / 2);
        expect(waitMs).toBeLessThanOrEqual(longest);
      }
    }
  });
});

describe('Box', () => {
  test('keeps a file and a folder of the same id apart', async () => {
    const tree = await open('box');
    const file = tree.put('docs/a.txt', { text: 'alpha' });
    const folder = tree.at('docs');
    expect(file.id.replace('file', 'folder')).toBe(folder.id);
    await mirror.readAll();
    expect(fileNamed('a.txt').id).toBe(folder.id.replace('folder_', ''));
    tree.move('docs/a.txt', 'a.txt');
    tree.delete('docs');
    await mirror.readChanges();
    expect(mirror.paths).toEqual(['a.txt']);
  });

  test('takes the id of a root folder as users see it', async () => {
    const tree = await open('box');
    tree.put('docs/a.txt', { text: 'alpha' });
    const { id } = tree.at('docs');
    expect(await fixture.drive.root(fixture.access, id.replace('folder_', ''))).toBe(id);
  });

  test('loses a cursor after 21 days, and keeps the digits of its position', async () => {
    await open('box');
    const cursor = await fixture.drive.start(fixture.access, null);
    const [time, position] = cursor.split(':') as [string, string];
    expect(position).toBe('1152922976252290886');
    const aged = (days: number) => `${Number(time) - days * 86_400_000}:${position}`;
    expect((await fixture.drive.changes(fixture.access, null, aged(20))).isLast).toBe(true);
    await expect(fixture.drive.changes(fixture.access, null, aged(22))).rejects.toBeInstanceOf(CursorLost);
  });

  test('reads on after a page of events about other things', async () => {
    await open('box');
    const cursor = await fixture.drive.start(fixture.access, null);
    const comment = { event_id: '1', event_type: 'COMMENT_CREATE', source: { type: 'comment', id: '1' } };
    const page = { entries: [comment], next_stream_position: 1_152_922_976_252_290 };
    fixture.fake.fail({ kind: 'changes', html: JSON.stringify(page) });
    expect(await fixture.drive.changes(fixture.access, null, cursor)).toEqual({
      events: [],
      cursor: expect.stringMatching(/:1152922976252290$/),
      isLast: false,
    });
  });

  test.each([
    [404, 'not_found'],
    [403, 'access_denied_insufficient_permissions'],
    [403, 'forbidden_by_policy'],
    [403, 'forbidden'],
  ])('removes what a look-up refuses with %i %s', async (status, reason) => {
    const tree = await open('box');
    tree.put('a.txt', { text: '1' });
    await mirror.readAll();
    tree.put('a.txt', { text: '2' });
    fixture.fake.fail({ kind: 'lookup', status, reason });
    const { id } = tree.at('a.txt');
    expect(await mirror.readChanges()).toContainEqual({ removedId: id.replace('file_', '') });
    expect(mirror.paths).toEqual([]);
  });

  test('reads on after pages without events until the position stands still, and ten of them at most', async () => {
    const tree = await open('box');
    await mirror.readAll();
    tree.put('a.txt', { text: 'alpha' });
    const before = fixture.fake.calls.changes!;
    await mirror.readChanges();
    expect(mirror.paths).toEqual(['a.txt']);
    // An empty page, one with the event, and one at the same position.
    expect(fixture.fake.calls.changes! - before).toBe(3);
    const cursor = await fixture.drive.start(fixture.access, null);
    for (let n = 1; n <= 11; n += 1)
      fixture.fake.fail({ kind: 'changes', html: `{"entries":[],"next_stream_position":${n}}` });
    expect(await fixture.drive.changes(fixture.access, null, cursor)).toEqual({
      events: [],
      cursor: expect.stringMatching(/:10$/),
      isLast: true,
    });
  });

  test('is asked again for contents that are not ready', async () => {
    const tree = await open('box');
    tree.put('a.txt', { text: 'alpha' });
    await mirror.readAll();
    fixture.fake.fail({ kind: 'contents', status: 202, retryAfter: 0, count: 2 });
    expect(await readText('a.txt')).toBe('alpha');
    expect(fixture.fake.calls.contents).toBe(3);
  });
});

describe('a download that is refused for good', () => {
  test.each([
    ['google-drive', 403, 'cannotDownloadAbusiveFile', 'Google found malware or spam in it'],
    ['google-drive', 403, 'cannotDownloadFile', 'Its owner permits no downloads'],
    ['onedrive', 403, 'malwareDetected', 'OneDrive found malware in it'],
    ['dropbox', 409, 'path/restricted_content', 'Dropbox restricts its content'],
    ['dropbox', 409, 'unsupported_file', 'A document that Dropbox has no file of'],
  ])('by %s with %i %s is FileUnreadable', async (provider, status, reason, message) => {
    const tree = await open(provider);
    tree.put('a.txt', { text: 'a' });
    await mirror.readAll();
    fixture.fake.fail({ kind: 'contents', status, reason });
    const error = await readText('a.txt').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FileUnreadable);
    expect((error as Error).message).toBe(message);
  });
});

describe.each(['google-drive', 'dropbox', 'onedrive', 'box'])('%s', (provider) => {
  test('lists 20,000 files, and reads no changes of them in one call', async () => {
    const tree = await open(provider);
    tree.generate(20_000, 10);
    fixture.fake.pageSize = 1000;
    await mirror.readAll();
    expect(mirror.files).toHaveLength(20_000);
    const before = { ...fixture.fake.calls };
    expect(await mirror.readChanges()).toEqual([]);
    expect(fixture.fake.calls).toEqual({ ...before, changes: before.changes! + 1 });
  });

  test.each([
    '{}',
    '{"files":{},"changes":{},"entries":{},"value":{},"cursor":"x","has_more":false,"next_stream_position":"1"}',
  ])('that sends %s as a page is UPSTREAM_FAILED', async (json) => {
    const tree = await open(provider);
    tree.put('a.txt', { text: 'a' });
    fixture.fake.fail({ kind: 'list', html: json });
    await expect(fixture.drive.list(fixture.access, null, null)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
    const cursor = await fixture.drive.start(fixture.access, null);
    fixture.fake.fail({ kind: 'changes', html: json });
    await expect(fixture.drive.changes(fixture.access, null, cursor)).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
    });
  });

  test.each([5000, 5001])('may send at most 5,000 items a page: a page of %i', async (count) => {
    await open(provider);
    const entry = { '.tag': 'file', id: 'x', name: 'x', type: 'file', path_display: '/x' };
    const entries = Array.from({ length: count }, () => entry);
    // A page of any of the providers.
    const page = { files: entries, entries, value: entries, cursor: 'x', has_more: false };
    const link = `${fixture.access.apiUri}/delta`;
    fixture.fake.fail({ kind: 'list', html: JSON.stringify({ ...page, '@odata.deltaLink': link }) });
    const listed = fixture.drive.list(fixture.access, null, null);
    if (count > 5000) await expect(listed).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
    else expect((await listed).events).toHaveLength(count);
  });

  test('whose response is too large, or quotes the token, fails without the token in its message', async () => {
    await open(provider);
    const token = await fixture.access.token();
    fixture.fake.fail({ kind: 'account', html: `<p>${token}</p>` });
    const error = await fixture.drive.account(fixture.access).catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toContain('is not a JSON object: <p>…</p>');
    fixture.fake.fail({ kind: 'account', html: `{"id":"${'x'.repeat(8 * 1024 * 1024)}"}` });
    await expect(fixture.drive.account(fixture.access)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });

  test('that sends no JSON is UPSTREAM_FAILED', async () => {
    await open(provider);
    fixture.fake.fail({ kind: 'account', html: '<h1>Sign in</h1>' });
    await expect(fixture.drive.account(fixture.access)).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining('is not a JSON object: <h1>Sign in</h1>'),
    });
  });
});

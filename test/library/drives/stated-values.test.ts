import { afterEach, describe, expect, test } from 'vitest';
import type { DrivePage } from '../../../src/core/drive.ts';
import { DriveMirror, openDriveFixture, readBytes, type DriveFixture } from '../../support/drive-access.ts';

let fixture: DriveFixture;
afterEach(() => fixture.close());

type Entry = Record<string, unknown>;

/** An item of each provider. */
const ITEMS: Readonly<Record<string, Entry>> = {
  'google-drive': { id: 'i1', name: 'a.txt', mimeType: 'text/plain', parents: ['p'] },
  dropbox: { '.tag': 'file', id: 'i1', name: 'a.txt', path_display: '/a.txt', path_lower: '/a.txt' },
  onedrive: { id: 'i1', name: 'a.txt', file: { mimeType: 'text/plain' }, parentReference: { id: 'p' } },
  box: { type: 'file', id: 'i1', name: 'a.txt', parent: { id: 'p' } },
};
const PROVIDERS = Object.keys(ITEMS);

/** Lists a page with one item, whose values are changed. */
async function listOne(provider: string, changes: Entry): Promise<DrivePage> {
  fixture = await openDriveFixture(provider);
  const entries = [{ ...ITEMS[provider], ...changes }];
  // A page of any of the providers.
  const page = { files: entries, entries, value: entries, cursor: 'x', has_more: false };
  const link = `${fixture.access.apiUri}/delta`;
  fixture.fake.fail({ kind: 'list', html: JSON.stringify({ ...page, '@odata.deltaLink': link }) });
  return fixture.drive.list(fixture.access, null, null);
}

const WRONG: readonly [provider: string, changes: Entry, message: string][] = [
  ...PROVIDERS.flatMap((provider): [string, Entry, string][] => [
    [provider, { id: 7 }, 'a number as "id" of "a.txt", not a text'],
    [provider, { id: { a: 1 } }, 'an object as "id" of "a.txt", not a text'],
    [provider, { name: ['x'] }, 'a list as "name" of "i1", not a text'],
    [provider, { size: { a: 1 } }, 'an object as "size" of "a.txt", not a size'],
    [provider, { size: true }, 'a boolean as "size" of "a.txt", not a size'],
  ]),
  ['dropbox', { path_display: 7 }, 'a number as "path_display" of "a.txt", not a text'],
  ['dropbox', { path_lower: { a: 1 } }, 'an object as "path_lower" of "a.txt", not a text'],
  ['dropbox', { client_modified: 1e12 }, 'a number as "client_modified" of "a.txt", not a text'],
  ['dropbox', { '.tag': 'deleted', path_lower: [] }, 'a list as "path_lower" of "a.txt", not a text'],
  ['dropbox', { rev: 1 }, 'a number as "rev" of "a.txt", not a text'],
  ['dropbox', { is_downloadable: 'no' }, 'a string as "is_downloadable" of "a.txt", not true or false'],
  ['onedrive', { deleted: {}, id: 7 }, 'a number as "id" of "a.txt", not a text'],
  ['onedrive', { deleted: {}, id: {} }, 'an object as "id" of "a.txt", not a text'],
  ['onedrive', { file: { mimeType: {} } }, 'an object as "file.mimeType" of "a.txt", not a text'],
  ['onedrive', { file: { hashes: { sha1Hash: 1 } } }, 'a number as "file.hashes.sha1Hash" of "a.txt", not a text'],
  ['onedrive', { parentReference: { id: 1, name: 'p' } }, 'a number as "parentReference.id" of "a.txt", not a text'],
  ['onedrive', { folder: 'yes' }, 'a string as "folder" of "a.txt", not an object'],
  ['google-drive', { mimeType: { a: 1 } }, 'an object as "mimeType" of "a.txt", not a text'],
  ['google-drive', { parents: 'p' }, 'a string as "parents" of "a.txt", not a list'],
  ['google-drive', { parents: [1] }, 'a number as "parents.0" of "a.txt", not a text'],
  [
    'google-drive',
    { capabilities: { canDownload: 0 } },
    'a number as "capabilities.canDownload" of "a.txt", not true or false',
  ],
  ['box', { type: 1 }, 'a number as "type" of "a.txt", not a text'],
  ['box', { parent: { id: 5 } }, 'a number as "parent.id" of "a.txt", not a text'],
  ['box', { modified_at: {} }, 'an object as "modified_at" of "a.txt", not a text'],
];

test.each(WRONG)(
  'a value of another type is UPSTREAM_FAILED with its names: %s %j',
  async (provider, changes, message) => {
    await expect(listOne(provider, changes)).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: `The drive states ${message}`,
    });
  },
);

test.each(PROVIDERS)('an item of %s without an id is UPSTREAM_FAILED with its name', async (provider) => {
  await expect(listOne(provider, { id: null })).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    message: 'The drive states no "id" of "a.txt"',
  });
});

describe.each(PROVIDERS)('%s', (provider) => {
  const field = { dropbox: 'client_modified', onedrive: 'lastModifiedDateTime', box: 'modified_at' }[provider];

  test.each([
    ['+275760-09-13T00:00:00Z', null],
    ['-200000-01-01T00:00:00Z', null],
    ['+010000-01-01T00:00:00Z', null],
    ['0000-12-31T23:59:59Z', null],
    ['yesterday', null],
    ['', null],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('has the time %s as %s', async (stated, time) => {
    const { events } = await listOne(provider, { [field ?? 'modifiedTime']: stated });
    expect(events).toMatchObject([{ item: { name: 'a.txt', modifiedAt: time === null ? null : new Date(time) } }]);
  });

  test.each([
    [-1, null],
    [1e300, null],
    [1.5, null],
    [null, null],
    ['12', 12],
    [12, 12],
  ])('has the size %j as %j', async (stated, size) => {
    const { events } = await listOne(provider, { size: stated });
    expect(events).toMatchObject([{ item: { name: 'a.txt', size } }]);
  });

  test('fails a download that is a part of the file', async () => {
    fixture = await openDriveFixture(provider);
    fixture.fake.tree.put('a.txt', { text: 'alpha' });
    const mirror = new DriveMirror(fixture);
    await mirror.readAll();
    const open = () => fixture.drive.contents(fixture.access, mirror.files[0]!, 1000);
    fixture.fake.fail({ kind: 'contents', status: 206, html: 'alp' });
    await expect(open()).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: 'The host "127.0.0.1" sent a part of the file only',
    });
    expect((await readBytes(await open())).toString()).toBe('alpha');
  });
});

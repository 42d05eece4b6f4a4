import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { addFile, createLibrary } from './library-fixture.ts';

const namesIn = async (client: Client, path: string): Promise<string[]> => {
  const { body } = await client.get(path);
  expect(body.total).toBe(body._embedded['svc:library-file'].length);
  return body._embedded['svc:library-file'].map((file: { path: string }) => file.path);
};

describe('the files of a library', () => {
  test('are listed by path, and filtered by text, folder and status', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const other = await createLibrary(ann);
    await addFile(service, other.id, { path: 'a/other.txt', content: 'o' });
    await addFile(service, id, { path: 'b.txt', content: 'b' });
    await addFile(service, id, { path: 'a/c/d.txt', content: 'd' });
    await addFile(service, id, { path: 'a/b.txt', status: 'failed', reason: 'HTTP 500' });
    await addFile(service, id, { path: 'a', content: 'a file with the name of a folder' });
    await addFile(service, id, { path: 'ab/c.form', reason: 'A form' });
    const files = `${path}/files`;
    expect(await namesIn(ann, files)).toEqual(['a', 'a/b.txt', 'a/c/d.txt', 'ab/c.form', 'b.txt']);
    expect(await namesIn(ann, `${files}?path=a`)).toEqual(['a', 'a/b.txt', 'a/c/d.txt']);
    expect(await namesIn(ann, `${files}?path=/a/c/`)).toEqual(['a/c/d.txt']);
    expect(await namesIn(ann, `${files}?path=`)).toHaveLength(5);
    expect(await namesIn(ann, `${files}?q=B.TXT`)).toEqual(['a/b.txt', 'b.txt']);
    expect(await namesIn(ann, `${files}?status=failed`)).toEqual(['a/b.txt']);
    expect(await namesIn(ann, `${files}?status=synced&path=a&sort=-path`)).toEqual(['a/c/d.txt', 'a']);
    await expectStatus(ann.get(`${files}?status=lost`), 400);
    const page = (await ann.get(`${files}?limit=2&start=1`)).body;
    expect(page).toMatchObject({ start: 1, count: 2, total: 5 });
    const { library } = await ann.data(
      `{ library(id: "${id}") { files(path: "a", status: FAILED) { total items { path status reason contentsUrl } } } }`,
    );
    expect(library).toEqual({
      files: { total: 1, items: [{ path: 'a/b.txt', status: 'FAILED', reason: 'HTTP 500', contentsUrl: null }] },
    });
  });

  test('are returned in pages of 30', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const names = Array.from({ length: 33 }, (_, n) => `${10 + n}.txt`);
    for (const name of names) await addFile(service, id, { path: name, content: name });
    const { body: first } = await ann.get(`${path}/files`);
    expect(first).toMatchObject({ start: 0, count: 30, total: 33 });
    const { body: second } = await ann.request('GET', first._links.next.href);
    const paths = [first, second].flatMap(({ _embedded }) =>
      _embedded['svc:library-file'].map((file: { path: string }) => file.path),
    );
    expect(paths).toEqual(names);
    const { library } = await ann.data(`{ library(id: "${id}") { files { total hasNextPage items { path } } } }`);
    expect(library.files).toEqual({
      total: 33,
      hasNextPage: true,
      items: names.slice(0, 30).map((name) => ({ path: name })),
    });
  });

  test('have the fields of the provider and of the sync', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const fileId = await addFile(service, id, { path: 'a/b.txt', content: 'hello' });
    const expected = {
      id: fileId,
      libraryId: id,
      fileId: `at-provider-${fileId}`,
      name: 'b.txt',
      path: 'a/b.txt',
      contentType: 'text/plain',
      size: 5,
      hash: '5d41402abc4b2a76b9719d911017c592',
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      status: 'synced',
      reason: null,
      url: 'https://drive.example/f',
      modifiedAt: expect.stringMatching(/Z$/),
      syncedAt: expect.stringMatching(/Z$/),
    };
    await expectBody(ann.get(`${path}/files/${fileId}`), 200, expected);
    const { library, node } = await ann.data(
      `{ library(id: "${id}") { file(id: "${fileId}") { path sha256 contentsUrl library { id } } }
         node(id: "${fileId}") { __typename id } }`,
    );
    const contentsUrl = `/api/libraries/${id}/files/${fileId}/contents`;
    expect(library.file).toEqual({ path: 'a/b.txt', sha256: expected.sha256, contentsUrl, library: { id } });
    expect(node).toEqual({ __typename: 'LibraryFile', id: fileId });
  });

  test('are visible to readers of the library alone', async ({ service, ann, bob, stranger }) => {
    const { id, path } = await createLibrary(ann);
    const other = await createLibrary(bob);
    const fileId = await addFile(service, id, { path: 'a.txt', content: 'a' });
    for (const client of [bob, stranger])
      for (const below of ['files', `files/${fileId}`, `files/${fileId}/contents`])
        await expectError(client.get(`${path}/${below}`), 404, `There is no library ${id}`);
    await expectGraphqlError(bob.gql(`{ node(id: "${fileId}") { id } }`), 'NOT_FOUND');
    for (const key of [fileId, UNKNOWN_ID, 'a.txt'])
      await expectError(bob.get(`${other.path}/files/${key}`), 404, `There is no file of the library ${key}`);
    await ann.put(`${path}/shares/bob`, { accessLevel: 1 });
    await expectBody(bob.get(`${path}/files/${fileId}`), 200, { id: fileId });
    await expectBody(bob.get(`${path}/files/${fileId}/contents`), 200, 'a' as never);
  });
});

describe('the contents of a file of a library', () => {
  test('are a download with an entity tag', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const fileId = await addFile(service, id, { path: 'ä/Größe.txt', content: 'hello' });
    const contents = `${path}/files/${fileId}/contents`;
    const sent = await ann.get(contents, { 'accept-encoding': 'identity' });
    expect(sent).toMatchObject({ status: 200, body: 'hello' });
    expect(Object.fromEntries(sent.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '5',
      'content-disposition': expect.stringMatching(/^attachment;.*Gr%C3%B6%C3%9Fe\.txt/),
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
    });
    const etag = sent.headers.get('etag')!;
    expect(await ann.get(contents, { 'if-none-match': etag })).toMatchObject({ status: 304, body: '' });
  });

  test('are sent in parts', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const fileId = await addFile(service, id, { path: 'digits.txt', content: '0123456789' });
    const contents = `${path}/files/${fileId}/contents`;
    const etag = (await ann.get(contents)).headers.get('etag')!;
    for (const [range, part, contentRange] of [
      ['bytes=0-0', '0', 'bytes 0-0/10'],
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=-20', '0123456789', 'bytes 0-9/10'],
      ['bytes=8-100', '89', 'bytes 8-9/10'],
    ] as const) {
      const sent = await ann.get(contents, { range, 'if-range': etag });
      expect([sent.status, sent.body, sent.headers.get('content-range')], range).toEqual([206, part, contentRange]);
      expect(sent.headers.get('content-length')).toBe(String(part.length));
      expect(sent.headers.get('etag')).toBe(etag);
    }
    for (const headers of [
      { range: 'bytes=0-1,3-4' },
      { range: 'lines=0-1' },
      { range: 'bytes=4-2' },
      { range: 'bytes=-' },
      { range: 'bytes=0-1', 'if-range': '"other"' },
    ] as Record<string, string>[])
      expect(await ann.get(contents, headers), headers['range']).toMatchObject({ status: 200, body: '0123456789' });
    for (const range of ['bytes=10-', 'bytes=-0', 'bytes=99-100']) {
      const refused = await ann.get(contents, { range });
      expect([refused.status, refused.headers.get('content-range')], range).toEqual([416, 'bytes */10']);
      expect(refused.body).toMatchObject({ code: 'BAD_USER_INPUT', message: 'Range is not a part of the 10 bytes' });
    }
  });

  test('are missing when they are not kept, and gone with the file', async ({ service, ann }) => {
    const { id, path } = await createLibrary(ann);
    const skipped = await addFile(service, id, { path: 'form', reason: 'A form' });
    await expectError(ann.get(`${path}/files/${skipped}/contents`), 404, /There is no contents of the file/);
    await expectBody(ann.get(`${path}/files/${skipped}`), 200, { sha256: null, size: null, syncedAt: null });
    const stored = await addFile(service, id, { path: 'a', content: 'a' });
    const { system } = service.platform;
    const columns = async (text: string) => (await system.query({ text, values: [stored] }))[0];
    const fileOf = await columns('select stored_file_id as id from dws.library_file where id = $1');
    await system.query({ text: `update dws.library_file set stored_file_id = null where id = $1`, values: [stored] });
    expect(await system.query({ text: 'select from dws.stored_file where id = $1', values: [fileOf!['id']] })).toEqual(
      [],
    );
  });
});

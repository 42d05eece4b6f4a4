import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { withService } from '../support/upload-form.ts';
import {
  createFile,
  createFilled,
  createTemplate,
  createUpload,
  filePath,
  readFile,
  test,
  writeFile,
  type TestTemplate,
} from './template-fixture.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const MB = 1_000_000;

test('contents of any type are stored as they were sent', async ({ ann }) => {
  const template = await createTemplate(ann);
  const id = await createFile(ann, template, 'a.txt');
  const bodies: [type: string, body: string][] = [
    ['application/json', '{ "a" :1,\n"a":2 }'],
    ['application/json', '{ not json'],
    ['text/plain; charset=latin1', 'plain'],
    ['application/x-www-form-urlencoded', 'a=1&a=2'],
    ['application/hal+json', '[]'],
    ['image/png', 'not a picture'],
    ['text/plain', ''],
  ];
  for (const [type, body] of bodies) {
    const response = await writeFile(ann, template, id, body, { 'content-type': type });
    expect(response, type).toMatchObject({ status: 200, body: { success: true } });
    const read = await ann.get(`${filePath(template, id)}/contents`);
    expect(read, type).toMatchObject({ status: 200, body });
    expect(read.headers.get('content-type')).toBe('text/plain');
    expect(read.headers.get('etag')).toBe(`"${sha256(body)}"`);
    await expectBody(ann.get(filePath(template, id)), 200, { size: body.length, sha256: sha256(body) });
  }
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const raw = await fetch(`${ann.url}/api${filePath(template, id)}/contents`, {
    method: 'PUT',
    headers: ann.headers,
    body: bytes,
  });
  expect(raw.status).toBe(200);
  const back = await fetch(`${ann.url}/api${filePath(template, id)}/contents`, { headers: ann.headers });
  expect(new Uint8Array(await back.arrayBuffer())).toEqual(bytes);
});

test('contents have a strong ETag, for reads and for writes', async ({ ann }) => {
  const template = await createTemplate(ann);
  const id = await createFilled(ann, template, 'a.txt', 'one');
  const path = `${filePath(template, id)}/contents`;
  const etag = `"${sha256('one')}"`;
  const same = await ann.get(path, { 'if-none-match': `"other", ${etag}` });
  expect(same).toMatchObject({ status: 304, body: '' });
  expect(same.headers.get('etag')).toBe(etag);
  await expectStatus(ann.get(path, { 'if-none-match': '"other"' }), 200);
  const head = await ann.request('HEAD', `/api${path}`);
  expect(head.headers.get('etag')).toBe(etag);
  expect(head.body).toBe('');

  await expectStatus(writeFile(ann, template, id, 'two', { 'if-match': etag }), 200);
  for (const tag of [etag, '"1"', 'W/"2-abc"', '""', 'nonsense'])
    await expectError(
      writeFile(ann, template, id, 'three', { 'if-match': tag }),
      412,
      'The template file has changed since you read it',
    );
  expect(await readFile(ann, template, id)).toBe('two');
  await expectStatus(writeFile(ann, template, id, 'three', { 'if-match': `"x", W/"${sha256('two')}"` }), 200);
  await expectStatus(writeFile(ann, template, id, 'four', { 'if-match': '*' }), 200);
  const empty = await createFile(ann, template, 'empty.txt');
  await expectStatus(writeFile(ann, template, empty, 'x', { 'if-match': `"${sha256('')}"` }), 200);
});

test('active contents are harmless downloads', async ({ ann }) => {
  const template = await createTemplate(ann);
  const files: [name: string, contents: string, type: string, disposition: string][] = [
    ['a/evil.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>x()</script></svg>', 'image/svg+xml', 'attachment'],
    ['evil.html', '<script>alert(1)</script>', 'text/html', 'attachment'],
    ['evil.xml', '<?xml version="1.0"?><x/>', 'application/xml', 'attachment'],
    ['evil.js', 'alert(1)', 'text/javascript', 'attachment'],
    ['evil.pdf', '%PDF-1.7', 'application/pdf', 'attachment'],
    ['unknown', '<html>', 'application/octet-stream', 'attachment'],
    ['a.png', '<script>alert(1)</script>', 'image/png', 'inline'],
    ['a.csv', 'a,b', 'text/csv', 'inline'],
  ];
  for (const [name, contents, type, disposition] of files) {
    const id = await createFilled(ann, template, name, contents);
    const { status, headers } = await ann.get(`${filePath(template, id)}/contents`);
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.* sandbox$/);
    expect(headers.get('content-disposition')).toBe(`${disposition}; filename="${name.split('/').at(-1)}"`);
  }
  const id = await createFile(ann, template, 'Größe "1".html');
  const { headers } = await ann.get(`${filePath(template, id)}/contents`);
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename="Gr__e _1_.html"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.html`,
  );
});

test('a file has at most 25 MB, and the files of a template 100 MB', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const files: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) files.push(await createFilled(ann, template, name, 'x'.repeat(24 * MB)));
  await expectError(
    writeFile(ann, template, files[0]!, 'x'.repeat(25 * MB + 1)),
    413,
    'The file is larger than the maximum of 25000000 bytes',
  );
  await expectStatus(writeFile(ann, template, files[0]!, 'x'.repeat(25 * MB)), 200);
  const rest = await createFilled(ann, template, 'e', 'x'.repeat(3 * MB));
  await expectError(
    ann.post(`${template.path}/files/_upload`, createUpload('x', 'f')),
    413,
    /100000000 bytes together/,
  );
  await expectStatus(writeFile(ann, template, rest, 'x'.repeat(3 * MB + 1)), 413);
  await expectStatus(writeFile(ann, template, rest, 'y'.repeat(3 * MB)), 200);
  // Refused requests left nothing behind.
  await expectBody(ann.get(filePath(template, rest)), 200, { size: 3 * MB, sha256: sha256('y'.repeat(3 * MB)) });
  expect(await storedBytes(service, template)).toEqual({ rows: 5, files: 5 });
  await expectStatus(ann.delete(template.path), 204);
});

/** Returns how many stored files of a template have rows, and bytes. */
async function storedBytes(
  service: Parameters<Parameters<typeof withService>[1]>[0],
  { id }: TestTemplate,
): Promise<{ rows: number; files: number }> {
  const rows = await systemQuery<{ id: string }>(
    service,
    `select s.id from dws.stored_file s join dws.template_file f on f.file_id = s.id where f.template_id = $1`,
    id,
  );
  const known = new Set((await service.platform.files.list()).map((file) => file.id));
  return { rows: rows.length, files: rows.filter((row) => known.has(row.id)).length };
}

test('a body is refused while it is being sent', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const id = await createFilled(ann, template, 'a.bin', 'small');
  const url = new URL(ann.url);
  const socket = connect(Number(url.port), url.hostname);
  const response = new Promise<string>((resolve, reject) => {
    let text = '';
    socket.on('error', reject);
    socket.on('data', (data) => {
      text += data.toString();
      if (text.includes('\r\n\r\n')) resolve(text);
    });
  });
  socket.write(
    `PUT /api${filePath(template, id)}/contents HTTP/1.1\r\nhost: x\r\nauthorization: ${ann.headers['authorization']}\r\n` +
      'content-type: a/b\r\ntransfer-encoding: chunked\r\n\r\n',
  );
  // 26 MB of a body that has no end.
  const chunk = 'x'.repeat(MB);
  for (let sent = 0; sent < 26; sent += 1) socket.write(`${MB.toString(16)}\r\n${chunk}\r\n`);
  expect(await response).toMatch(/^HTTP\/1\.1 413 /);
  socket.destroy();
  expect(await readFile(ann, template, id)).toBe('small');
  expect(await storedBytes(service, template)).toEqual({ rows: 1, files: 1 });
});

test('a template has at most 200 files', async ({ ann }) => {
  const template = await createTemplate(ann);
  for (let start = 0; start < 200; start += 20)
    await Promise.all(Array.from({ length: 20 }, (_, index) => createFile(ann, template, `${start + index}.txt`)));
  const another = { filename: 'more.txt', role: 'ASSET' };
  await expectError(ann.post(`${template.path}/files`, another), 413, 'A template has at most 200 files');
  await expectStatus(ann.post(`${template.path}/files/_upload`, createUpload('x', 'more.txt')), 413);
  await expectStatus(ann.delete(filePath(template, '7.txt')), 204);
  await expectStatus(ann.post(`${template.path}/files`, another), 201);
});

test('files count for the quota of the tenant', async () => {
  await withService({ TENANT_QUOTA_BYTES: '1000' }, async (service) => {
    const cid: Client = await service.user('cid');
    const template = await createTemplate(cid);
    const id = await createFilled(cid, template, 'a.txt', 'x'.repeat(600));
    await expectStatus(cid.post(`${template.path}/files/_upload`, createUpload('x'.repeat(500), 'b.txt')), 413);
    const other = await createFile(cid, template, 'c.txt');
    await expectStatus(writeFile(cid, template, other, 'x'.repeat(500)), 413);
    // The replaced bytes are free again.
    await expectStatus(writeFile(cid, template, id, 'y'.repeat(900)), 200);
    // A draft shares the bytes.
    await expectStatus(cid.post(`${template.path}/_edit`), 200);
    expect(await readFile(cid, template, id)).toBe('y'.repeat(900));
    await expectStatus(cid.delete(filePath(template, id)), 204);
  });
});

test('two concurrent writers leave one of the contents, and nothing else', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const id = await createFilled(ann, template, 'a.txt', 'first');
  const texts = Array.from({ length: 12 }, (_, index) => String(index).repeat(1000 + index));
  const statuses = await Promise.all(texts.map(async (text) => (await writeFile(ann, template, id, text)).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(texts).toContain(await readFile(ann, template, id));
  expect(await storedBytes(service, template)).toEqual({ rows: 1, files: 1 });
  const rows = await systemQuery(service, `select id from dws.stored_file where filename = 'a.txt' and size >= 1000`);
  expect(rows).toHaveLength(1);
  // With the ETag that all have read, one of them wins.
  const etag = `"${sha256((await readFile(ann, template, id)) as string)}"`;
  const guarded = await Promise.all(
    texts.map(async (text) => (await writeFile(ann, template, id, `${text}!`, { 'if-match': etag })).status),
  );
  expect(guarded.toSorted()).toEqual([200, ...Array.from({ length: 11 }, () => 412)]);
});

test('a reader during writes gets whole contents with their ETag', async ({ ann }) => {
  const template = await createTemplate(ann);
  const text = (index: number) => `${index}`.repeat(50_000);
  const id = await createFilled(ann, template, 'a.txt', text(0));
  let isWriting = true;
  const writing = (async () => {
    for (let index = 1; index <= 9; index += 1) await expectStatus(writeFile(ann, template, id, text(index)), 200);
    isWriting = false;
  })();
  do {
    const { status, body, headers } = await ann.get(`${filePath(template, id)}/contents`);
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe(`"${sha256(body)}"`);
  } while (isWriting);
  await writing;
  expect(await readFile(ann, template, id)).toBe(text(9));
});

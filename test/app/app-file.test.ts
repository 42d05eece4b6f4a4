import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createApp, getFile, putFile } from './app-fixture.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('files are created, replaced, listed, read and deleted', async ({ admin }) => {
  const id = await createApp(admin, 'Files');
  const created = await putFile(admin, id, 'server/orders/[status].ts', 'export const get = () => 1;');
  await expectBody(created, 201, {
    path: 'server/orders/[status].ts',
    contentType: 'application/octet-stream',
    size: 27,
    sha256: sha256('export const get = () => 1;'),
    _links: { self: { href: `/api/apps/${id}/files/server/orders/%5Bstatus%5D.ts` } },
  });
  expect(Object.keys(created.body).toSorted()).toEqual([
    '_links',
    'contentType',
    'path',
    'sha256',
    'size',
    'updatedAt',
  ]);
  await expectBody(putFile(admin, id, 'server/orders/[status].ts', ''), 200, { size: 0, sha256: sha256('') });
  // Bytes of any type are the file itself.
  await expectBody(putFile(admin, id, 'lib/data.json', '{"a": 1}', { 'content-type': 'application/json' }), 201, {
    contentType: 'application/json',
    size: 8,
  });
  await putFile(admin, id, 'lib/a.md', '# A');
  const list = await admin.get(`/apps/${id}/files`);
  expect(list.body).toMatchObject({ total: 3 });
  expect(list.body._embedded['svc:app-file'].map(({ path }: { path: string }) => path)).toEqual([
    'lib/a.md',
    'lib/data.json',
    'server/orders/[status].ts',
  ]);
  const read = await getFile(admin, id, 'lib/data.json');
  expect(await read.text()).toBe('{"a": 1}');
  expect(Object.fromEntries(read.headers)).toMatchObject({
    etag: `"${sha256('{"a": 1}')}"`,
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'content-disposition': 'inline; filename="data.json"',
  });
  expect((await getFile(admin, id, 'lib/data.json', { 'if-none-match': read.headers.get('etag')! })).status).toBe(304);
  expect((await admin.delete(`/apps/${id}/files/server/orders/%5Bstatus%5D.ts`)).status).toBe(204);
  expect((await admin.delete(`/apps/${id}/files/lib`)).status).toBe(204);
  expect((await admin.get(`/apps/${id}/files`)).body.total).toBe(0);
  await expectError(admin.delete(`/apps/${id}/files/lib`), 404, 'There is no file of the app lib');
});

test('GraphQL lists, writes and deletes files', async ({ admin }) => {
  const id = await createApp(admin, 'Graph', { 'lib/a.js': 'a', 'lib/b.js': 'bb' });
  const { data } = await admin.gql(
    `query ($id: ID!) { app(id: $id) { files { path size } file(path: "lib/b.js") { path sha256 app { id } } } }`,
    { id },
  );
  expect(data!['app']).toEqual({
    files: [
      { path: 'lib/a.js', size: 1 },
      { path: 'lib/b.js', size: 2 },
    ],
    file: { path: 'lib/b.js', sha256: sha256('bb'), app: { id } },
  });
  const set = await admin.gql(
    `mutation ($id: ID!, $file: FileContent!) {
      setAppFile(appId: $id, path: "lib/c.js", input: { file: $file }) { path created sha256 contentType } }`,
    { id, file: 'data:text/javascript;base64,Y2Nj' },
  );
  expect(set.data).toEqual({
    setAppFile: { path: 'lib/c.js', created: true, sha256: sha256('ccc'), contentType: 'text/javascript' },
  });
  expect((await admin.gql(`mutation ($id: ID!) { deleteAppFile(appId: $id, path: "lib") }`, { id })).data).toEqual({
    deleteAppFile: 'lib',
  });
  expect((await admin.get(`/apps/${id}/files`)).body.total).toBe(0);
});

test('active contents are harmless when opened', async ({ admin }) => {
  const id = await createApp(admin, 'Active', { 'page.html': '<script>alert(1)</script>', 'a.svg': '<svg/>' });
  for (const path of ['page.html', 'a.svg']) {
    const { headers } = await getFile(admin, id, path);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${path}"`);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('paths are file names with at most eight folders', async ({ admin }) => {
  const id = await createApp(admin, 'Paths');
  for (const path of [
    '..%2Fa',
    'a%2F%2Fb',
    'a%2F..%2Fb',
    'a%5Cb',
    'a%00b',
    'a%0Ab',
    '%E2%80%AEa',
    'a/',
    'x'.repeat(256),
    'a/b/c/d/e/f/g/h/i/j',
    '%20',
  ]) {
    const { status, body } = await putFile(admin, id, path, 'x');
    expect({ path, status, message: body.message }).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^path /),
    });
  }
  expect((await putFile(admin, id, 'a/b/c/d/e/f/g/h/i', 'x')).status).toBe(201);
  expect((await putFile(admin, id, 'x'.repeat(255), 'x')).status).toBe(201);
  // Equal names have equal bytes.
  expect((await putFile(admin, id, encodeURIComponent('é.txt'.normalize('NFC')), 'x')).status).toBe(201);
  expect((await putFile(admin, id, encodeURIComponent('é.txt'.normalize('NFD')), 'x')).status).toBe(200);
  expect((await getFile(admin, id, encodeURIComponent('é.txt'.normalize('NFD')))).status).toBe(200);
  await expectError(
    putFile(admin, id, 'a/b', 'x'),
    409,
    'The app has the file a/b/c/d/e/f/g/h/i, so that a/b cannot be a file',
  );
});

test('a path is a file or a folder', async ({ admin }) => {
  const id = await createApp(admin, 'Folders', { 'a.txt': 'x' });
  await expectError(
    putFile(admin, id, 'a.txt/b', 'x'),
    409,
    'The app has the file a.txt, so that a.txt/b cannot be a file',
  );
  expect((await putFile(admin, id, 'a.txtb', 'x')).status).toBe(201);
  expect((await admin.delete(`/apps/${id}/files/a.txt`)).status).toBe(204);
  expect((await getFile(admin, id, 'a.txtb')).status).toBe(200);
});

test('a file has at most 5 MB, code and migrations 1 MB', async ({ admin }) => {
  const id = await createApp(admin, 'Large');
  expect((await putFile(admin, id, 'a.bin', Buffer.alloc(5_000_000))).status).toBe(201);
  await expectError(
    putFile(admin, id, 'b.bin', Buffer.alloc(5_000_001)),
    413,
    'The file is larger than the maximum of 5000000 bytes',
  );
  expect((await putFile(admin, id, 'a.js', Buffer.alloc(1_000_000))).status).toBe(201);
  for (const path of ['b.js', 'b.ts', 'lib/B.TS', 'migrations/1.sql'])
    await expectError(
      putFile(admin, id, path, Buffer.alloc(1_000_001)),
      413,
      'The file is larger than the maximum of 1000000 bytes',
    );
  for (let n = 0; n < 8; n += 1)
    expect((await putFile(admin, id, `${n}.bin`, Buffer.alloc(5_000_000))).status).toBe(201);
  // 46 of 50 MB are used.
  await expectError(
    putFile(admin, id, 'last.bin', Buffer.alloc(4_000_001)),
    413,
    'The file is larger than the maximum of 4000000 bytes',
  );
  expect((await putFile(admin, id, '7.bin', Buffer.alloc(5_000_000))).status).toBe(200);
  expect((await putFile(admin, id, 'last.bin', Buffer.alloc(4_000_000))).status).toBe(201);
  await expectError(
    putFile(admin, id, 'more.bin', 'x'),
    413,
    'The files of an app have at most 50000000 bytes together',
  );
  expect((await admin.delete(`/apps/${id}`)).status).toBe(204);
});

test('files of several apps that are saved concurrently do not exceed the quota of the tenant together', async ({
  admin,
  service,
}) => {
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => createApp(admin, `Concurrent ${n}`)));
  const usedBytes = async () =>
    (
      await service.platform.system.query<{ size: number }>({
        text: 'select sum(size)::int as size from dws.stored_file',
      })
    )[0]!.size ?? 0;
  const { config } = service.platform;
  const used = await usedBytes();
  config.TENANT_QUOTA_BYTES = used + 1_000_000;
  const saved = await Promise.all(ids.map((id) => putFile(admin, id, 'a.bin', Buffer.alloc(400_000))));
  config.TENANT_QUOTA_BYTES = 0;
  expect(saved.map(({ status }) => status).toSorted()).toEqual([201, 201, 413, 413, 413, 413, 413, 413]);
  expect(await usedBytes()).toBe(used + 800_000);
});

test('an app has at most 500 files', async ({ admin, service }) => {
  const id = await createApp(admin, 'Many', { '0.txt': 'x' });
  await service.platform.system.query({
    text: `
      with copies as (
        insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
        select gen_random_uuid(), f.tenant_id, 'x', f.content_type, 0, f.sha256
        from dws.stored_file f join dws.app_file a on a.file_id = f.id, generate_series(1, 499)
        where a.app_id = $1
        returning id, tenant_id
      )
      insert into dws.app_file (id, tenant_id, app_id, path, content_type, file_id)
      select gen_random_uuid(), tenant_id, $1, id::text, 'text/plain', id from copies`,
    values: [id],
  });
  await expectError(putFile(admin, id, 'one-more.txt', 'x'), 413, 'An app has at most 500 files');
  expect((await putFile(admin, id, '0.txt', 'y')).status).toBe(200);
});

test('If-Match applies to the contents', async ({ admin }) => {
  const id = await createApp(admin, 'Matching', { 'a.txt': 'one' });
  const tag = `"${sha256('one')}"`;
  await expectError(
    putFile(admin, id, 'a.txt', 'two', { 'if-match': `"${sha256('other')}"` }),
    412,
    'The file of the app has changed since you read it',
  );
  await expectError(
    putFile(admin, id, 'b.txt', 'two', { 'if-match': tag }),
    412,
    'The file of the app has changed since you read it',
  );
  expect((await putFile(admin, id, 'a.txt', 'two', { 'if-match': tag })).status).toBe(200);
  expect((await admin.delete(`/apps/${id}/files/a.txt`, { 'if-match': tag })).status).toBe(412);
  expect((await admin.delete(`/apps/${id}/files/a.txt`, { 'if-match': `"${sha256('two')}"` })).status).toBe(204);
});

test('concurrent writers leave one whole file, and nothing else', async ({ admin, service }) => {
  const id = await createApp(admin, 'Race');
  const contents = Array.from({ length: 8 }, (_, n) => `${n}`.repeat(10_000));
  const responses = await Promise.all(contents.map((content) => putFile(admin, id, 'a.txt', content)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  expect(contents).toContain(await (await getFile(admin, id, 'a.txt')).text());
  const [count] = await service.platform.system.query<{ rows: number }>({
    text: `select count(*) as rows from dws.stored_file where filename = 'a.txt'`,
  });
  expect(count!.rows).toBe(1);
  const [kept] = await service.platform.system.query<{ id: string }>({
    text: 'select file_id as id from dws.app_file where app_id = $1',
    values: [id],
  });
  const bytes = await service.platform.files.read(kept!.id);
  expect(bytes).toHaveLength(10_000);
  await admin.delete(`/apps/${id}`);
  expect(await service.platform.files.read(kept!.id)).toBeUndefined();
});

test('code is for those who may write the app', async ({ admin, ann, bob, stranger, anonymous }) => {
  const id = await createApp(admin, 'Shared', { 'a.js': 'x', 'migrations/1.sql': 'select 1' });
  await admin.put(`/apps/${id}/shares/${ann.id}`, { accessLevel: 2 });
  await admin.put(`/apps/${id}/shares/${bob.id}`, { accessLevel: 1 });
  const [{ body: list }] = [await ann.get(`/apps/${id}/files`)];
  expect(list.total).toBe(2);
  const calls: [string, (client: typeof ann, app: string) => Promise<{ status: number; body: { message: string } }>][] =
    [
      ['GET files', (client, app) => client.get(`/apps/${app}/files`)],
      ['GET file', (client, app) => client.get(`/apps/${app}/files/a.js`)],
      ['PUT file', (client, app) => putFile(client, app, 'b.js', 'x')],
      ['DELETE file', (client, app) => client.delete(`/apps/${app}/files/a.js`)],
      ['GET migrations', (client, app) => client.get(`/apps/${app}/migrations`)],
      ['POST _migrate', (client, app) => client.post(`/apps/${app}/_migrate`)],
    ];
  const outcome = async (call: (typeof calls)[number][1], client: typeof ann, app = id) => {
    const { status, body } = await call(client, app);
    return [status, body.message];
  };
  for (const [name, call] of calls) {
    expect(await outcome(call, anonymous), name).toEqual([401, 'Missing authentication']);
    expect(await outcome(call, bob), name).toEqual([403, 'You lack the permission app:write']);
    expect(await outcome(call, stranger), name).toEqual([404, `There is no app ${id}`]);
    expect(await outcome(call, admin, UNKNOWN_ID), name).toEqual([404, `There is no app ${UNKNOWN_ID}`]);
  }
  await expectError(ann.get(`/apps/${id}/files/missing.js`), 404, 'There is no file of the app missing.js');
  // Not by its id either.
  const { data } = await ann.gql(`query ($id: ID!) { app(id: $id) { file(path: "a.js") { id } } }`, { id });
  const node = { id: (data as { app: { file: { id: string } } }).app.file.id };
  const byId = 'query ($id: ID!) { node(id: $id) { ... on AppFile { path } } }';
  expect((await ann.gql(byId, node)).data).toEqual({ node: { path: 'a.js' } });
  expect((await bob.gql(byId, node)).data).toEqual({ node: null });
  const fields = await bob.gql(`query ($id: ID!) { app(id: $id) { name files { path } } }`, { id });
  expect(fields.errors?.[0]).toMatchObject({ message: 'You lack the permission app:write' });
  for (const [name, call] of calls.filter(([one]) => one !== 'DELETE file'))
    expect((await outcome(call, ann))[0], name).toBeLessThan(300);
});

test('changes of files are activity of the app', async ({ admin }) => {
  const id = await createApp(admin, 'Active files', { 'a.txt': 'x' });
  await putFile(admin, id, 'a.txt', 'y');
  await admin.delete(`/apps/${id}/files/a.txt`);
  const { body } = await admin.get(`/apps/${id}/activity`);
  expect(body._embedded['svc:activity'].map(({ message }: { message: string }) => message)).toEqual([
    'admin took the file a.txt out of Active files',
    'admin changed the file a.txt of Active files',
    'admin added the file a.txt to Active files',
    'admin created Active files',
  ]);
});

import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import {
  createFile,
  createFilled,
  createTemplate,
  createUpload,
  fileNames,
  filePath,
  readFile,
  test,
} from './template-fixture.ts';

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

test('a new file is empty and has the media type of its extension', async ({ ann }) => {
  const template = await createTemplate(ann);
  const created = await ann.post(`${template.path}/files`, { filename: 'parts/head.HTML', role: 'TEMPLATE' });
  const path = `${template.path}/files/${created.body.id}`;
  expect(created).toMatchObject({
    status: 201,
    body: {
      templateId: template.id,
      filename: 'parts/head.HTML',
      role: 'TEMPLATE',
      contentType: 'text/html',
      size: 0,
      sha256: EMPTY,
      embedded: false,
      contentsUrl: `/api${path}/contents`,
      _links: {
        self: { href: `/api${path}` },
        'svc:template': { href: `/api${template.path}` },
        'svc:file-contents': { href: `/api${path}/contents` },
      },
    },
  });
  expect(created.headers.get('location')).toBe(`/api${path}`);
  expect(await readFile(ann, template, created.body.id)).toBe('');
  await expectBody(ann.get(filePath(template, 'parts/head.HTML')), 200, { id: created.body.id });
  await expectBody(ann.post(`${template.path}/files`, { filename: 'x.unknown', role: 'DATA' }), 201, {
    contentType: 'application/octet-stream',
  });
  await expectBody(
    ann.post(`${template.path}/files`, { filename: 'y.csv', role: 'DATA', contentType: 'text/plain; charset=latin1' }),
    201,
    { contentType: 'text/plain; charset=latin1' },
  );
  expect(await fileNames(ann, template)).toEqual(['parts/head.HTML', 'x.unknown', 'y.csv']);
});

test('names of files are refused that could be other paths', async ({ ann }) => {
  const template = await createTemplate(ann);
  const hostile = [
    '',
    ' ',
    '.',
    '..',
    '../x',
    'a/../b',
    'a/./b',
    'a//b',
    '/a',
    'a/',
    'a/ /b',
    'a\\b',
    'a\nb',
    'a\u0000b',
    'a\u0085b',
    'a\u202eb',
    '\ud800',
    'x'.repeat(256),
    '1/2/3/4/5/6/7/8/9/x',
  ];
  for (const filename of hostile)
    await expectInvalid(ann.post(`${template.path}/files`, { filename, role: 'ASSET' }), 'filename', /^"?filename/);
  const form = createUpload('x', 'x.png', { filename: '../x.png' });
  await expectInvalid(ann.post(`${template.path}/files/_upload`, form), 'filename', /must be a file name/);
  const after = new FormData();
  after.append('file', new Blob(['x']), 'x.png');
  after.append('filename', 'a//b');
  await expectInvalid(ann.post(`${template.path}/files/_upload`, after), 'filename', /must be a file name/);
  expect(await fileNames(ann, template)).toEqual([]);
  for (const filename of ['1/2/3/4/5/6/7/8/x', '...', 'a b', '.hidden', '😀'.repeat(255), '%2F..%5C', UNKNOWN_ID])
    await expectBody(ann.get(filePath(template, await createFile(ann, template, filename))), 200, { filename });
  for (const filename of ['1/2/3/4/5/6/7/8/x', '😀'.repeat(255), '%2F..%5C', UNKNOWN_ID])
    await expectBody(ann.get(filePath(template, filename)), 200, { filename });
});

test('names are unique in their normal form', async ({ ann }) => {
  const template = await createTemplate(ann);
  const [composed, decomposed] = ['\u00fcber.png', 'u\u0308ber.png'];
  const id = await createFile(ann, template, decomposed);
  await expectBody(ann.get(filePath(template, decomposed)), 200, { id, filename: composed });
  for (const filename of [composed, decomposed])
    await expectError(
      ann.post(`${template.path}/files`, { filename, role: 'ASSET' }),
      409,
      `The template already has a file "${composed}"`,
    );
  const other = await createFile(ann, template, 'other.png');
  await expectStatus(ann.put(filePath(template, other), { filename: decomposed }), 409);
  await expectStatus(ann.put(filePath(template, id), { filename: decomposed }), 200);
  await expectStatus(ann.post(`${template.path}/files/_upload`, createUpload('x', composed)), 409);
  expect(await fileNames(ann, template)).toEqual(['other.png', composed]);
});

test('an upload is a TEMPLATE if it is the first one of the engine, else an ASSET', async ({ ann }) => {
  const template = await createTemplate(ann);
  const upload = (filename: string, fields?: Record<string, string>) =>
    ann.post(`${template.path}/files/_upload`, createUpload('<b>hi</b>', filename, fields));
  await expectBody(upload('logo.png', { embedded: 'true' }), 201, {
    role: 'ASSET',
    contentType: 'image/png',
    size: 9,
    embedded: true,
  });
  await expectBody(ann.get(template.path), 200, { templateFileId: null });
  await expectError(ann.get(`${template.path}/template-file`), 404);
  const first = await expectBody(upload('report.njk'), 201, { role: 'TEMPLATE', contentType: 'text/plain' });
  await expectBody(upload('report.csv.njk'), 201, { role: 'ASSET' });
  await expectBody(upload('second.njk', { role: 'TEMPLATE' }), 201, { role: 'TEMPLATE' });
  await expectBody(upload('ignored.txt', { role: 'DATA', filename: 'prices/a.json' }), 201, {
    role: 'DATA',
    filename: 'prices/a.json',
    contentType: 'application/json',
  });
  await expectBody(ann.get(template.path), 200, { templateFileId: first.id });
  await expectBody(ann.get(`${template.path}/template-file`), 200, { id: first.id, filename: 'report.njk' });
  await expectError(upload('x', { role: 'OTHER' }), 400, /"role"/);
  await expectStatus(ann.post(`${template.path}/files/_upload`, {}), 415);
});

test('a part with a path as its name becomes a file without folders', async ({ ann }) => {
  const template = await createTemplate(ann);
  const boundary = 'hostile';
  for (const name of ['../../etc/passwd', '..\\..\\secret.txt', '/x.png']) {
    const body =
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\nbytes` +
      `\r\n--${boundary}--\r\n`;
    await expectStatus(
      ann.post(`${template.path}/files/_upload`, body, { 'content-type': `multipart/form-data; boundary=${boundary}` }),
      201,
    );
  }
  expect(await fileNames(ann, template)).toEqual(['passwd', 'secret.txt', 'x.png']);
});

test('a file keeps its role, and with the role TEMPLATE its name', async ({ ann }) => {
  const template = await createTemplate(ann);
  const file = filePath(template, await createFile(ann, template, 'report.njk', 'TEMPLATE'));
  const asset = filePath(template, await createFile(ann, template, 'logo.png'));
  await expectInvalid(ann.put(file, { filename: 'other.njk' }), 'filename', /of a file with the role TEMPLATE/);
  await expectBody(ann.put(file, { filename: 'report.njk', contentType: 'text/html' }), 200, {
    contentType: 'text/html',
  });
  await expectError(ann.put(asset, { role: 'DATA' }), 400, /role/);
  await expectInvalid(ann.put(asset, { contentType: 'text' }), 'contentType', /must be a media type/);
  await expectInvalid(ann.put(asset, { filename: null }), 'filename', /must not be null/);
  const { body, headers } = await ann.get(asset);
  await expectBody(ann.put(asset, { ...body, filename: 'brand/logo.png', embedded: true }), 200, {
    filename: 'brand/logo.png',
    embedded: true,
    role: 'ASSET',
  });
  await expectStatus(ann.put(asset, { embedded: false }, { 'if-match': headers.get('etag')! }), 412);
  await expectStatus(ann.delete(asset, { 'if-match': headers.get('etag')! }), 412);
});

test('the file to render is of the template and of the role TEMPLATE', async ({ ann }) => {
  const template = await createTemplate(ann);
  const other = await createTemplate(ann);
  const file = await createFile(ann, template, 'a.njk', 'TEMPLATE');
  const asset = await createFile(ann, template, 'logo.png');
  const foreign = await createFile(ann, other, 'b.njk', 'TEMPLATE');
  for (const [path, field] of [
    [template.path, 'templateFileId'],
    [`${template.path}/template-file`, 'templateFileId'],
  ] as const) {
    await expectInvalid(ann.put(path, { [field]: asset }), field, /must be a file with the role TEMPLATE/);
    await expectError(ann.put(path, { [field]: foreign }), 404, `There is no template file ${foreign}`);
    await expectError(ann.put(path, { [field]: 'a.njk' }), 404, 'There is no template file a.njk');
    await expectBody(ann.put(path, { [field]: null }), 200, { templateFileId: null });
    await expectBody(ann.put(path, { [field]: file }), 200, { id: template.id, templateFileId: file });
  }
  await expectInvalid(ann.put(`${template.path}/template-file`, {}), 'templateFileId', /is required/);
  await expectError(ann.post('/templates', { name: 'T', templateFileId: file }), 404);
});

test('a letterhead is an ASSET that can be laid under a page, and stays one', async ({ ann }) => {
  const template = await createTemplate(ann);
  const pdf = await createFile(ann, template, 'head.pdf');
  const text = await createFile(ann, template, 'head.txt');
  const data = (await ann.creates(`${template.path}/files`, { filename: 'd.png', role: 'DATA' })).id;
  for (const id of [text, data])
    await expectInvalid(ann.put(template.path, { letterheadId: id }), 'letterheadId', /PDF, PNG, JPEG or SVG/);
  await expectError(ann.put(template.path, { letterheadId: UNKNOWN_ID }), 404);
  await expectBody(ann.put(template.path, { letterheadId: pdf }), 200, { letterheadId: pdf });
  await expectInvalid(ann.put(filePath(template, pdf), { contentType: 'text/plain' }), 'contentType', /letterhead/);
  const query = `query ($id: ID!) { template(id: $id) { letterhead { filename template { id } } templateFile { id } } }`;
  expect(await ann.data(query, { id: template.id })).toEqual({
    template: { letterhead: { filename: 'head.pdf', template: { id: template.id } }, templateFile: null },
  });
});

test('a deleted file leaves nothing that refers to it', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const file = await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
  const head = await createFilled(ann, template, 'head.png', 'two');
  const settings = { logo: head, list: [head, 'x', { deep: file }], text: `id ${head}`, [head]: 1 };
  await expectStatus(ann.put(template.path, { letterheadId: head, settings }), 200);
  const stored = await systemQuery<{ id: string }>(
    service,
    `select file_id as id from dws.template_file where template_id = $1`,
    template.id,
  );
  expect(stored).toHaveLength(2);
  await expectStatus(ann.delete(filePath(template, 'head.png')), 204);
  await expectStatus(ann.delete(filePath(template, file)), 204);
  await expectBody(ann.get(template.path), 200, {
    templateFileId: null,
    letterheadId: null,
    settings: { logo: null, list: [null, 'x', { deep: null }], text: `id ${head}`, [head]: 1 },
  });
  await expectError(ann.get(filePath(template, head)), 404, `There is no template file ${head}`);
  await expectStatus(ann.delete(filePath(template, head)), 404);
  const ids = stored.map(({ id }) => id);
  expect(await systemQuery(service, `select id from dws.stored_file where id = any($1::uuid[])`, ids)).toEqual([]);
  const bytes = (await service.platform.files.list()).filter(({ id }) => ids.includes(id));
  expect(bytes).toEqual([]);
  // The next TEMPLATE file is the first one again.
  const next = await createFile(ann, template, 'b.njk', 'TEMPLATE');
  await expectBody(ann.get(template.path), 200, { templateFileId: next });
});

test('GraphQL does the same', async ({ ann, bob }) => {
  const template = await createTemplate(ann);
  const { createTemplateFile: created } = await ann.data(
    `mutation ($id: ID!) {
      createTemplateFile(templateId: $id, input: { filename: "a.njk", role: TEMPLATE }) { id size role }
    }`,
    { id: template.id },
  );
  expect(created).toMatchObject({ size: 0, role: 'TEMPLATE' });
  const { uploadTemplateFile: uploaded } = await ann.data(
    `mutation ($id: ID!) {
      uploadTemplateFile(templateId: $id, input: { file: "data:image/png,abc", filename: "x/logo.png" }) {
        id filename size contentsUrl
      }
    }`,
    { id: template.id },
  );
  expect(uploaded).toMatchObject({ filename: 'x/logo.png', size: 3 });
  expect((await ann.get(uploaded.contentsUrl.replace('/api', ''))).body).toBe('abc');
  const { setTemplateFileContents: written } = await ann.data(
    `mutation ($id: ID!) {
      setTemplateFileContents(templateId: $id, id: "a.njk", input: { file: "data:text/plain,hello" }) { id size }
    }`,
    { id: template.id },
  );
  expect(written).toEqual({ id: created.id, size: 5 });
  const { template: found } = await ann.data(
    `query ($id: ID!) {
      template(id: $id) { files { filename } file(id: "x/logo.png") { id embedded } templateFile { id } }
    }`,
    { id: template.id },
  );
  expect(found).toEqual({
    files: [{ filename: 'a.njk' }, { filename: 'x/logo.png' }],
    file: { id: uploaded.id, embedded: false },
    templateFile: { id: created.id },
  });
  const change = `mutation ($id: ID!) {
    updateTemplateFile(templateId: $id, id: "x/logo.png", input: { embedded: true }) { embedded }
    setTemplateFile(templateId: $id, templateFileId: null) { templateFileId }
    deleteTemplateFile(templateId: $id, id: "a.njk")
  }`;
  await expectStatus(ann.put(`${template.path}/shares/bob`, { accessLevel: 1 }), 200);
  const { errors } = await bob.gql(change, { id: template.id });
  expect(errors.map(({ message }: Error) => message)).toEqual(['You lack the permission template:write']);
  expect(await ann.data(change, { id: template.id })).toEqual({
    updateTemplateFile: { embedded: true },
    setTemplateFile: { templateFileId: null },
    deleteTemplateFile: 'a.njk',
  });
  await expectGraphqlError(
    ann.gql(`{ template(id: "${template.id}") { file(id: "a.njk") { id } } }`),
    'NOT_FOUND',
    'There is no template file a.njk',
  );
});

test('each route of files checks its callers', async ({ ann, bob, stranger, anonymous }) => {
  const template = await createTemplate(ann);
  const id = await createFilled(ann, template, 'a.txt', 'hello');
  const file = `${template.path}/files/${id}`;
  await expectStatus(ann.put(`${template.path}/shares/bob`, { accessLevel: 1 }), 200);
  const reads = [`${template.path}/files`, file, `${file}/contents`];
  for (const path of [...reads, `${template.path}/template-file`]) {
    await expectStatus(anonymous.get(path), 401, path);
    await expectStatus(stranger.get(path), 404, path);
    await expectStatus(ann.get(path.replace(template.id, UNKNOWN_ID)), 404, path);
  }
  for (const path of reads) await expectStatus(bob.get(path), 200, path);
  const changes: [method: string, path: string, body: object | undefined][] = [
    ['POST', `${template.path}/files`, { filename: 'b', role: 'ASSET' }],
    ['PUT', file, { embedded: true }],
    ['PUT', `${template.path}/template-file`, { templateFileId: null }],
    ['DELETE', file, undefined],
  ];
  for (const [method, path, body] of changes) {
    await expectStatus(anonymous.request(method, `/api${path}`, body), 401, path);
    await expectStatus(stranger.request(method, `/api${path}`, body), 404, path);
    await expectError(bob.request(method, `/api${path}`, body), 403, 'You lack the permission template:write');
    await expectStatus(ann.request(method, `/api${path.replace(template.id, UNKNOWN_ID)}`, body), 404, path);
  }
  const upload = `${template.path}/files/_upload`;
  for (const [client, status] of [
    [anonymous, 401],
    [stranger, 404],
    [bob, 403],
  ] as const) {
    await expectStatus(client.post(upload, createUpload('x', 'x.png')), status);
    await expectStatus(client.request('PUT', `/api${file}/contents`, 'x', { 'content-type': 'a/b' }), status);
  }
  await expectStatus(ann.get(`${template.path}/files/${UNKNOWN_ID}`), 404);
  await expectStatus(ann.get(`${template.path}/files/${UNKNOWN_ID}/contents`), 404);
  expect(await fileNames(ann, template)).toEqual(['a.txt']);
  expect(await readFile(ann, template, id)).toBe('hello');
});

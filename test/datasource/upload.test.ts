import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import {
  createForm,
  createSqliteFile,
  DATASETS,
  DATASOURCES,
  ORDERS,
  ORDER_ROWS,
  storedFiles,
  uploadFolder,
} from '../support/upload-form.ts';

// Each loaded upload starts several processes, which takes long on two busy cores.
test('a file becomes datasource, dataset and rows in one step, for a user who may create datasets', async ({
  ann,
  service,
}) => {
  const form = createForm(ORDERS, 'Orders 2026.csv', {
    before: { description: 'From the shop' },
    after: { slug: 'shop-orders' },
  });
  const { status, headers, body } = await ann.post(DATASETS, form);
  expect(status, JSON.stringify(body)).toBe(201);
  expect(headers.get('location')).toBe(`/api/datasets/${body.id}`);
  expect(body).toMatchObject({
    name: 'Orders 2026',
    slug: 'shop-orders',
    description: 'From the shop',
    records: 3,
    ownerId: ann.id,
    lastRefresh: { success: true },
    fields: [{ name: 'id', type: 'integer' }, { name: 'region' }, { name: 'amount', type: 'number' }],
  });
  const rows = (await ann.get(`/datasets/${body.id}/data?sort=id`)).body._embedded['svc:record'];
  expect(rows).toEqual(ORDER_ROWS);

  const source = await ann.get(`/datasources/${body.datasourceId}`);
  expect(source.body).toMatchObject({
    type: 'file',
    name: 'Orders 2026',
    ownerId: ann.id,
    embedded: true,
    file: { filename: 'Orders 2026.csv', size: ORDERS.length, contentType: 'text/csv' },
  });
  const [stored] = await runSql(
    service.databaseUrl,
    `select f.id, sha256 from dws.stored_file f join dws.datasource d on d.file_id = f.id where d.id = $1`,
    [body.datasourceId],
  );
  expect(readFileSync(join(uploadFolder(service), String(stored!.id)), 'utf8')).toBe(ORDERS);
  expect(JSON.stringify([body, source.body]), 'the id of the file is internal').not.toContain(stored!.id);

  await expectBody(ann.post(`/datasets/${body.id}/_refresh`), 200, { records: 3, previousRecordCount: 3 });
  await expectBody(ann.post(`/datasources/${body.datasourceId}/_test`), 200, { ok: true });
});

test('GraphQL accepts a file as a data: URL or base64 and returns the same dataset', async ({ ann }) => {
  const upload = `mutation ($input: UploadDatasetInput!) {
    uploadDataset(input: $input) {
      operation { status resource { kind id } }
      result { id name records owner { id } data(sort: "id") { items } }
    }
  }`;
  const base64 = Buffer.from(ORDERS).toString('base64');
  for (const file of [`data:text/csv;base64,${base64}`, base64]) {
    const { uploadDataset } = await ann.data(upload, { input: { file, filename: 'orders.csv' } });
    expect(uploadDataset).toMatchObject({
      operation: { status: 'SUCCEEDED', resource: { kind: 'DATASET', id: uploadDataset.result.id } },
      result: { name: 'orders', records: 3, owner: { id: ann.id }, data: { items: ORDER_ROWS } },
    });
  }
  for (const file of ['*', 7, { content: [] }]) {
    const { status, errors } = await ann.gql(upload, { input: { file, filename: 'orders.csv' } });
    expect(status).toBe(400);
    expect(errors[0].message).toContain('A file must be a `data:` URL or base64');
  }
});

test('a user who may create datasources creates one from a file and queries it', async ({ admin, ann }) => {
  await expectError(ann.post(DATASOURCES, createForm(ORDERS)), 403, 'You lack the permission datasources:create');

  const form = createForm(ORDERS, 'orders.csv', { before: { name: 'The orders', ownerId: ann.id } });
  const { status, headers, body } = await admin.post(DATASOURCES, form);
  const path = `/datasources/${body.id}`;
  expect(status, JSON.stringify(body)).toBe(201);
  expect(headers.get('location')).toBe(`/api${path}`);
  expect(body).toMatchObject({
    name: 'The orders',
    type: 'file',
    embedded: false,
    ownerId: ann.id,
    file: { filename: 'orders.csv' },
  });

  const [table] = (await ann.get(`${path}/schema`)).body.tables;
  expect(table.columns.map(({ name }: { name: string }) => name)).toEqual(['id', 'region', 'amount']);
  const query = `select sum(amount) as s from "${table.name}"`;
  expect((await ann.post(`${path}/_query`, { query })).body.rows).toEqual([{ s: 37.5 }]);

  const edited = { ...(await ann.get(path)).body, description: 'Edited' };
  await expectBody(ann.put(path, edited), 200, { description: 'Edited', file: body.file });
  expect(await admin.data(`{ datasource(id: "${body.id}") { file { filename size contentType } } }`)).toMatchObject({
    datasource: { file: { filename: 'orders.csv', size: ORDERS.length, contentType: 'text/csv' } },
  });
});

test('a datasource that reads a file cannot be created from a config', async ({ admin }) => {
  for (const type of ['file', 'sqlite']) {
    const response = admin.post('/datasources', { name: 'X', type, config: { path: '/etc/passwd' } });
    await expectError(response, 400, /_upload/);
  }
});

test('a part that is malformed JSON is 400, and a list is JSON in one part', async ({ admin }) => {
  // FormData gives every part with a media type a file name.
  const withTags = (content: string) =>
    admin.post(
      DATASOURCES,
      [
        '--x\r\ncontent-disposition: form-data; name="tags"\r\ncontent-type: application/json\r\n',
        `${content}\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="orders.csv"\r\n`,
        `${ORDERS}\r\n--x--\r\n`,
      ].join('\r\n'),
      { 'content-type': 'multipart/form-data; boundary=x' },
    );
  await expectError(withTags('[1'), 400, /JSON/);
  expect(await withTags('[]')).toMatchObject({ status: 201, body: { tags: [] } });
});

test('an upload is hidden from other users and from other tenants', async ({ ann, bob, stranger }) => {
  const { body } = await ann.post(DATASETS, createForm(ORDERS));
  const paths = [`/datasets/${body.id}`, `/datasets/${body.id}/data`, `/datasources/${body.datasourceId}`];
  for (const other of [bob, stranger]) {
    for (const path of paths) await expectError(other.get(path), 404);
    const listed = (await other.get('/datasources')).body._embedded['svc:datasource'];
    expect(listed).not.toContainEqual(expect.objectContaining({ id: body.datasourceId }));
  }
});

test('deleting a dataset deletes its uploaded file, unless something else uses it', async ({ ann }) => {
  const upload = async () => (await ann.post(DATASETS, createForm(ORDERS))).body;
  const [unshared, shared] = [await upload(), await upload()];
  await ann.creates('/queries', { name: 'On it', datasourceId: shared.datasourceId, query: 'select 1 as one' });
  for (const { id } of [unshared, shared]) expect((await ann.delete(`/datasets/${id}`)).status).toBe(204);
  await expectError(ann.get(`/datasources/${unshared.datasourceId}`), 404);
  expect((await ann.get(`/datasources/${shared.datasourceId}`)).status).toBe(200);
});

test('a file name never becomes a path', async ({ admin, service }) => {
  const cases: [input: string, filename: string, name: string][] = [
    ['../../etc/passwd.csv', 'passwd.csv', 'passwd'],
    ['C:\\Users\\Zoë\\Umsätze 日本.csv', 'Umsätze 日本.csv', 'Umsätze 日本'],
    ['ab\u202Ec.csv', 'abc.csv', 'abc'],
    [`${'x'.repeat(500)}.csv`, `${'x'.repeat(251)}.csv`, 'x'.repeat(251)],
    ['..', '..', '..'],
    ['', 'file', 'file'],
  ];
  const upload = `mutation ($input: UploadDatasourceInput!) {
    uploadDatasource(input: $input) { name file { filename } }
  }`;
  const file = `data:text/csv,${encodeURIComponent(ORDERS)}`;
  for (const [input, filename, name] of cases) {
    const { uploadDatasource } = await admin.data(upload, { input: { file, filename: input } });
    expect(uploadDatasource).toEqual({ name, file: { filename } });
  }
  expect((await admin.post(DATASOURCES, createForm(ORDERS, '../Zoë/日本.csv'))).body).toMatchObject({
    name: '日本',
    file: { filename: '日本.csv' },
  });
  expect(storedFiles(service).every((name) => /^[0-9a-f-]{36}$/.test(name))).toBe(true);
});

test('a SQLite database with several tables requires the name of a table or a query', async ({ ann }) => {
  const database = createSqliteFile('first', 'second "quoted"');
  const post = (fields: Record<string, string>, file = database) =>
    ann.post(DATASETS, createForm(file, 'shop.db', { before: fields }));
  await expectError(post({}), 400, 'table must be one of first, second "quoted"');
  await expectError(post({ table: 'third' }), 400, /first/);

  const loadRows = async (fields: Record<string, string>, file?: typeof database) => {
    const { status, body } = await post(fields, file);
    expect(status, JSON.stringify(body)).toBe(201);
    return (await ann.get(`/datasets/${body.id}/data`)).body._embedded['svc:record'];
  };
  expect(await loadRows({ table: 'second "quoted"' })).toEqual([{ id: 1, word: 'second "quoted"' }]);
  const params = JSON.stringify([{ name: 'word', dataType: 'string', defaultValue: 'first' }]);
  expect(await loadRows({ query: 'select count(*) as n from first where word = {{word}}', params })).toEqual([
    { n: 1 },
  ]);
  expect(await loadRows({}, createSqliteFile('only'))).toEqual([{ id: 1, word: 'only' }]);
});

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { FILE_LOCK } from '../../src/adapters/database/file-lock.ts';
import { newId } from '../../src/core/id.ts';
import { sweepFiles } from '../../src/operations/janitor.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { startService, type Service } from '../support/service.ts';

// Every upload that is loaded starts some processes; on two busy cores that adds up.
vi.setConfig({ testTimeout: 90_000 });

const ORDERS = 'id,region,amount\n1,EU,10.5\n2,US,20\n3,,7\n';
const FEW = 'id\n1\n';
const DATASETS = '/datasets/_upload';
const DATASOURCES = '/datasources/_upload';

/** A form with a file, and texts before and behind it. */
function form(
  content: BlobPart,
  filename = 'orders.csv',
  { before = {}, behind = {} }: { before?: Record<string, string>; behind?: Record<string, string> } = {},
): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(before)) data.append(name, value);
  data.append('whatever', new Blob([content], { type: 'text/csv' }), filename);
  for (const [name, value] of Object.entries(behind)) data.append(name, value);
  return data;
}
const texts = (before: Record<string, string>) => ({ before, behind: {} });

/** A SQLite database of these tables, each with one row. */
function sqlite(...tables: string[]): Uint8Array<ArrayBuffer> {
  const dir = mkdtempSync(join(tmpdir(), 'dws-sqlite-'));
  const database = new DatabaseSync(join(dir, 'db'));
  for (const table of tables) {
    const name = `"${table.replaceAll('"', '""')}"`;
    database.exec(
      `create table ${name} (id integer primary key, word text); insert into ${name} (word) values ('${table}')`,
    );
  }
  database.close();
  const bytes = new Uint8Array(readFileSync(join(dir, 'db')));
  rmSync(dir, { recursive: true });
  return bytes;
}

const folderOf = ({ platform }: Service): string => join(platform.config.DATA_DIR, 'files');
const filesOf = (service: Service): string[] => {
  try {
    return readdirSync(folderOf(service)).toSorted();
  } catch {
    return [];
  }
};
/** What of uploads is in the database, whoever's. */
const rowsOf = async (service: Service): Promise<unknown[]> =>
  runSql(
    service.databaseUrl,
    `select 'file' as kind, id from dws.stored_file union all select 'datasource', id from dws.datasource union all select 'dataset', id from dws.dataset order by id`,
  );

/** A service of the test's own, where nothing else leaves files. */
async function withService(
  variables: Record<string, string>,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  const service = await startService(variables);
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

test('a file becomes datasource, dataset and rows in one step, for whoever may create datasets', async ({
  ann,
  service,
}) => {
  const { status, headers, body } = await ann.post(
    DATASETS,
    form(ORDERS, 'Orders 2026.csv', { before: { description: 'From the shop' }, behind: { slug: 'shop-orders' } }),
  );
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
  expect(rows).toEqual([
    { id: 1, region: 'EU', amount: 10.5 },
    { id: 2, region: 'US', amount: 20 },
    { id: 3, region: null, amount: 7 },
  ]);

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
  expect(readFileSync(join(folderOf(service), String(stored!.id)), 'utf8')).toBe(ORDERS);
  expect(JSON.stringify([body, source.body])).not.toContain(stored!.id);

  expect(await ann.post(`/datasets/${body.id}/_refresh`)).toMatchObject({
    status: 200,
    body: { records: 3, previousRecordCount: 3 },
  });
  expect(await ann.post(`/datasources/${body.datasourceId}/_test`)).toMatchObject({ status: 200, body: { ok: true } });
});

test('GraphQL takes a file as a data: URL or base64 and answers the same', async ({ ann }) => {
  const upload = `mutation($input: UploadDatasetInput!) { uploadDataset(input: $input) { operation { status resource { kind id } } result { id name records owner { id } data(sort: "id") { items } } } }`;
  for (const file of [
    `data:text/csv;base64,${Buffer.from(ORDERS).toString('base64')}`,
    Buffer.from(ORDERS).toString('base64'),
  ]) {
    const { uploadDataset } = await ann.data(upload, { input: { file, filename: 'orders.csv' } });
    expect(uploadDataset).toMatchObject({
      operation: { status: 'SUCCEEDED', resource: { kind: 'dataset', id: uploadDataset.result.id } },
      result: {
        name: 'orders',
        records: 3,
        owner: { id: ann.id },
        data: {
          items: [
            { id: 1, region: 'EU', amount: 10.5 },
            { id: 2, region: 'US', amount: 20 },
            { id: 3, region: null, amount: 7 },
          ],
        },
      },
    });
  }
  for (const file of ['*', 7, { content: [] }])
    expect(await ann.gql(upload, { input: { file, filename: 'orders.csv' } })).toMatchObject({
      status: 400,
      errors: [{ message: expect.stringContaining('A file is a `data:` URL or base64') }],
    });
});

test('a datasource is made of a file by who may create datasources, and can be queried', async ({ admin, ann }) => {
  expect(await ann.post(DATASOURCES, form(ORDERS))).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission datasources:create' },
  });
  const { status, headers, body } = await admin.post(
    DATASOURCES,
    form(ORDERS, 'orders.csv', texts({ name: 'The orders', ownerId: ann.id })),
  );
  expect(status, JSON.stringify(body)).toBe(201);
  expect(headers.get('location')).toBe(`/api/datasources/${body.id}`);
  expect(body).toMatchObject({
    name: 'The orders',
    type: 'file',
    embedded: false,
    ownerId: ann.id,
    file: { filename: 'orders.csv' },
  });
  const { tables } = (await ann.get(`/datasources/${body.id}/schema`)).body;
  expect(tables[0].columns.map(({ name }: { name: string }) => name)).toEqual(['id', 'region', 'amount']);
  expect(
    (await ann.post(`/datasources/${body.id}/_query`, { query: `select sum(amount) as s from "${tables[0].name}"` }))
      .body.rows,
  ).toEqual([{ s: 37.5 }]);
  const edited = { ...(await ann.get(`/datasources/${body.id}`)).body, description: 'Edited' };
  expect(await ann.put(`/datasources/${body.id}`, edited)).toMatchObject({
    status: 200,
    body: { description: 'Edited', file: body.file },
  });
  expect(await admin.gql(`{ datasource(id: "${body.id}") { file { filename size contentType } } }`)).toMatchObject({
    data: { datasource: { file: { filename: 'orders.csv', size: ORDERS.length, contentType: 'text/csv' } } },
  });
});

test('what is an upload is not created from a config', async ({ admin }) => {
  for (const type of ['file', 'sqlite']) {
    expect(await admin.post('/datasources', { name: 'X', type, config: { path: '/etc/passwd' } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('_upload') },
    });
  }
});

test('a form without a file, with an unknown key, a key twice or a file of no known kind is refused, and nothing stays', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const twice = form(ORDERS);
    twice.append('name', 'one');
    twice.append('name', 'two');
    const none = new FormData();
    none.append('name', 'No file');
    const refusals: [FormData, string][] = [
      [none, 'The form has no file'],
      [twice, '"name" is given more than once'],
      [form(ORDERS, 'a.csv', texts({ colour: 'red' })), 'Unknown key "colour"'],
      [form(ORDERS, 'a.csv', { before: {}, behind: { colour: 'red' } }), 'Unknown key "colour"'],
      [form(ORDERS, 'a.csv', texts({ config: '{' })), '"config" is not well-formed JSON'],
      [
        form(new Uint8Array([0, 1, 2, 0xff, 0xfe, 0, 0]), 'strange.bin'),
        '"strange.bin" is not a supported file. Supported types: ',
      ],
    ];
    for (const path of [DATASETS, DATASOURCES]) {
      for (const [body, message] of refusals)
        expect(await admin.post(path, body)).toMatchObject({
          status: 400,
          body: { code: 'BAD_USER_INPUT', message: expect.stringContaining(message) },
        });
      expect(await admin.post(path, { file: 'x' })).toMatchObject({ status: 415 });
      expect(await admin.post(path)).toMatchObject({ status: 415 });
      expect(await admin.post(path, 'x', { 'content-type': 'multipart/form-data' })).toMatchObject({ status: 400 });
      expect(
        await admin.post(path, '--b\r\ncontent-disposition: form-data; name="f"; filename="x.csv"\r\n\r\na,b', {
          'content-type': 'multipart/form-data; boundary=b',
        }),
      ).toMatchObject({ status: 400 });
    }
    expect(await admin.post(DATASETS, form(ORDERS, 'a.csv', texts({ table: 'a', query: 'b' })))).toMatchObject({
      status: 400,
    });
    expect(await rowsOf(service)).toEqual([]);
    expect(filesOf(service)).toEqual([]);
  });
});

test('a file past MAX_UPLOAD_BYTES or the quota is 413, whether it says so before or not, and nothing stays', async () => {
  await withService({ MAX_UPLOAD_BYTES: '1000', TENANT_QUOTA_BYTES: '100000' }, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const large = {
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE', message: 'The file is larger than the maximum of 1000 bytes' },
    };
    expect(await admin.post(DATASETS, form(`id\n${'1\n'.repeat(1000)}`))).toMatchObject(large);
    expect(await admin.post(DATASETS, form('1\n'.repeat(8_000_000)))).toMatchObject(large);
    expect(
      await admin.gql(
        `mutation { uploadDatasource(input: { file: "${'QUFB'.repeat(500)}", filename: "a.csv" }) { id } }`,
      ),
    ).toMatchObject({ errors: [{ extensions: { code: 'PAYLOAD_TOO_LARGE', status: 413 } }] });
    expect(filesOf(service)).toEqual([]);
    const { body } = await admin.post(DATASOURCES, form(`id\n${'1\n'.repeat(498)}`));
    expect(body.file.size).toBe(999);
    await runSql(service.databaseUrl, `update dws.stored_file set size = 99990`);
    expect(await admin.post(DATASOURCES, form(ORDERS))).toMatchObject({ status: 413 });
    expect(filesOf(service)).toHaveLength(1);
  });
});

test('another tenant does not see an upload, nor does somebody else', async ({ ann, bob, stranger }) => {
  const { body } = await ann.post(DATASETS, form(ORDERS));
  for (const other of [bob, stranger]) {
    for (const path of [`/datasets/${body.id}`, `/datasets/${body.id}/data`, `/datasources/${body.datasourceId}`])
      expect(await other.get(path)).toMatchObject({ status: 404 });
    expect((await other.get('/datasources')).body._embedded['svc:datasource']).not.toContainEqual(
      expect.objectContaining({ id: body.datasourceId }),
    );
  }
});

test('a client that leaves in the middle leaves nothing behind', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const leaving = request(`${service.url}/api${DATASETS}`, {
      method: 'POST',
      agent: false,
      headers: { ...admin.headers, 'content-type': 'multipart/form-data; boundary=b', 'content-length': '10000000' },
    });
    leaving.on('error', () => {});
    leaving.write(`--b\r\ncontent-disposition: form-data; name="f"; filename="x.csv"\r\n\r\n${ORDERS.repeat(5000)}`);
    await expect.poll(() => filesOf(service), { timeout: 10_000 }).toEqual([expect.stringMatching(/\.saving$/)]);
    leaving.destroy();
    await expect.poll(() => filesOf(service), { timeout: 10_000 }).toEqual([]);
    expect(await rowsOf(service)).toEqual([]);
  });
});

test('an upload whose rows cannot be loaded leaves neither dataset nor datasource nor file, and says why', async () => {
  await withService({ MAX_DATASET_ROWS: '2' }, async (service) => {
    const ann = await service.user('ann');
    expect(await ann.post(DATASETS, form(ORDERS))).toMatchObject({
      status: 500,
      body: { code: 'UPSTREAM_FAILED', message: expect.stringContaining('2 rows') },
    });
    expect(
      await ann.post(
        DATASETS,
        form(FEW, 'a.csv', texts({ flow: JSON.stringify([{ type: 'remove', fields: ['nothing'] }]) })),
      ),
    ).toMatchObject({ status: 400, body: { message: expect.stringContaining('nothing') } });
    expect(await ann.post(DATASETS, form(FEW, 'a.csv', texts({ query: 'select nothing from nowhere' })))).toMatchObject(
      { status: 400 },
    );
    const answered = await ann.post(DATASETS, form(ORDERS), { prefer: 'respond-async' });
    expect(answered).toMatchObject({ status: 202, body: { operation: 'dataset.refresh' } });
    await expect
      .poll(async () => (await ann.get(`/progress/${answered.body.id}`)).body, { timeout: 20_000 })
      .toMatchObject({ status: 'failed', error: { statusCode: 500 } });
    expect(await rowsOf(service)).toEqual([]);
    await sweepFiles(service.platform, 0);
    expect(filesOf(service)).toEqual([]);
  });
});

test('an upload can be followed by its own name, and cancelled before or while it is loaded', async () => {
  await withService({ ROLE: 'web' }, async (service) => {
    const ann = await service.user('ann');
    const answered = await ann.post(
      DATASETS,
      form(sqlite('orders'), 'orders.db', { before: {}, behind: { progress: 'my upload' } }),
      { prefer: 'respond-async' },
    );
    expect(answered).toMatchObject({
      status: 202,
      body: { progress: 'my upload', status: 'queued', resource: { kind: 'dataset' } },
    });
    expect(answered.headers.get('location')).toBe(`/api/progress/${answered.body.id}`);
    expect(await ann.get(`/datasets/${answered.body.resource.id}`)).toMatchObject({
      status: 200,
      body: { records: 0 },
    });
    expect(await ann.delete('/progress/my%20upload')).toMatchObject({ status: 202, body: { status: 'cancelled' } });
    expect(await ann.get(`/datasets/${answered.body.resource.id}`)).toMatchObject({ status: 404 });
    expect(await rowsOf(service)).toEqual([]);
  });
  await withService({}, async (service) => {
    const ann = await service.user('ann');
    const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n';
    const answering = ann.post(
      DATASETS,
      form(sqlite('numbers'), 'numbers.db', texts({ query: endless, progress: 'endless' })),
    );
    await expect
      .poll(async () => (await ann.get('/progress/endless')).body.status, { timeout: 20_000 })
      .toBe('running');
    expect(await ann.delete('/progress/endless')).toMatchObject({ status: 202 });
    expect(await answering).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    expect(await rowsOf(service)).toEqual([]);
    expect(filesOf(service)).toEqual([]);
  });
});

test('the janitor removes files that no row names, and spares the young and those in use', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const { body } = await admin.post(DATASOURCES, form(ORDERS));
    const [used] = filesOf(service);
    mkdirSync(folderOf(service), { recursive: true });
    const [orphan, half] = [newId(), newId()];
    writeFileSync(join(folderOf(service), orphan), 'x');
    writeFileSync(join(folderOf(service), `${half}.saving`), 'x');
    await sweepFiles(service.platform, 3_600_000);
    expect(filesOf(service)).toHaveLength(3);
    const reader = new pg.Client({ connectionString: service.databaseUrl });
    await reader.connect();
    await reader.query(`select pg_advisory_lock_shared(${FILE_LOCK})`, [orphan]);
    await sweepFiles(service.platform, 0);
    expect(filesOf(service)).toEqual([used, orphan].toSorted());
    await reader.end();
    await sweepFiles(service.platform, 0);
    expect(filesOf(service)).toEqual([used]);

    expect(await admin.delete(`/datasources/${body.id}`)).toMatchObject({ status: 204 });
    expect(await rowsOf(service)).toEqual([]);
    await sweepFiles(service.platform, 0);
    expect(filesOf(service)).toEqual([]);
  });
});

test('a dataset takes the file it was uploaded as with it, unless something else uses that', async ({ ann }) => {
  const upload = async () => (await ann.post(DATASETS, form(ORDERS))).body;
  const [alone, shared] = [await upload(), await upload()];
  await ann.creates('/queries', { name: 'On it', datasourceId: shared.datasourceId, query: 'select 1 as one' });
  for (const { id } of [alone, shared]) expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
  expect(await ann.get(`/datasources/${alone.datasourceId}`)).toMatchObject({ status: 404 });
  expect(await ann.get(`/datasources/${shared.datasourceId}`)).toMatchObject({ status: 200 });
});

test('a filename makes no path, whatever it holds', async ({ admin, service }) => {
  const named: [string, string, string][] = [
    ['../../etc/passwd.csv', 'passwd.csv', 'passwd'],
    ['C:\\Users\\Zoë\\Umsätze 日本.csv', 'Umsätze 日本.csv', 'Umsätze 日本'],
    ['a\u0000b\u202Ec.csv', 'abc.csv', 'abc'],
    [`${'x'.repeat(500)}.csv`, `${'x'.repeat(251)}.csv`, 'x'.repeat(251)],
    ['..', '..', '..'],
    ['', 'file', 'file'],
  ];
  for (const [given, filename, name] of named) {
    const { uploadDatasource } = await admin.data(
      `mutation($input: UploadDatasourceInput!) { uploadDatasource(input: $input) { name file { filename } } }`,
      { input: { file: `data:text/csv,${encodeURIComponent(ORDERS)}`, filename: given } },
    );
    expect(uploadDatasource).toEqual({ name, file: { filename } });
  }
  expect((await admin.post(DATASOURCES, form(ORDERS, '../Zoë/日本.csv'))).body).toMatchObject({
    name: '日本',
    file: { filename: '日本.csv' },
  });
  expect(filesOf(service).every((name) => /^[0-9a-f-]{36}$/.test(name))).toBe(true);
});

test('of a SQLite database with several tables one is chosen by name, or a query says what to load', async ({
  ann,
}) => {
  const database = sqlite('first', 'second "quoted"');
  expect(await ann.post(DATASETS, form(database, 'shop.db'))).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^table must be one of first, second "quoted"$/) },
  });
  expect(await ann.post(DATASETS, form(database, 'shop.db', texts({ table: 'third' })))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('first') },
  });
  const rowsOfUpload = async (before: Record<string, string>, file = database) => {
    const { status, body } = await ann.post(DATASETS, form(file, 'shop.db', texts(before)));
    expect(status, JSON.stringify(body)).toBe(201);
    return (await ann.get(`/datasets/${body.id}/data`)).body._embedded['svc:record'];
  };
  expect(await rowsOfUpload({ table: 'second "quoted"' })).toEqual([{ id: 1, word: 'second "quoted"' }]);
  expect(
    await rowsOfUpload({
      query: 'select count(*) as n from first where word = {{word}}',
      params: JSON.stringify([{ name: 'word', dataType: 'string', defaultValue: 'first' }]),
    }),
  ).toEqual([{ n: 1 }]);
  expect(await rowsOfUpload({}, sqlite('only'))).toEqual([{ id: 1, word: 'only' }]);
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { FILE_LOCK } from '../../src/adapters/database/file-lock.ts';
import { newId } from '../../src/core/id.ts';
import { sweepFiles } from '../../src/operations/janitor.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import {
  createForm,
  createSqliteFile,
  DATASETS,
  DATASOURCES,
  ORDERS,
  storedFiles,
  uploadFolder,
  uploadRows,
  withService,
} from '../support/upload-form.ts';

// Each loaded upload starts several processes, which takes long on two busy cores.
const ONE_ROW = 'id\n1\n';
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' };
const PART_HEADER = '--b\r\ncontent-disposition: form-data; name="f"; filename="x.csv"\r\n\r\n';

test('an invalid form is refused and leaves nothing behind', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const withoutFile = new FormData();
    withoutFile.append('name', 'No file');
    const repeatedKey = createForm(ORDERS, 'orders.csv', { after: { name: 'one' } });
    repeatedKey.append('name', 'two');
    const invalidForms: [FormData, string][] = [
      [withoutFile, 'The form has no file'],
      [repeatedKey, '"name" is given more than once'],
      [createForm(ORDERS, 'a.csv', { before: { colour: 'red' } }), 'Unknown key "colour"'],
      [createForm(ORDERS, 'a.csv', { after: { colour: 'red' } }), 'Unknown key "colour"'],
      [createForm(ORDERS, 'a.csv', { before: { config: '{' } }), '"config" is not well-formed JSON'],
      [
        createForm(new Uint8Array([0, 1, 2, 0xff, 0xfe, 0, 0]), 'strange.bin'),
        '"strange.bin" is not a supported file. Supported types: ',
      ],
    ];
    for (const path of [DATASETS, DATASOURCES]) {
      for (const [form, message] of invalidForms) {
        const body = { code: 'BAD_USER_INPUT', message: expect.stringContaining(message) };
        await expectBody(admin.post(path, form), 400, body);
      }
      await expectError(admin.post(path, { file: 'x' }), 415);
      await expectError(admin.post(path), 415);
      await expectError(admin.post(path, 'x', { 'content-type': 'multipart/form-data' }), 400);
      await expectError(admin.post(path, `${PART_HEADER}a,b`, MULTIPART), 400);
    }
    const tableAndQuery = createForm(ORDERS, 'a.csv', { before: { table: 'a', query: 'b' } });
    await expectError(admin.post(DATASETS, tableAndQuery), 400);
    expect(await uploadRows(service)).toEqual([]);
    expect(storedFiles(service)).toEqual([]);
  });
});

test('a file past MAX_UPLOAD_BYTES or the quota is 413 and not stored, with or without a declared size', async () => {
  await withService({ MAX_UPLOAD_BYTES: '1000', TENANT_QUOTA_BYTES: '100000' }, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const tooLarge = { code: 'PAYLOAD_TOO_LARGE', message: 'The file is larger than the maximum of 1000 bytes' };
    await expectBody(admin.post(DATASETS, createForm(`id\n${'1\n'.repeat(1000)}`)), 413, tooLarge);
    await expectBody(admin.post(DATASETS, createForm('1\n'.repeat(8_000_000))), 413, tooLarge);
    const file = 'QUFB'.repeat(500);
    const upload = admin.gql(`mutation { uploadDatasource(input: { file: "${file}", filename: "a.csv" }) { id } }`);
    await expectGraphqlError(upload, 'PAYLOAD_TOO_LARGE');
    expect((await upload).errors[0].extensions.status).toBe(413);
    expect(storedFiles(service)).toEqual([]);

    const { body } = await admin.post(DATASOURCES, createForm(`id\n${'1\n'.repeat(498)}`));
    expect(body.file.size).toBe(999);
    await runSql(service.databaseUrl, `update dws.stored_file set size = 99990`);
    await expectError(admin.post(DATASOURCES, createForm(ORDERS)), 413);
    expect(storedFiles(service)).toHaveLength(1);
  });
});

test('an upload whose client disconnects leaves nothing behind', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const call = request(`${service.url}/api${DATASETS}`, {
      method: 'POST',
      agent: false,
      headers: { ...admin.headers, ...MULTIPART, 'content-length': '10000000' },
    });
    call.on('error', () => {});
    call.write(`${PART_HEADER}${ORDERS.repeat(5000)}`);
    await expect.poll(() => storedFiles(service)).toEqual([expect.stringMatching(/\.saving$/)]);
    call.destroy();
    await expect.poll(() => storedFiles(service)).toEqual([]);
    expect(await uploadRows(service)).toEqual([]);
  });
});

test('an upload whose rows cannot be loaded fails and leaves nothing behind', async () => {
  await withService({ MAX_DATASET_ROWS: '2' }, async (service) => {
    const ann = await service.user('ann');
    const withFields = (before: Record<string, string>) => createForm(ONE_ROW, 'a.csv', { before });
    await expectBody(ann.post(DATASETS, createForm(ORDERS)), 413, {
      code: 'PAYLOAD_TOO_LARGE',
      message: expect.stringContaining('2 rows'),
    });
    const upload = 'mutation ($input: UploadDatasetInput!) { uploadDataset(input: $input) { operation { id } } }';
    const input = { file: `data:text/csv;base64,${Buffer.from(ORDERS).toString('base64')}`, filename: 'a.csv' };
    await expectGraphqlError(ann.gql(upload, { input }), 'PAYLOAD_TOO_LARGE', /2 rows/);
    const flow = JSON.stringify([{ type: 'remove', fields: ['nothing'] }]);
    await expectError(ann.post(DATASETS, withFields({ flow })), 400, /nothing/);
    await expectError(ann.post(DATASETS, withFields({ query: 'select nothing from nowhere' })), 400);

    const preferAsync = { prefer: 'respond-async' };
    const { id } = await expectBody(ann.post(DATASETS, createForm(ORDERS), preferAsync), 202, {
      operation: 'dataset.refresh',
    });
    await expect
      .poll(async () => (await ann.get(`/progress/${id}`)).body)
      .toMatchObject({ status: 'failed', error: { statusCode: 413 } });
    expect(await uploadRows(service)).toEqual([]);
    await sweepFiles(service.platform, 0);
    expect(storedFiles(service)).toEqual([]);
  });
});

test('a queued upload can be followed and cancelled by its progress name', async () => {
  await withService({ ROLE: 'web' }, async (service) => {
    const ann = await service.user('ann');
    const form = createForm(createSqliteFile('orders'), 'orders.db', { after: { progress: 'my upload' } });
    const { status, headers, body } = await ann.post(DATASETS, form, { prefer: 'respond-async' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ progress: 'my upload', status: 'queued', resource: { kind: 'dataset' } });
    expect(headers.get('location')).toBe(`/api/progress/${body.id}`);
    await expectBody(ann.get(`/datasets/${body.resource.id}`), 200, { records: 0 });

    await expectBody(ann.delete('/progress/my%20upload'), 202, { status: 'cancelled' });
    await expectError(ann.get(`/datasets/${body.resource.id}`), 404);
    expect(await uploadRows(service)).toEqual([]);
  });
});

test('a running upload can be cancelled by its progress name', async () => {
  await withService({}, async (service) => {
    const ann = await service.user('ann');
    const query = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n';
    const form = createForm(createSqliteFile('numbers'), 'numbers.db', { before: { query, progress: 'endless' } });
    const upload = ann.post(DATASETS, form);
    await expect.poll(async () => (await ann.get('/progress/endless')).body.status).toBe('running');
    expect((await ann.delete('/progress/endless')).status).toBe(202);
    await expectBody(upload, 409, { code: 'CANCELLED' });
    expect(await uploadRows(service)).toEqual([]);
    expect(storedFiles(service)).toEqual([]);
  });
});

test('the janitor deletes files without a row, except new files and files in use', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const { body } = await admin.post(DATASOURCES, createForm(ORDERS));
    const [used] = storedFiles(service);
    mkdirSync(uploadFolder(service), { recursive: true });
    const [orphan, unfinished] = [newId(), newId()];
    writeFileSync(join(uploadFolder(service), orphan), 'x');
    writeFileSync(join(uploadFolder(service), `${unfinished}.saving`), 'x');
    await sweepFiles(service.platform, 3_600_000);
    expect(storedFiles(service)).toHaveLength(3);

    const reader = new pg.Client({ connectionString: service.databaseUrl });
    await reader.connect();
    await reader.query(`select pg_advisory_lock_shared(${FILE_LOCK})`, [orphan]);
    await sweepFiles(service.platform, 0);
    expect(storedFiles(service)).toEqual([used, orphan].toSorted());
    await reader.end();
    await sweepFiles(service.platform, 0);
    expect(storedFiles(service)).toEqual([used]);

    expect((await admin.delete(`/datasources/${body.id}`)).status).toBe(204);
    expect(await uploadRows(service)).toEqual([]);
    await sweepFiles(service.platform, 0);
    expect(storedFiles(service)).toEqual([]);
  });
});

import { writeXlsx } from 'hucre/xlsx';
import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { createForm, storedFiles, withService } from '../support/upload-form.ts';
import { fileOf, REPLACE, rowsOf, upload } from './replacement.ts';

const ONE = 'id;amount\n1;10\n';
const TWO = 'id;amount\n1;10\n2;20\n';
const refreshing = { before: { refresh: 'true' } };

test('replacing a file requires datasource:write and an uploaded file, in both APIs', async ({
  admin,
  anonymous,
  bob,
  stranger,
}) => {
  const { datasourceId, path } = await upload(admin, ONE, 'one.csv');
  const variables = { id: datasourceId, input: { file: fileOf(TWO), filename: 'two.csv' } };
  const shop = await admin.creates('/datasources', {
    name: 'Shop',
    type: 'postgres',
    config: { host: 'db.example.com', database: 'shop', user: 'reader' },
  });
  await expectError(anonymous.post(path, createForm(TWO)), 401);
  for (const client of [stranger, bob]) {
    await expectError(client.post(path, createForm(TWO)), 404);
    await expectGraphqlError(client.gql(REPLACE, variables), 'NOT_FOUND');
  }
  await admin.put(`/datasources/${datasourceId}/shares/bob`, { accessLevel: 1 });
  const lacking = 'You lack the permission datasource:write';
  await expectError(bob.post(path, createForm(TWO)), 403, lacking);
  await expectGraphqlError(bob.gql(REPLACE, variables), 'FORBIDDEN', lacking);

  const message = 'The datasource has no uploaded file: its type is "postgres"';
  await expectError(admin.post(`/datasources/${shop.id}/_upload`, createForm(TWO)), 400, message);
  await expectGraphqlError(admin.gql(REPLACE, { ...variables, id: shop.id }), 'BAD_USER_INPUT', message);
  expect(shop._links).not.toHaveProperty('svc:upload');
  await expectError(admin.post(path, createForm('', 'empty.csv')), 400, 'The file is empty');
  await expectBody(admin.get(`/datasources/${datasourceId}`), 200, {
    file: { filename: 'one.csv' },
    _links: { 'svc:upload': { href: `/api${path}` } },
  });
});

test('only datasets that the caller may refresh are refreshed, and only readable ones are named', async ({
  admin,
  bob,
}) => {
  const { id, datasourceId, path } = await upload(admin, ONE, 'one.csv');
  await admin.put(`/datasources/${datasourceId}/shares/bob`, { accessLevel: 2 });
  await admin.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 });
  await admin.creates('/datasets', { name: 'Hidden', datasourceId, query: 'select id from data', refresh: true });
  const saved = await bob.creates('/queries', { name: 'Ids', datasourceId, query: 'select id from data' });
  const own = await bob.creates('/datasets', { name: 'Own', queryId: saved.id, refresh: true });

  await expectBody(bob.post(path, createForm(TWO, 'two.csv', refreshing)), 200, {
    file: { filename: 'two.csv' },
    refreshed: [{ id: own.id, records: 2 }],
    notRefreshed: [id],
  });
  expect(await rowsOf(bob, own.id)).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await rowsOf(admin, id)).toEqual([{ id: 1, amount: 10 }]);
  await expectStatus(admin.post(`/datasets/${id}/_refresh`, {}), 200);
  expect(await rowsOf(admin, id)).toEqual([
    { id: 1, amount: 10 },
    { id: 2, amount: 20 },
  ]);

  const activity = await admin.get(`/datasources/${datasourceId}/activity`);
  expect(activity.body._embedded['svc:activity'][0]).toMatchObject({
    type: 'datasource.updated',
    message: 'bob changed the file of one',
    data: { fields: ['file'] },
  });
  const audit = await admin.get(`/audit?action=replaceDatasourceFile`);
  expect(audit.body._embedded['svc:audit-event'][0]).toMatchObject({ outcome: 'succeeded', resourceId: datasourceId });
});

test('the settings of the former file apply by column, in any order, unless others are given or fit', async ({
  admin,
}) => {
  const columns = [
    { name: 'code', type: 'VARCHAR' },
    { name: 'price', type: 'DOUBLE', decimal: ',' },
    { name: 'n', type: 'BIGINT' },
  ];
  const config = JSON.stringify({ delimiter: ';', columns });
  const { id, path } = await upload(admin, 'code;price;n\n007;1,5;1\n', 'a.csv', { config });
  const replace = (content: BlobPart, fields: Record<string, string> = {}) =>
    admin.post(path, createForm(content, 'b.csv', { before: { refresh: 'true', ...fields } }));

  await expectBody(replace('n;new;price;code\n2;x;1,250;008\n'), 200, {
    config: { delimiter: ';', columns: [columns[2], { name: 'new', type: 'VARCHAR' }, columns[1], columns[0]] },
    problems: [{ column: 'price', message: expect.stringContaining('read as in the former file') }],
  });
  expect(await rowsOf(admin, id)).toEqual([{ n: 2, new: 'x', price: 1.25, code: '008' }]);
  // A fraction does not fit a whole number, but the field of a number. The text stays one.
  await expectStatus(replace('n;new;price;code\n2.5;x;1,5;009\n'), 200);
  expect(await rowsOf(admin, id)).toEqual([{ n: 2.5, new: 'x', price: 1.5, code: '009' }]);
  const given = { config: JSON.stringify({ delimiter: '|' }) };
  await expectBody(replace('n|new|price|code\n3|x|2,5|010\n', given), 200, { config: { delimiter: '|' } });
  expect(await rowsOf(admin, id)).toEqual([{ n: 3, new: 'x', price: 2.5, code: '010' }]);

  // Another format drops the settings of the former one.
  const rows = [
    ['n', 'new', 'price', 'code'],
    [4, 'y', 3.5, '011'],
  ];
  const workbook = new Uint8Array(await writeXlsx({ sheets: [{ name: 'One', rows }] }));
  const { body } = await replace(workbook);
  expect(body).toMatchObject({ file: { filename: 'b.csv' }, config: { format: 'xlsx' } });
  expect(body.config.delimiter).not.toBe('|');
  expect(await rowsOf(admin, id)).toEqual([{ n: 4, new: 'y', price: 3.5, code: '011' }]);
});

test('a failed replacement leaves the former file and all rows', async () => {
  await withService({ MAX_DATASET_ROWS: '2', TENANT_QUOTA_BYTES: '10000000' }, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const { id, datasourceId, path } = await upload(admin, ONE, 'one.csv');
    const query = { datasourceId, query: 'select amount from data' };
    const other = await admin.creates('/datasets', { name: 'Amounts', ...query, refresh: true });
    const files = storedFiles(service);
    const three = `${TWO}3;30\n`;
    const input = { file: fileOf(three), filename: 'three.csv', refresh: true };

    // The rows of the first dataset are loaded when loading the second fails.
    const broken = createForm('id\n5\n', 'broken.csv', { before: { refresh: 'true', force: 'true' } });
    await expectError(admin.post(path, broken), 400, /amount/);
    await expectError(admin.post(path, createForm(three, 'three.csv', refreshing)), 413, /2 rows/);
    await expectGraphqlError(admin.gql(REPLACE, { id: datasourceId, input }), 'PAYLOAD_TOO_LARGE', /2 rows/);
    await runSql(service.databaseUrl, `update dws.stored_file set size = 9999990`);
    await expectError(admin.post(path, createForm(TWO, 'two.csv')), 413);

    expect(storedFiles(service)).toEqual(files);
    expect(await runSql(service.databaseUrl, `select count(*)::int as files from dws.stored_file`)).toEqual([
      { files: 1 },
    ]);
    await expectBody(admin.get(`/datasources/${datasourceId}`), 200, { file: { filename: 'one.csv' } });
    expect(await rowsOf(admin, id)).toEqual([{ id: 1, amount: 10 }]);
    expect(await rowsOf(admin, other.id)).toEqual([{ amount: 10 }]);
  });
});

import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { writeOds } from 'hucre/ods';
import { writeXlsx } from 'hucre/xlsx';
import { expect, vi } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, createSqliteFile, storedFiles, uploadRows } from '../support/upload-form.ts';

const PREVIEW = '/datasets/_previewUpload';
const MUTATION = `mutation ($input: UploadDatasetInput!) {
  previewUpload(input: $input) { config fields { name type } rows problems { line column message } }
}`;
const fileOf = (content: string | Uint8Array) => `data:text/csv;base64,${Buffer.from(content).toString('base64')}`;
const temporaryFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('dws-text-'));

test('a preview shows how a file is read, takes changed settings and stores nothing', async ({ ann, service }) => {
  const before = [storedFiles(service), await uploadRows(service), temporaryFolders()];
  const content = 'Kunde;Umsatz;Datum\nMüller;1.234,56;01/02/2026\n';
  const { config } = await expectBody(ann.post(PREVIEW, createForm(content, 'k.csv')), 200, {
    config: { format: 'csv', delimiter: ';', header: true, skip: 0 },
    fields: [
      { name: 'Kunde', label: 'Kunde', type: 'string' },
      { name: 'Umsatz', label: 'Umsatz', type: 'number' },
      { name: 'Datum', label: 'Datum', type: 'string' },
    ],
    rows: [{ Kunde: 'Müller', Umsatz: 1234.56, Datum: '01/02/2026' }],
    problems: [
      { line: null, column: 'Datum', message: expect.stringContaining('Set decimal, thousands or dateFormat') },
    ],
  });
  expect(config.columns[1]).toEqual({ name: 'Umsatz', type: 'DOUBLE', decimal: ',' });

  const given = { dateFormat: '%d/%m/%Y' };
  const changed = createForm(content, 'k.csv', { after: { config: JSON.stringify(given), name: 'Unused' } });
  const { previewUpload } = await ann.data(MUTATION, {
    input: { file: fileOf(content), filename: 'k.csv', config: given },
  });
  expect(previewUpload).toMatchObject({
    config: { ...given, delimiter: ';' },
    fields: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'DATE' }],
    rows: [{ Kunde: 'Müller', Umsatz: 1234.56, Datum: '2026-02-01' }],
    problems: [],
  });
  await expectBody(ann.post(PREVIEW, changed), 200, {
    config: previewUpload.config,
    rows: previewUpload.rows,
    problems: [],
  });
  // The settings of a preview, sent back as they are, give the same result.
  const same = createForm(content, 'k.csv', { before: { config: JSON.stringify(previewUpload.config) } });
  await expectBody(ann.post(PREVIEW, same), 200, { config: previewUpload.config, rows: previewUpload.rows });
  expect([storedFiles(service), await uploadRows(service), temporaryFolders()]).toEqual(before);
});

test('a preview has 50 rows, and the table or query of a database', async ({ ann }) => {
  const lines = Array.from({ length: 60 }, (_, i) => i);
  const { body } = await ann.post(PREVIEW, createForm(`n\n${lines.join('\n')}\n`, 'n.csv'));
  expect(body.rows).toEqual(lines.slice(0, 50).map((n) => ({ n })));

  const database = createSqliteFile('first', 'second');
  await expectError(ann.post(PREVIEW, createForm(database, 'x.db')), 400, 'table must be one of first, second');
  const chosen = createForm(database, 'x.db', { before: { table: 'second' } });
  await expectBody(ann.post(PREVIEW, chosen), 200, { rows: [{ id: 1, word: 'second' }], problems: [] });
  const params = [{ name: 'n', dataType: 'NUMBER', defaultValue: 41 }];
  const query = 'select {{n}} + 1 as n from first';
  const { previewUpload } = await ann.data(MUTATION, {
    input: { file: fileOf(database), filename: 'x.db', query, params },
  });
  expect(previewUpload.rows).toEqual([{ n: 42 }]);
});

test('a line that cannot be read is a problem; a file that cannot be read at all is an error', async ({
  ann,
  service,
}) => {
  const before = storedFiles(service);
  const message =
    'Expected number of columns: 2, found: 1. ' +
    'Set ragged to true if records may have fewer values than columns, or skip if other lines precede the table';
  const problems = [{ line: 3, column: null, message }];
  const broken = { config: {}, fields: [], rows: [], problems };
  await expectBody(ann.post(PREVIEW, createForm('a,b\n1,2\n3\n', 'x.csv')), 200, broken);
  const { previewUpload } = await ann.data(MUTATION, { input: { file: fileOf('a,b\n1,2\n3\n'), filename: 'x.csv' } });
  expect(previewUpload).toEqual(broken);
  await expectError(ann.post(PREVIEW, createForm('', 'x.csv')), 400, 'The file is empty');
  await expectError(ann.post(PREVIEW, createForm('<html>', 'x.csv')), 400, /web page/);
  expect(storedFiles(service)).toEqual(before);
});

test('the file is removed once, and a failed removal does not fail the preview', async ({ ann, service }) => {
  const remove = vi.spyOn(service.platform.files, 'remove');
  const database = createSqliteFile('first', 'second');
  try {
    await expectError(ann.post(PREVIEW, createForm(database, 'x.db')), 400, 'table must be one of first, second');
    expect(remove).toHaveBeenCalledTimes(1);
    await expectBody(ann.post(PREVIEW, createForm('a\n1\n', 'x.csv')), 200, { rows: [{ a: 1 }] });
    expect(remove).toHaveBeenCalledTimes(2);
    remove.mockRejectedValue(Object.assign(new Error('read-only file system'), { code: 'EROFS' }));
    await expectBody(ann.post(PREVIEW, createForm('a\n1\n', 'x.csv')), 200, { rows: [{ a: 1 }], problems: [] });
    const { previewUpload } = await ann.data(MUTATION, { input: { file: fileOf('a\n1\n'), filename: 'x.csv' } });
    expect(previewUpload).toMatchObject({ rows: [{ a: 1 }], problems: [] });
    const kept = remove.mock.calls.slice(2).map(([id]) => id);
    expect(kept).toHaveLength(2);
    remove.mockRestore();
    for (const id of kept) await service.platform.files.remove(id);
  } finally {
    remove.mockRestore();
  }
});

test('a German column of thousands alone is a problem until decimal is given', async ({ ann }) => {
  const content = 'Ort;Menge\nUlm;1.234\nBonn;2.500\n';
  const message =
    'The values can be read in several ways, and are read as numbers with decimals. Set decimal, or its type in columns';
  const first = {
    rows: [
      { Ort: 'Ulm', Menge: 1.234 },
      { Ort: 'Bonn', Menge: 2.5 },
    ],
    problems: [{ line: null, column: 'Menge', message }],
  };
  const second = {
    rows: [
      { Ort: 'Ulm', Menge: 1234 },
      { Ort: 'Bonn', Menge: 2500 },
    ],
    problems: [],
  };
  const config = { decimal: ',' };
  await expectBody(ann.post(PREVIEW, createForm(content, 'm.csv')), 200, first);
  const decided = createForm(content, 'm.csv', { before: { config: JSON.stringify(config) } });
  await expectBody(ann.post(PREVIEW, decided), 200, second);
  const input = { file: fileOf(content), filename: 'm.csv' };
  expect((await ann.data(MUTATION, { input })).previewUpload).toMatchObject(first);
  expect((await ann.data(MUTATION, { input: { ...input, config } })).previewUpload).toMatchObject(second);
});

test('equal separators are refused', async ({ ann }) => {
  const config = { decimal: ',', thousands: ',' };
  const message = 'config.thousands must match pattern "^[^,]?$"';
  const form = createForm('a;b\n1,5;2\n', 'x.csv', { before: { config: JSON.stringify(config) } });
  await expectError(ann.post(PREVIEW, form), 400, message);
  const input = { file: fileOf('a;b\n1,5;2\n'), filename: 'x.csv', config };
  await expectGraphqlError(ann.gql(MUTATION, { input }), 'BAD_USER_INPUT', message);
});

test.for(['xlsx', 'ods'] as const)('%s: the first sheet or a named one', async (format, { ann }) => {
  const sheets = [
    {
      name: 'One',
      rows: [
        ['a', 'b'],
        [1, 'x'],
      ],
    },
    { name: 'Two', rows: [['c'], [new Date('2026-01-31T00:00:00Z')]] },
  ];
  const file = format === 'xlsx' ? await writeXlsx({ sheets }) : await writeOds({ sheets });
  const form = createForm(new Uint8Array(file), `book.${format}`);
  await expectBody(ann.post(PREVIEW, form), 200, { config: { format }, rows: [{ a: 1, b: 'x' }] });
  const { previewUpload } = await ann.data(MUTATION, {
    input: { file: fileOf(file), filename: 'book', config: { sheet: 'Two' } },
  });
  expect(previewUpload).toMatchObject({ fields: [{ name: 'c', type: 'DATE' }], rows: [{ c: '2026-01-31' }] });
  const unknown = createForm(new Uint8Array(file), 'book', { before: { config: '{"sheet":"Three"}' } });
  await expectError(ann.post(PREVIEW, unknown), 400, 'config.sheet must be one of "One", "Two"');
});

test('a preview requires the permission of an upload', async ({ anonymous, service }) => {
  await expectError(anonymous.post(PREVIEW, createForm('a\n1\n', 'x.csv')), 401);
  const reader = await service.user('reader', { permissions: [] });
  expect((await reader.post(PREVIEW, createForm('a\n1\n', 'x.csv'))).status).toBe(403);
});

test('what is doubtful about a file is a problem of its preview and of its upload, in both APIs', async ({ ann }) => {
  const content = 'Report 2024\n\nregion,2020,2021\nNorth,1,2\nSouth,3,4\n';
  const problems = [
    { line: 1, column: null, message: expect.stringMatching(/^The lines before the table are left out/) as string },
    { line: 3, column: null, message: expect.stringMatching(/Set header to false if it is a row$/) as string },
  ];
  await expectBody(ann.post(PREVIEW, createForm(content, 'r.csv')), 200, {
    config: { skip: 2, header: true },
    rows: [
      { region: 'North', 2020: 1, 2021: 2 },
      { region: 'South', 2020: 3, 2021: 4 },
    ],
    problems,
  });
  await expectBody(ann.post('/datasets/_upload', createForm(content, 'r.csv')), 201, {
    name: 'r',
    records: 2,
    problems,
  });
  const upload = `mutation ($input: UploadDatasetInput!) {
    uploadDataset(input: $input) { problems { line column message } result { records } }
  }`;
  const input = { file: fileOf(content), filename: 'r.csv' };
  expect(await ann.data(upload, { input })).toEqual({ uploadDataset: { problems, result: { records: 2 } } });
  expect((await ann.data(MUTATION, { input })).previewUpload).toMatchObject({ problems });
  const config = { skip: 2, header: true };
  await expectBody(
    ann.post('/datasets/_upload', createForm(content, 'r.csv', { before: { config: JSON.stringify(config) } })),
    201,
    {
      problems: [],
    },
  );
});

test('a datasource has the problems of its file until its settings change, for those who can change it, in both APIs', async ({
  admin,
  bob,
}) => {
  const content = 'Report 2024\n\nregion,2020,2021\nNorth,1,2\nSouth,3,4\n';
  const problems = [
    { line: 1, column: null, message: expect.stringMatching(/^The lines before the table are left out/) as string },
    { line: 3, column: null, message: expect.stringMatching(/Set header to false if it is a row$/) as string },
  ];
  const body = await expectBody(admin.post('/datasources/_upload', createForm(content, 'r.csv')), 201, { problems });
  const upload = `mutation ($input: UploadDatasourceInput!) {
    uploadDatasource(input: $input) { id problems { line column message } }
  }`;
  const { uploadDatasource } = await admin.data(upload, { input: { file: fileOf(content), filename: 'r.csv' } });
  expect(uploadDatasource.problems).toEqual(problems);

  const read = `query ($id: ID!) { datasource(id: $id) { problems { line column message } } }`;
  const path = `/datasources/${body.id}`;
  await expectBody(admin.get(path), 200, { problems });
  expect(await admin.data(read, { id: body.id })).toEqual({ datasource: { problems } });
  await expectStatus(admin.put(`${path}/shares/bob`, { accessLevel: 1 }), 200);
  await expectBody(bob.get(path), 200, { config: {}, problems: [] });
  expect(await bob.data(read, { id: body.id })).toEqual({ datasource: { problems: [] } });
  await expectBody(admin.put(path, { name: 'Regions' }), 200, { problems });
  await expectBody(admin.put(path, { config: { ...body.config, header: false } }), 200, { problems: [] });
});

test('a value that does not fit its declared type is a problem with line and column, and 400 in an upload', async ({
  ann,
}) => {
  const content = 'a,b\n1,2\nx,3\n';
  const config = { columns: ['a', 'b'].map((name) => ({ name, type: 'BIGINT' })) };
  const message = '"x" is not a BIGINT. Change its type, trim or nullValues in columns';
  const form = () => createForm(content, 'x.csv', { before: { config: JSON.stringify(config) } });
  await expectBody(ann.post(PREVIEW, form()), 200, { config: {}, problems: [{ line: 3, column: 'a', message }] });
  await expectError(ann.post('/datasets/_upload', form()), 400, `Line 3 of the file, column "a": ${message}`);
  const input = { file: fileOf(content), filename: 'x.csv', config };
  expect((await ann.data(MUTATION, { input })).previewUpload).toMatchObject({
    problems: [{ line: 3, column: 'a', message }],
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { writeXlsx } from 'hucre/xlsx';
import { describe, expect } from 'vitest';
import { sweepFiles } from '../../src/operations/janitor.ts';
import { expectBody, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, storedFiles } from '../support/upload-form.ts';
import { fileOf, REPLACE, rowsOf, upload } from './replacement.ts';

type Row = Record<string, string | number>;
type Bytes = Uint8Array<ArrayBuffer>;

const sheetsOf = (rows: Row[]) => [
  { name: 'One', rows: [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))] },
];

function sqliteOf(rows: Row[]): Bytes {
  const dir = mkdtempSync(join(tmpdir(), 'dws-sqlite-'));
  const database = new DatabaseSync(join(dir, 'db'));
  const names = Object.keys(rows[0]!);
  const types = Object.values(rows[0]!).map((value) => (typeof value === 'number' ? 'integer' : 'text'));
  database.exec(`create table data (${names.map((name, i) => `${name} ${types[i]}`).join(', ')})`);
  const insert = database.prepare(`insert into data values (${names.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(...Object.values(row));
  database.close();
  const bytes = new Uint8Array(readFileSync(join(dir, 'db')));
  rmSync(dir, { recursive: true });
  return bytes;
}

const textOf = (text: string): Bytes => new Uint8Array(Buffer.from(text));

/** Writes a table in a format. */
const FORMATS: Record<string, (rows: Row[]) => Bytes | Promise<Bytes>> = {
  csv: (rows) =>
    textOf(
      [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))].map((line) => `${line.join(';')}\n`).join(''),
    ),
  ndjson: (rows) => textOf(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
  xlsx: async (rows) => new Uint8Array(await writeXlsx({ sheets: sheetsOf(rows) })),
  db: sqliteOf,
};

const OLD = [
  { day: '2026-01-01', region: 'EU', amount: 1 },
  { day: '2026-01-02', region: 'US', amount: 2 },
];
const NEW = [{ day: '2026-02-01', region: 'APAC', amount: 30 }];

describe.each(Object.keys(FORMATS))('a file in the format %s', (format) => {
  const write = FORMATS[format]!;

  test('is replaced together with the rows of its dataset, in both APIs', async ({ admin, service }) => {
    const dataset = await upload(admin, await write(OLD), `old.${format}`);
    const former = (await admin.get(`/datasources/${dataset.datasourceId}`)).body;
    const [before] = storedFiles(service).slice(-1);
    await expectBody(
      admin.post(dataset.path, createForm(await write(NEW), `new.${format}`, { before: { refresh: 'true' } })),
      200,
      {
        id: dataset.datasourceId,
        config: former.config,
        file: { filename: `new.${format}` },
        problems: [],
        notRefreshed: [],
        refreshed: [{ id: dataset.id, records: 1, previousRecordCount: 2, fieldsAdded: 0, fieldsUpdated: 0 }],
      },
    );
    expect(await rowsOf(admin, dataset.id)).toEqual(NEW);
    await sweepFiles(service.platform, 0);
    expect(storedFiles(service)).not.toContain(before);

    const input = { file: fileOf(await write(OLD)), filename: `old.${format}`, refresh: true };
    const { replaceDatasourceFile } = await admin.data(REPLACE, { id: dataset.datasourceId, input });
    expect(replaceDatasourceFile).toMatchObject({
      operation: { status: 'SUCCEEDED', resource: { kind: 'DATASOURCE', id: dataset.datasourceId } },
      notRefreshed: [],
      refreshed: [{ datasetId: dataset.id, records: 2 }],
      result: { id: dataset.datasourceId, file: { filename: `old.${format}` } },
    });
    expect(await rowsOf(admin, dataset.id)).toEqual(OLD);
  });

  test('is refused with the differences, unless it is forced', async ({ admin }) => {
    const dataset = await upload(admin, await write(OLD), `old.${format}`);
    const other = await write([{ region: 'EU', amount: 'many', more: 1 }]);
    const [missing, retyped] = [
      'the column "day" of "data" is missing',
      'the column "amount" of "data" was number and is string',
    ];
    const message = `The file does not fit the former one: ${missing}, ${retyped}. Set force to replace it all the same`;
    const validation = [
      { path: ['file', 'data', 'day'], message: missing, code: 'missing' },
      { path: ['file', 'data', 'amount'], message: retyped, code: 'type' },
    ];
    const form = (fields = {}) => createForm(other, `other.${format}`, { before: fields });
    expect(await admin.post(dataset.path, form({ refresh: 'true' }))).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message, validation },
    });
    const input = { file: fileOf(other), filename: `other.${format}` };
    await expectGraphqlError(admin.gql(REPLACE, { id: dataset.datasourceId, input }), 'CONFLICT', message);
    expect(await rowsOf(admin, dataset.id)).toEqual(OLD);

    await expectStatus(admin.post(dataset.path, form({ force: 'true', refresh: 'true' })), 200);
    expect(await rowsOf(admin, dataset.id)).toEqual([{ region: 'EU', amount: 'many', more: 1 }]);
  });
});

import { describe, expect } from 'vitest';
import { sweepFiles } from '../../src/operations/janitor.ts';
import { expectBody, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, DATASOURCES, storedFiles } from '../support/upload-form.ts';
import { fileOf, REPLACE, rowsOf, upload } from './replacement.ts';
import { TABLE_WRITERS, type Row } from './table-writers.ts';

const OLD = [
  { day: '2026-01-01', region: 'EU', amount: 1 },
  { day: '2026-01-02', region: 'US', amount: 2 },
];
const NEW = [{ day: '2026-02-01', region: 'APAC', amount: 30 }];

/** Values that are doubtful: fractions of a millisecond, bytes in SQLite, and numbers that are not finite in Parquet. */
const DOUBTFUL: Record<string, Row> = { db: { region: Uint8Array.of(1, 2) }, parquet: { amount: Infinity } };
const FINE: Row = { at: '2026-02-01T10:00:00.1234567Z' };

describe.each(Object.keys(TABLE_WRITERS))('a file in the format %s', (format) => {
  const write = TABLE_WRITERS[format]!;

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

  test('keeps the fields of its dataset with their labels, and has the problems of a first upload', async ({
    admin,
  }) => {
    const withTime = OLD.map((row) => ({ ...row, at: '2026-01-01T10:00:00.500Z' }));
    const dataset = await upload(admin, await write(withTime), `old.${format}`);
    const fields = [{ name: 'amount', label: 'Net', description: 'In EUR' }];
    const before = await expectBody(admin.put(`/datasets/${dataset.id}`, { fields }), 200, {});
    const doubtful = await write([{ ...withTime[0]!, ...(DOUBTFUL[format] ?? FINE) }]);
    const { problems } = (await admin.post(DATASOURCES, createForm(doubtful, `new.${format}`))).body;
    expect(problems).toHaveLength(1);

    const form = createForm(doubtful, `new.${format}`, { before: { refresh: 'true' } });
    const refreshed = [{ id: dataset.id, records: 1, fieldsAdded: 0 }];
    await expectBody(admin.post(dataset.path, form), 200, { id: dataset.datasourceId, problems, refreshed });
    await expectBody(admin.get(`/datasources/${dataset.datasourceId}`), 200, { problems });
    const after = await expectBody(admin.get(`/datasets/${dataset.id}`), 200, { datasourceId: dataset.datasourceId });
    const shown = ({ name, label, description }: Row) => ({ name, label, description });
    expect(after.fields.map(shown)).toEqual(before.fields.map(shown));
    expect(after.fields).toContainEqual(expect.objectContaining({ label: 'Net', description: 'In EUR' }));

    const input = { file: fileOf(doubtful), filename: `new.${format}` };
    const { replaceDatasourceFile } = await admin.data(REPLACE, { id: dataset.datasourceId, input });
    expect(replaceDatasourceFile).toMatchObject({
      result: { id: dataset.datasourceId },
      problems: problems.map(({ message }: { message: string }) => ({ message })),
    });
  });
});

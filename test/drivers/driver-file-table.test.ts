import { beforeAll, describe, expect, test } from 'vitest';
import type { Field } from '../../src/core/fields.ts';
import { filesIn, type OpenFile } from '../support/uploaded-source.ts';
import { runDuckdb, SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files, upload } = useUploads();

const field = (name: string, type: Field['type']): Field => ({ name, label: name, type });

describe('a load of a file takes the rows as a table', () => {
  let file: OpenFile;
  beforeAll(async () => {
    const rows = [
      `(1, 1.5::DOUBLE, 0.1::FLOAT, date '2024-02-29', timestamp '2024-02-29 12:34:56.789999', '{"a": 1}')`,
      `(2, 'nan', 'inf', date '0044-03-15 (BC)', timestamp 'infinity', 'null')`,
      `(3, '-inf', null, date '9999-12-31', timestamp '9999-12-31 23:59:59.999999', null)`,
      `(4, null, 'nan', date 'infinity', timestamp '10000-01-01', '[]')`,
    ];
    await runDuckdb(
      `copy (
        select i, f8::DOUBLE as f8, f4::FLOAT as f4, d, ts, j::JSON as j
        from (values ${rows.join(', ')}) v(i, f8, f4, d, ts, j)
      ) to '${files.path('rows')}' (format parquet)`,
    );
    file = files.open('file', 'rows', { format: 'parquet' });
  });

  test('values without a JSON form are missing, and warnings count them', async () => {
    const { generation, rows } = await file.index(`select *, i * ${'1'.repeat(30)}::HUGEINT as h from data`);
    expect(generation.warnings).toEqual([
      'Field "f8": 2 values are missing (not a finite number)',
      'Field "f4": 2 values are missing (not a finite number)',
      'Field "d": 2 values are missing (outside the years 1 to 9999)',
      'Field "ts": 2 values are missing (outside the years 1 to 9999)',
    ]);
    expect(rows).toEqual([
      { i: 1, f8: 1.5, f4: 0.1, d: '2024-02-29', ts: '2024-02-29T12:34:56.789Z', j: { a: 1 }, h: '1'.repeat(30) },
      { i: 2, f8: null, f4: null, d: null, ts: null, j: null, h: '2'.repeat(30) },
      { i: 3, f8: null, f4: null, d: '9999-12-31', ts: '9999-12-31T23:59:59.999Z', j: null, h: '3'.repeat(30) },
      { i: 4, f8: null, f4: null, d: null, ts: null, j: [], h: '4'.repeat(30) },
    ]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('syncFields=false keeps exactly the known fields, and counts the lost values of these', async () => {
    const { generation, rows } = await file.index(SELECT_ALL, {
      keepFields: [field('absent', 'date'), field('f8', 'number'), field('i', 'integer')],
    });
    expect(generation.fields.map(({ name, vanished }) => [name, vanished])).toEqual([
      ['absent', true],
      ['f8', undefined],
      ['i', undefined],
    ]);
    expect(generation.warnings).toEqual(['Field "f8": 2 values are missing (not a finite number)']);
    expect(rows).toEqual([1.5, null, null, null].map((f8, n) => ({ absent: null, f8, i: n + 1 })));
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('a flow and updateTypeMapping=false change it like any other rows', async () => {
    const { generation, rows } = await file.index('select i, f8 from data', {
      flow: [
        { type: 'filter', criteria: { i: { $gt: 1 } } },
        { type: 'sort', field: 'i', order: 'desc' },
      ],
      keepTypes: [field('i', 'string')],
    });
    expect(generation).toMatchObject({
      records: 3,
      fields: [
        { name: 'i', type: 'string' },
        { name: 'f8', type: 'number' },
      ],
      warnings: ['Field "f8": 2 values are missing (not a finite number)'],
    });
    expect(rows.map(({ i }) => i)).toEqual(['4', '3', '2']);
  });

  test('the limit of rows applies', async () => {
    await expect(file.index(SELECT_ALL, { maxRows: 3 })).rejects.toMatchObject({
      message: 'The query returns more than the 3 rows that are allowed',
    });
    expect((await file.index(SELECT_ALL, { maxRows: 4 })).generation.records).toBe(4);
    expect(await filesIn(files.segments)).toEqual([]);
  });
});

test('a row of 2,000 columns is loaded within the timeout of a query', async () => {
  const kinds = ['7', '2.5', 'text', '2026-01-31', 'true'];
  const names = Array.from({ length: 2000 }, (_, i) => `column ${i}`);
  const { file: wide } = await upload(`${names.join()}\n${names.map((_, i) => kinds[i % kinds.length]).join()}\n`);
  const { generation, rows } = await wide.index(SELECT_ALL);
  expect(generation.fields.map(({ name }) => name)).toEqual(names);
  expect(rows.map((row) => [row['column 0'], row['column 1997'], row['column 1998']])).toEqual([
    [7, 'text', '2026-01-31'],
  ]);
});

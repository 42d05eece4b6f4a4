import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { odsOf, xlsxOf } from '../support/zip-archive.ts';
import { runDuckdb, useUploads } from './driver-file-fixture.ts';

const { files, readInProcess } = useUploads();

/** Returns a Parquet file with one column `x` of these values in SQL. */
async function parquetOf(...values: string[]): Promise<Buffer> {
  const path = files.path('values.parquet');
  await runDuckdb(`copy (select unnest([${values.join(', ')}]) as x) to '${path}' (format parquet)`);
  return readFile(path);
}

const KEEP = 'Set its type in columns to VARCHAR to keep the texts';
const SELECT = 'Select it as VARCHAR in the query to keep the texts';

describe('values that fields cannot have are among the problems of the file', () => {
  test.each([
    [
      'numbers',
      ["'nan'::DOUBLE", "'-inf'::DOUBLE", '1.5::DOUBLE'],
      [null, null, 1.5],
      '2 values, such as nan, are missing (not a finite number)',
    ],
    ['floats', ["'inf'::FLOAT", 'null'], [null, null], '1 value, such as inf, is missing (not a finite number)'],
    [
      'dates',
      ["'0001-01-01 (BC)'::DATE", "'15000-07-01'::DATE", "'infinity'::DATE", "'2026-01-01'::DATE"],
      [null, null, null, '2026-01-01'],
      '3 values, such as 0001-01-01 (BC), are missing (outside the years 1 to 9999)',
    ],
    [
      'times',
      ["'15000-07-01 10:00:00'::TIMESTAMP", "'9999-12-31 23:59:59'::TIMESTAMP"],
      [null, '9999-12-31T23:59:59.000Z'],
      '1 value, such as 15000-07-01 10:00:00, is missing (outside the years 1 to 9999)',
    ],
    [
      'microseconds',
      ["'2026-01-01 10:00:00.123456'::TIMESTAMP", "'2026-01-01 10:00:00.123'::TIMESTAMP"],
      ['2026-01-01T10:00:00.123Z', '2026-01-01T10:00:00.123Z'],
      '1 value, such as 2026-01-01 10:00:00.123456, is cut to milliseconds',
    ],
    [
      'nanoseconds',
      ["'2026-01-01 10:00:00.123000001'::TIMESTAMP_NS"],
      ['2026-01-01T10:00:00.123Z'],
      '1 value, such as 2026-01-01 10:00:00.123000001, is cut to milliseconds',
    ],
    [
      'lists',
      ["['nan'::DOUBLE, 1.5]", '[2.5]'],
      [[null, 1.5], [2.5]],
      'Parts of 1 value are missing (not a finite number)',
    ],
    [
      'structs',
      ["{'a': [map {'k': 'inf'::DOUBLE}], 'b': 'x'}"],
      [{ a: [{ k: null }], b: 'x' }],
      'Parts of 1 value are missing (not a finite number)',
    ],
  ])('%s of Parquet', async (_, values, read, message) => {
    const { rows, problems } = await readInProcess(await parquetOf(...values), {}, 'x.parquet');
    expect(rows.flat()).toEqual(read);
    expect(problems).toEqual([{ column: 'x', message: `${message}. ${SELECT}` }]);
  });

  test('fractions of seconds in cells of workbooks', async () => {
    const time = '2026-11-29T08:00:00.9999';
    const name =
      '<table:table-row><table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>';
    const cell = `<table:table-cell office:value-type="date" office:date-value="${time}"/>`;
    const workbooks = [
      odsOf(`${name}<table:table-row>${cell}</table:table-row>`),
      xlsxOf(`<row><c t="str"><v>x</v></c></row><row><c t="d"><v>${time}</v></c></row>`),
    ];
    for (const workbook of workbooks) {
      const { rows, problems } = await readInProcess(workbook);
      expect(rows).toEqual([['2026-11-29T08:00:00.999Z']]);
      expect(problems).toEqual([
        { column: 'x', message: `1 value, such as ${time}Z, is cut to milliseconds. ${KEEP}` },
      ]);
    }
  });

  test.each([
    ['times', (time: string) => time, '1 value, such as 2026-01-01 10:00:00.123000001, is'],
    ['lists', (time: string) => `[${time}, null]`, 'Parts of 1 value are'],
    ['structs', (time: string) => `{'a': {'b': [${time}]}, 'c': 1}`, 'Parts of 1 value are'],
  ])('nanoseconds in UTC of Parquet in %s', async (_, valueOf, values) => {
    const file = await parquetOf(
      valueOf("'2026-01-01 10:00:00.123000001'::TIMESTAMP_NS"),
      valueOf("'2026-01-01 10:00:00.123'::TIMESTAMP_NS"),
    );
    // DuckDB writes no such type: the byte that states UTC is the second one of the type.
    const at = file.lastIndexOf(Buffer.from([0x8c, 0x12, 0x1c, 0x3c, 0, 0, 0]));
    file[at + 1] = 0x11;
    const { rows, problems } = await readInProcess(file, {}, 'x.parquet');
    expect(JSON.stringify(rows).match(/2026[^"]*/g)).toEqual(['2026-01-01T10:00:00.123Z', '2026-01-01T10:00:00.123Z']);
    expect(problems).toEqual([{ column: 'x', message: `${values} cut to milliseconds. ${SELECT} up to microseconds` }]);
  });

  test('Parquet without such values has no problems', async () => {
    const content = await parquetOf(`{'a': 1.5, 'b': ['2026-01-01 10:00:00.123'::TIMESTAMP], 'c': '2026-01-01'::DATE}`);
    expect((await readInProcess(content, {}, 'x.parquet')).problems).toEqual([]);
  });

  test.each([
    '2026-01-01 10:00:00.1239',
    '2026-01-01T10:00:00.123456Z',
    '2026-01-01T10:00:00.1230001Z',
    '2026-01-01T11:00:00.123000001+01:00',
    '2026-01-01T10:00:00.123000000001Z',
  ])('the fraction of the second of %s in CSV and JSON', async (time) => {
    const message = `1 value, such as ${time}, is cut to milliseconds. ${KEEP}`;
    // With a zone as the other one: a mix would be a doubt.
    const usual = time.includes('T') ? '2026-01-01T10:00:00.120000000Z' : '2026-01-01 10:00:00.120000000';
    const files = {
      'x.csv': `x,n\n${time},1\n${usual},2\n`,
      'x.json': JSON.stringify([
        { x: time, n: 1 },
        { x: usual, n: 2 },
      ]),
    };
    for (const [name, content] of Object.entries(files)) {
      const { rows, problems } = await readInProcess(content, {}, name);
      expect(rows).toEqual([
        ['2026-01-01T10:00:00.123Z', 1],
        ['2026-01-01T10:00:00.120Z', 2],
      ]);
      expect(problems).toEqual([{ column: 'x', message }]);
    }
  });
});

describe('times outside the years 1 to 9999 in texts stay texts', () => {
  test.each([
    '0000-01-01 00:00:00',
    '0000-12-31T00:00:00Z',
    '0000-01-01',
    '9999-12-31T23:59:59-01:00',
    '0001-01-01T00:00:00+01:00',
  ])('%s', async (time) => {
    const csv = await readInProcess(`id,d\n1,${time}\n2,2026-01-01 10:00:00\n`);
    expect(csv).toMatchObject({
      types: ['id integer', 'd string'],
      rows: [
        [1, time],
        [2, '2026-01-01 10:00:00'],
      ],
    });
    const json = await readInProcess(JSON.stringify([{ d: time }, { d: '2026-01-01T10:00:00Z' }]), {}, 'x.json');
    expect(json).toMatchObject({ types: ['d string'], rows: [[time], ['2026-01-01T10:00:00Z']] });
  });

  test('with a declared type they are missing, and reported', async () => {
    const columns = [{ name: 'd', type: 'TIMESTAMP' }];
    const { rows, problems } = await readInProcess('d\n0000-01-01 00:00:00\n2026-01-01 10:00:00\n', { columns });
    expect(rows).toEqual([[null], ['2026-01-01T10:00:00.000Z']]);
    expect(problems).toEqual([
      {
        column: 'd',
        message: `1 value, such as 0001-01-01 (BC) 00:00:00, is missing (outside the years 1 to 9999). ${KEEP}`,
      },
    ]);
  });
});

describe('numbers outside the range of a double stay texts', () => {
  test.each(['1e400', '1e-400', '-1.5E-330', `0.${'0'.repeat(330)}1`])('%.20s', async (number) => {
    const csv = await readInProcess(`x,n\n${number},0e-400\n0,-0.0\n`);
    expect(csv).toMatchObject({
      types: ['x string', 'n number'],
      rows: [
        [number, 0],
        ['0', -0],
      ],
    });
    const json = await readInProcess(`[{"x":${number},"n":0e-400},{"x":0,"n":1}]`, {}, 'x.json');
    expect(json).toMatchObject({
      types: ['x string', 'n number'],
      rows: [
        [number, 0],
        ['0', 1],
      ],
    });
    const nested = await readInProcess(`[{"x":[${number},0e-400]}]`, {}, 'x.json');
    expect(nested).toMatchObject({ types: ['x json'], rows: [[[number, 0]]] });
  });
});

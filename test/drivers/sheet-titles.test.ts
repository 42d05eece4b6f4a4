import { describe, expect, test } from 'vitest';
import { odsOf, xlsxOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

type Row = (string | number | null)[];

const create = {
  xlsx: (rows: Row[]) =>
    xlsxOf(
      rows
        .map((row, r) => {
          const cells = row.map((value, c) => {
            const ref = `${String.fromCodePoint(65 + c)}${r + 1}`;
            if (value === null) return '';
            return typeof value === 'number'
              ? `<c r="${ref}"><v>${value}</v></c>`
              : `<c r="${ref}" t="str"><v>${value}</v></c>`;
          });
          return cells.length > 0 ? `<row r="${r + 1}">${cells.join('')}</row>` : '';
        })
        .join(''),
    ),
  ods: (rows: Row[]) =>
    odsOf(
      rows
        .map((row) => {
          const cells = row.map((value) => {
            if (value === null) return '<table:table-cell/>';
            return typeof value === 'number'
              ? `<table:table-cell office:value-type="float" office:value="${value}"/>`
              : `<table:table-cell office:value-type="string"><text:p>${value}</text:p></table:table-cell>`;
          });
          return `<table:table-row>${cells.join('') || '<table:table-cell/>'}</table:table-row>`;
        })
        .join(''),
    ),
};

const LEFT_OUT = 'The rows before the table are left out. Set skip to 0 if they belong to it';
const NARROW = 'The names of the columns are a row with few values. Set skip if the table begins below it';

describe.each(['xlsx', 'ods'] as const)('titles above the table of a sheet in %s', (format) => {
  test.each<[string, Row[], number]>([
    ['a title', [['Report 2026']], 1],
    ['a title and an empty row', [['Report 2026'], []], 2],
    ['two notes', [['Report 2026'], ['printed', null], []], 3],
  ])('%s: left out and reported', async (_, titles, skip) => {
    const rows = [
      ['name', 'qty', 'place'],
      ['a', 1, 'x'],
      ['b', 2, 'y'],
    ];
    const read = await readInProcess(create[format]([...titles, ...rows]));
    expect(read).toMatchObject({
      config: { skip, header: true },
      types: ['name string', 'qty integer', 'place string'],
      rows: rows.slice(1),
      problems: [{ line: 1, message: LEFT_OUT }],
    });
    expect((await readInProcess(create[format]([...titles, ...rows]), read.config)).rows).toEqual(rows.slice(1));
  });

  test('above texts alone if an empty row divides them', async () => {
    const rows = [
      ['name', 'place'],
      ['a', 'x'],
      ['b', 'y'],
    ];
    expect(await readInProcess(create[format]([['Report'], [], ...rows]))).toMatchObject({ config: { skip: 2 } });
    expect(await readInProcess(create[format]([['Report'], ...rows]))).toMatchObject({
      config: { skip: 0 },
      problems: [{ line: 1, message: NARROW }],
    });
  });

  test('two rows of names: the title is reported', async () => {
    const rows = [
      ['Sales'],
      ['Region', '2025', null, '2026', null],
      [null, 'Q1', 'Q2', 'Q1', 'Q2'],
      ['North', 1, 2, 3, 4],
    ];
    expect(await readInProcess(create[format](rows))).toMatchObject({
      config: { skip: 0 },
      problems: [{ line: 1, message: NARROW }],
    });
  });

  test('skip decides, and a usual table has no problem', async () => {
    const rows = [
      ['name', 'qty'],
      ['a', 1],
      ['b', null],
    ];
    expect(await readInProcess(create[format](rows))).toMatchObject({ config: { skip: 0 }, problems: [] });
    expect(await readInProcess(create[format]([['Report'], ...rows]), { skip: 0 })).toMatchObject({
      config: { skip: 0 },
      types: ['Report string', 'column_2 string'],
    });
  });
});

test('the value of a cell that a merged one covers is reported', async () => {
  const row = (cells: string) => `<table:table-row>${cells}</table:table-row>`;
  const number = (value: number, kind = 'table-cell') =>
    `<table:${kind} office:value-type="float" office:value="${value}"/>`;
  const text = (value: string) =>
    `<table:table-cell office:value-type="string"><text:p>${value}</text:p></table:table-cell>`;
  const content = [
    row(`${text('a')}${text('b')}`),
    row(`${number(7)}${number(8, 'covered-table-cell')}`),
    row(`${number(1)}<table:covered-table-cell/>`),
    row(`${number(1)}${number(2)}`),
  ];
  expect(await readInProcess(odsOf(content.join('')))).toMatchObject({
    rows: [
      [7, null],
      [1, null],
      [1, 2],
    ],
    problems: [
      {
        line: 2,
        message:
          'Row 2, column 2: a merged cell covers the cell, as others may be in this column: their values are left out',
      },
    ],
  });
});

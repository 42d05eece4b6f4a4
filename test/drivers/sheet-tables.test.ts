import { describe, expect, test } from 'vitest';
import { odsOf, xlsxOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

type Cells = (string | number | null)[];

const xlsxRows = (rows: Cells[]): string =>
  rows
    .map((cells) => {
      const written = cells.map((cell) =>
        cell === null ? '<c/>' : typeof cell === 'number' ? `<c><v>${cell}</v></c>` : `<c t="str"><v>${cell}</v></c>`,
      );
      return `<row>${written.join('')}</row>`;
    })
    .join('');

const odsRows = (rows: Cells[]): string =>
  rows
    .map((cells) => {
      const written = cells.map((cell) =>
        cell === null
          ? '<table:table-cell/>'
          : typeof cell === 'number'
            ? `<table:table-cell office:value-type="float" office:value="${cell}"><text:p>${cell}</text:p></table:table-cell>`
            : `<table:table-cell office:value-type="string"><text:p>${cell}</text:p></table:table-cell>`,
      );
      return `<table:table-row>${written.join('')}</table:table-row>`;
    })
    .join('');

const ROWS: Cells[] = [
  ['name', 'sales'],
  ['Ann', 1],
  ['Bob', 2],
];
const TOTALS = (line: number) => ({
  line,
  message: `Row ${line} has the totals of a table, and is read as one of its rows. Remove it from the file`,
});
const SEVERAL = (tables: string) => ({
  message: `The sheet has 2 tables, and is read as one: ${tables}. Move each to a sheet of its own`,
});

describe('tables that a sheet of xlsx defines', () => {
  test.each<[string, string[], object[]]>([
    ['one table', ['ref="A1:B4"'], []],
    ['totals', ['ref="A1:B4" totalsRowCount="1"'], [TOTALS(4)]],
    ['totals that are not shown', ['ref="A1:B4" totalsRowShown="0"'], []],
    ['two tables', ['ref="A1:A4"', 'ref="B1:B4" totalsRowCount="1"'], [SEVERAL('A1:A4, B1:B4'), TOTALS(4)]],
  ])('%s', async (_, tables, expected) => {
    const content = xlsxOf(xlsxRows([...ROWS, ['Sum', 3]]), [], [], tables);
    const { rows, problems } = await readInProcess(content, {}, 'x.xlsx');
    expect(rows).toHaveLength(3);
    expect(problems).toEqual(expected);
  });
});

const NEXT = (line: number) => ({
  line,
  message:
    `Row ${line} follows an empty row, and has texts below numbers or dates, as the names of another table have: ` +
    'it is read as a row. Move the table to a sheet of its own if it is one',
});
const EMPTY = (column: number) => ({
  message:
    `Column ${column} is empty and has no name. The columns before and behind it are read as one table: ` +
    'move them to sheets of their own if they are two',
});
const wide = (rows: Cells[]): Cells[] => rows.map((cells) => [...cells, null, ...cells]);

describe.each([
  ['xlsx', (rows: Cells[]) => xlsxOf(xlsxRows(rows))],
  ['ods', (rows: Cells[]) => odsOf(odsRows(rows))],
] as const)('tables next to and below each other in %s', (format, write) => {
  test.each<[string, Cells[], object[]]>([
    ['an empty row and names', [...ROWS, [], ['city', 'people'], ['Rome', 5]], [NEXT(5)]],
    ['an empty row and a row', [...ROWS, [], ['Eve', 5]], []],
    ['an empty row and a remark', [...ROWS, [], ['Source: us']], []],
    ['names without an empty row', [...ROWS, ['city', 'people']], []],
    ['two tables side by side', wide(ROWS), [EMPTY(3)]],
    ['a single column behind an empty one', ROWS.map((cells) => [...cells, null, 'x']), []],
  ])('%s', async (_, rows, expected) => {
    const { problems } = await readInProcess(write(rows), {}, `x.${format}`);
    const places = /^(Row \d+ follows|Column \d+ is empty)/;
    expect(problems.filter(({ message }) => places.test(message))).toEqual(expected);
  });
});

import { describe, expect, test } from 'vitest';
import { xlsxOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

type Row = (string | number | null)[];

const csv = (rows: Row[]): string => `${rows.map((row) => row.join(',')).join('\n')}\n`;
const xlsx = (rows: Row[]): Buffer =>
  xlsxOf(
    rows
      .map((row, r) => {
        const cells = row.map((value, c) => {
          if (value === null) return '';
          const type = typeof value === 'string' ? ' t="str"' : '';
          return `<c r="${String.fromCodePoint(65 + c)}${r + 1}"${type}><v>${value}</v></c>`;
        });
        return `<row r="${r + 1}">${cells.join('')}</row>`;
      })
      .join(''),
  );

const SECOND =
  'The record below the names has texts above numbers or dates, so these columns are text. ' +
  'Set skip to 1 if it contains the names, or remove it from the file if it has units or further names';

describe.each([
  ['csv', csv],
  ['xlsx', xlsx],
] as const)('a record of texts below the names in %s', (_, create) => {
  test.each<[string, Row[]]>([
    [
      'units',
      [
        ['time', 'temp'],
        ['[s]', '[C]'],
        [0.5, 21.5],
        [1.5, 21.7],
      ],
    ],
    [
      'further names',
      [
        ['Place', 'Sales', 'Costs'],
        [null, 'Q1', 'Q2'],
        ['North', 1, 2],
        ['South', 3, 4],
      ],
    ],
  ])('that has %s is reported', async (__, rows) => {
    const { problems, types } = await readInProcess(create(rows));
    expect(problems).toEqual([{ line: 2, message: SECOND }]);
    expect(types.at(-1)).toMatch(/ string$/);
    const skipped = await readInProcess(create(rows), { skip: 1 });
    expect(skipped.problems).toEqual([]);
    expect(skipped.types.at(-1)).toMatch(/ (number|integer)$/);
  });

  test.each<[string, Row[]]>([
    [
      'texts below',
      [
        ['name', 'city'],
        ['Ann', 'Rome'],
        ['Bob', 'Oslo'],
      ],
    ],
    [
      'missing values',
      [
        ['id', 'qty'],
        ['a', 'NA'],
        ['b', 5],
      ],
    ],
    [
      'numbers',
      [
        ['id', 'qty'],
        ['a', 4],
        ['b', 5],
      ],
    ],
  ])('%s is not', async (__, rows) => {
    expect((await readInProcess(create(rows))).problems).toEqual([]);
  });
});

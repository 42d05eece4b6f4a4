import { describe, expect, test } from 'vitest';
import { odsOf, xlsxOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const problemAt = (line: number, message: string) => ({ line, message: `Row ${line}, column 1: ${message}` });
const PADDED =
  'the cell shows zeros before its number, as others may in this column: the number is read without them. ' +
  'Format the cells as texts with all digits if they are codes';
const ROUNDED =
  'the time is less than a millisecond before midnight, as others may be in this column, and is read as midnight';

/** Creates an ODS file of one column with cells of these attributes and texts. */
const odsColumn = (...cells: [attributes: string, text: string][]) =>
  odsOf(
    [['office:value-type="string"', 'x'], ...cells]
      .map(
        ([attributes, text]) =>
          `<table:table-row><table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell></table:table-row>`,
      )
      .join(''),
  );
const odsNumber = (value: number, text: string): [string, string] => [
  `office:value-type="float" office:value="${value}"`,
  text,
];
const odsDate = (value: string): [string, string] => [`office:value-type="date" office:date-value="${value}"`, 'shown'];

/** Creates an xlsx file of one column with numbers in a format. */
const xlsxColumn = (format: string, ...values: number[]) =>
  xlsxOf(
    `<row><c t="str"><v>x</v></c></row>${values.map((value) => `<row><c s="1"><v>${value}</v></c></row>`).join('')}`,
    [],
    [format],
  );

describe('a column of numbers that cells show with zeros before them is reported by its first one', () => {
  test.each<[string, number[], number | undefined]>([
    ['00000', [12345, 42, 7], 3],
    ['&quot;AB&quot;000', [5], 2],
    ['000-00-0000', [12345678], 2],
    ['000;-000', [-5], 2],
    ['00000', [12345, 123456], undefined],
    ['0', [5, 0], undefined],
    ['0.00', [5], undefined],
    ['0.00E+00', [5], undefined],
    ['#,##0', [5], undefined],
    ['General', [5], undefined],
    ['00.0', [5.5], undefined],
  ])('xlsx in the format %s: %j', async (format, values, line) => {
    const { rows, problems } = await readInProcess(xlsxColumn(format, ...values));
    expect(rows).toEqual(values.map((value) => [value]));
    expect(problems).toEqual(line === undefined ? [] : [problemAt(line, PADDED)]);
  });

  test('ods', async () => {
    const padded = odsColumn(odsNumber(12345, '12345'), odsNumber(42, '00042'), odsNumber(7, '00007'));
    expect(await readInProcess(padded)).toMatchObject({
      types: ['x integer'],
      rows: [[12345], [42], [7]],
      problems: [problemAt(3, PADDED)],
    });
    const usual = odsColumn(odsNumber(0, '0'), odsNumber(0.5, '0.5'), odsNumber(7, '7.00'), odsNumber(-0.5, '-0,5'));
    expect((await readInProcess(usual)).problems).toEqual([]);
  });
});

test('a date just before midnight that becomes the next day is reported, and other rounding is not', async () => {
  const day = '2024-02-29T23:59:59.999999999';
  expect(await readInProcess(odsColumn(odsDate('2024-01-01'), odsDate(day), odsDate(day)))).toMatchObject({
    rows: [['2024-01-01'], ['2024-03-01'], ['2024-03-01']],
    problems: [problemAt(3, ROUNDED)],
  });
  const usual = odsColumn(odsDate('2024-02-29T23:59:58.999999999'), odsDate('2024-02-29T23:59:59.123000169'));
  expect(await readInProcess(usual)).toMatchObject({
    rows: [['2024-02-29T23:59:59.000Z'], ['2024-02-29T23:59:59.123Z']],
    problems: [],
  });
});

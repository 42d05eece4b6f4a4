import { describe, expect, test } from 'vitest';
import { odsOf, xlsxOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

/** Returns a workbook with one column `x` of cells in the format `0.00`: texts, and numbers. */
const columnOf = (...values: (string | number)[]): Buffer =>
  xlsxOf(
    ['x', ...values]
      .map((value, i) =>
        typeof value === 'number'
          ? `<row r="${i + 1}"><c r="A${i + 1}" s="1"><v>${value}</v></c></row>`
          : `<row r="${i + 1}"><c r="A${i + 1}" s="${i > 0 ? 1 : 0}" t="inlineStr"><is><t>${value}</t></is></c></row>`,
      )
      .join(''),
    [],
    ['0.00'],
  );

describe('texts in cells formatted as numbers', () => {
  test.each<[string, (string | number)[], string, unknown[]]>([
    ['digits alone are numbers', ['1.10', '2.50', 3], 'x number', [1.1, 2.5, 3]],
    ['with other texts they stay as they are written', ['1.10', '1.2b'], 'x string', ['1.10', '1.2b']],
    ['whole ones have no point', ['7', '7.0', 8, 'a'], 'x string', ['7', '7.0', '8', 'a']],
    ['codes with an exponent are texts', ['12E3', '4E2'], 'x string', ['12E3', '4E2']],
    ['a code with an exponent is a text among numbers', ['1e5', 1.5, '2.50'], 'x string', ['1e5', '1.5', '2.50']],
    ['long digits are exact numbers', ['1234567890123.4567'], 'x number', ['1234567890123.4567']],
    ['long digits with texts', ['1234567890123.4560', 'a'], 'x string', ['1234567890123.4560', 'a']],
  ])('%s', async (_, values, type, read) => {
    expect(await readInProcess(columnOf(...values))).toMatchObject({
      types: [type],
      rows: read.map((value) => [value]),
    });
  });
});

describe('numbers with more digits than a double has are exact, in xlsx and ods', () => {
  const xlsx = (values: string[]) =>
    xlsxOf(`<row><c t="str"><v>x</v></c></row>${values.map((value) => `<row><c><v>${value}</v></c></row>`).join('')}`);
  const odsCell = (value: string) =>
    `<table:table-row><table:table-cell office:value-type="float" office:value="${value}"/></table:table-row>`;
  const ods = (values: string[]) =>
    odsOf(
      '<table:table-row><table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>' +
        values.map(odsCell).join(''),
    );

  test.each<[string, string[], string, unknown[]]>([
    ['with usual ones', ['1234567890123456.789', '0.5', '-3'], 'x number', ['1234567890123456.789', '0.5', '-3']],
    [
      'with doubles as programs print them',
      ['0.30000000000000004', '0.12345678901234567891'],
      'x number',
      ['0.30000000000000004', '0.12345678901234567891'],
    ],
    ['with an exponent', ['1.2345678901234567891E+15', '7'], 'x number', ['1234567890123456.7891', '7']],
    [
      'past 38 digits as texts',
      ['1234567890123456789012345.12345678901234567', '7.5'],
      'x string',
      ['1234567890123456789012345.12345678901234567', '7.5'],
    ],
    ['not if a double has them', ['0.10000000000000001', '2.5000000000000000000'], 'x number', [0.1, 2.5]],
  ])('%s', async (_, values, type, read) => {
    const expected = { types: [type], rows: read.map((value) => [value]), problems: [] };
    expect(await readInProcess(xlsx(values))).toMatchObject(expected);
    expect(await readInProcess(ods(values))).toMatchObject(expected);
  });
});

describe('cells whose value cannot be read are missing, and reported', () => {
  const name = '<c t="str"><v>x</v></c>';
  const odsName = '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>';
  const NONE = 'the value cannot be read, and is a missing one';

  test.each([
    ['b', '2', '1', true],
    ['b', 'yes', 'false', false],
    ['s', '99', '0', 'a'],
    ['s', 'x', '0', 'a'],
    ['n', '1e999', '1', 1],
    ['n', '1e-400', '0', 0],
  ])('xlsx t="%s" with %s', async (type, broken, usual, read) => {
    const cell = (value: string) => `<row><c t="${type}"><v>${value}</v></c></row>`;
    const rows = [broken, ' ', usual].map(cell).join('');
    expect(await readInProcess(xlsxOf(`<row>${name}</row>${rows}`, ['a']))).toMatchObject({
      rows: [[null], [read]],
      problems: [{ line: 2, message: `Row 2, column 1: ${NONE}` }],
    });
  });

  test.each([
    ['float', 'value', 'INF', '1', 1],
    ['float', 'value', '1e999', '1', 1],
    ['currency', 'value', '12,5', '1', 1],
    ['percentage', 'value', '1e-400', '0.5', 0.5],
    ['boolean', 'boolean-value', 'yes', 'true', true],
    ['date', 'date-value', '31.01.2024', '2024-01-31', '2024-01-31'],
  ])('ods %s with %s="%s"', async (type, attribute, broken, usual, read) => {
    const row = (value: string) =>
      `<table:table-row><table:table-cell office:value-type="${type}" office:${attribute}="${value}"/></table:table-row>`;
    const rows = [broken, '', usual].map(row).join('');
    expect(await readInProcess(odsOf(`<table:table-row>${odsName}</table:table-row>${rows}`))).toMatchObject({
      rows: [[null], [read]],
      problems: [{ line: 2, message: `Row 2, column 1: ${NONE}` }],
    });
  });
});

const ERRORS = ['#DIV/0!', '#REF!', '#N/A', '#NAME?', '#NULL!', '#NUM!', '#VALUE!'];
const ERROR = 'the cell is an error, as others may be in this column: they are missing values';

describe('names of errors', () => {
  const textCell = (text: string) =>
    `<table:table-row><table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell></table:table-row>`;

  test('are texts in cells of texts', async () => {
    const rows = ERRORS.map((text) => [text]);
    for (const file of [columnOf(...ERRORS), odsOf(['x', ...ERRORS].map(textCell).join(''))])
      expect(await readInProcess(file)).toMatchObject({ types: ['x string'], rows, problems: [] });
    const results = ERRORS.map((text, i) => `<row r="${i + 2}"><c t="str"><f>A1</f><v>${text}</v></c></row>`);
    const formulas = xlsxOf(`<row r="1"><c t="str"><v>x</v></c></row>${results.join('')}`);
    expect(await readInProcess(formulas)).toMatchObject({ types: ['x string'], rows, problems: [] });
  });

  test('are missing values in cells of errors, and reported once a column', async () => {
    const cells = ERRORS.map((text, i) => `<row r="${i + 2}"><c><v>${i}</v></c><c t="e"><v>${text}</v></c></row>`);
    const names = '<row r="1"><c t="str"><v>n</v></c><c t="str"><v>x</v></c></row>';
    expect(
      await readInProcess(xlsxOf(`${names}${cells.join('')}<row r="9"><c/><c><v>1.5</v></c></row>`)),
    ).toMatchObject({
      types: ['n integer', 'x number'],
      rows: [...ERRORS.map((_, i) => [i, null]), [null, 1.5]],
      problems: [{ line: 2, message: `Row 2, column 2: ${ERROR}` }],
    });
  });

  test.each(['office:value-type="string" calcext:value-type="error"', 'office:value-type="string"'])(
    'are missing values of formulas in ODS with %s',
    async (type) => {
      const cell = `<table:table-cell table:formula="of:=1/0" ${type}><text:p>#DIV/0!</text:p></table:table-cell>`;
      const row = `<table:table-row>${cell}</table:table-row>`;
      expect(await readInProcess(odsOf(`${textCell('x')}${row}${textCell('a')}`))).toMatchObject({
        rows: [[null], ['a']],
        problems: [{ line: 2, message: `Row 2, column 1: ${ERROR}` }],
      });
    },
  );
});

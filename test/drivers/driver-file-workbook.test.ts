import { writeOds } from 'hucre/ods';
import { writeXlsx } from 'hucre/xlsx';
import { describe, expect, test } from 'vitest';
import { odsOf, xlsxOf, zipArchiveOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess, uploadFailure, upload } = useUploads();

const HEADER = ['Kunde', 'Umsatz', 'Menge', 'Datum', 'Zeit', 'aktiv', 'PLZ', 'gemischt', ''];
const MOMENT = new Date('2025-12-31T23:59:30Z');
const DAY = new Date('2026-02-01T00:00:00Z');
const SHEETS = [
  {
    name: 'Umsätze 2025',
    rows: [
      HEADER,
      ['Müller "& Co"', 1234.56, 3, DAY, MOMENT, true, '00123', 1, 'x'],
      [null, null, null, null, null, null, null, null, null],
      ['=1+1', -0.5, 9007199254740991, new Date('2025-12-31T00:00:00Z'), DAY, false, '1', 'eins', null],
    ],
  },
  {
    name: 'Two',
    rows: [
      [1, 'a'],
      [2, 'b'],
    ],
  },
];
const TYPES = [
  'Kunde string',
  'Umsatz number',
  'Menge integer',
  'Datum date',
  'Zeit datetime',
  'aktiv boolean',
  'PLZ string',
  'gemischt string',
  'column_9 string',
];
const ROWS = [
  ['Müller "& Co"', 1234.56, 3, '2026-02-01', '2025-12-31T23:59:30.000Z', true, '00123', '1', 'x'],
  ['=1+1', -0.5, 9007199254740991, '2025-12-31', '2026-02-01T00:00:00.000Z', false, '1', 'eins', null],
];
const create = {
  xlsx: async () => Buffer.from(await writeXlsx({ sheets: SHEETS })),
  ods: async () => Buffer.from(await writeOds({ sheets: SHEETS })),
};

describe.each(['xlsx', 'ods'] as const)('%s', (format) => {
  test('cells keep their types, and the first sheet is read by default', async () => {
    const { config, types, rows } = await readInProcess(await create[format](), {}, 'any name');
    expect(config).toMatchObject({ format, header: true, skip: 0 });
    expect(types).toEqual(TYPES);
    expect(rows).toEqual(ROWS);
  });

  test('a sheet is chosen by its name; without a header columns are numbered', async () => {
    expect(await readInProcess(await create[format](), { sheet: 'Two' })).toMatchObject({
      config: { sheet: 'Two', header: false },
      types: ['column_1 integer', 'column_2 string'],
      rows: [
        [1, 'a'],
        [2, 'b'],
      ],
    });
    await expect(readInProcess(await create[format](), { sheet: 'Three' })).rejects.toMatchObject({
      status: 400,
      message: 'config.sheet must be one of "Umsätze 2025", "Two"',
    });
  });

  test('header, skip, columns and null words are used as given', async () => {
    const file = await create[format]();
    expect(await readInProcess(file, { sheet: 'Two', header: true })).toMatchObject({
      types: ['1 integer', 'a string'],
      rows: [[2, 'b']],
    });
    expect(await readInProcess(file, { sheet: 'Two', skip: 1, nullValues: ['b'] })).toMatchObject({
      rows: [[2, null]],
    });
    const columns = [
      { name: 'n', type: 'VARCHAR' },
      { name: 'v', type: 'VARCHAR' },
      { name: 'w', type: 'BIGINT' },
    ];
    expect(await readInProcess(file, { sheet: 'Two', columns })).toMatchObject({
      types: ['n string', 'v string', 'w integer'],
      rows: [
        ['1', 'a', null],
        ['2', 'b', null],
      ],
    });
    await expect(readInProcess(file, { sheet: 'Two', columns: columns.slice(0, 1) })).rejects.toMatchObject({
      status: 400,
      message: 'The sheet has 2 columns, and config.columns has 1',
    });
  });

  test('an empty sheet is refused', async () => {
    expect(await uploadFailure(format === 'xlsx' ? xlsxOf('') : odsOf(''))).toMatchObject({
      status: 400,
      message: 'The sheet has no rows',
    });
  });

  test('a cut file is refused', async () => {
    const file = await create[format]();
    // Without its end an archive has no directory: a guess of the format is impossible for xlsx.
    const failure = await uploadFailure(file.subarray(0, file.length - 30));
    expect(failure).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
    expect(failure.message).toMatch(/^The (workbook cannot be read: |file is packed)/);
  });
});

const cell = (ref: string, type: string, value: string) => `<c r="${ref}" t="${type}"><v>${value}</v></c>`;

describe('values of cells', () => {
  test('formulas have their stored values, and errors none', async () => {
    const rows =
      `<row r="1">${cell('A1', 'str', 'sum')}${cell('B1', 'str', 'error')}</row>` +
      '<row r="2"><c r="A2"><f>1+2</f><v>3</v></c><c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>' +
      '<row r="3"><c r="A3"><f>2+2</f><v>4</v></c><c r="B3"><v>1</v></c></row>';
    expect(await readInProcess(xlsxOf(rows))).toMatchObject({
      types: ['sum integer', 'error integer'],
      rows: [
        [3, null],
        [4, 1],
      ],
    });
    const ods =
      '<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>' +
      '<table:table-row><table:table-cell table:formula="of:=1+2" office:value-type="float" office:value="3"><text:p>3</text:p>' +
      '</table:table-cell></table:table-row>';
    expect(await readInProcess(odsOf(ods))).toMatchObject({ types: ['a integer'], rows: [[3]] });
  });
});

describe('cells whose value cannot be known are missing and reported', () => {
  const NO_RESULT = expect.stringMatching(/^Row 2, column 1: the formula has no stored value/);
  test('formulas that nothing has computed, by the first of each column', async () => {
    const rows =
      '<row r="1"><c r="A1" t="str"><v>sum</v></c><c r="B1" t="str"><v>text</v></c></row>' +
      '<row r="2"><c r="A2"><f>1+2</f></c><c r="B2" t="str"><f>""</f><v></v></c></row>' +
      '<row r="3"><c r="A3"><f t="shared" si="0"/><v/></c><c r="B3" t="str"><v>x</v></c></row>' +
      '<row r="4"><c r="A4"><v>4</v></c></row>';
    const read = await readInProcess(xlsxOf(rows));
    expect(read).toMatchObject({
      problems: [{ line: 2, message: NO_RESULT }],
      rows: [
        [null, null],
        [null, 'x'],
        [4, null],
      ],
    });
    const ods =
      '<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>' +
      '<table:table-row><table:table-cell table:formula="of:=1+2"/></table:table-row>' +
      '<table:table-row><table:table-cell office:value-type="float" office:value="3"/></table:table-row>';
    expect((await readInProcess(odsOf(ods))).problems).toEqual([{ line: 2, message: NO_RESULT }]);
  });

  test('invalid numbers', async () => {
    const rows =
      '<row r="1"><c r="A1" t="str"><v>n</v></c></row>' +
      ['abc', 'NaN', '1e999', '7', ' ']
        .map((text, i) => `<row r="${i + 2}"><c r="A${i + 2}"><v>${text}</v></c></row>`)
        .join('');
    const { problems } = await readInProcess(xlsxOf(rows));
    expect(problems.map(({ message }) => message)).toEqual(
      [2, 3, 4].map((row) => `Row ${row}, column 1: the value cannot be read, and is a missing one`),
    );
  });
});

test('a text that an ODS cell states is its value, whatever it shows', async () => {
  const row = (stated: string, shown: string) =>
    `<table:table-row><table:table-cell office:value-type="string"${stated}><text:p>${shown}</text:p></table:table-cell></table:table-row>`;
  const cells = row(' office:string-value="real"', 'shown') + row('', 'only');
  expect((await readInProcess(odsOf(cells), { header: false })).rows).toEqual([['real'], ['only']]);
});

describe('workbooks that are refused', () => {
  const sheetOf = (text: string) => xlsxOf(text);
  test.each<[string, () => Buffer, string | RegExp]>([
    [
      'encrypted',
      () => Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]),
      'The file is encrypted, or in an old format of Office (.xls): save it as .xlsx without a password',
    ],
    ['another archive', () => zipArchiveOf({ 'a.csv': 'a,b\n' }), 'The file is packed (ZIP): upload what is in it'],
    [
      'too wide',
      () => sheetOf(`<row r="1">${cell('XFD1', 'n', '1')}</row>`),
      'The sheet has 16384 columns; at most 2000 are possible',
    ],
    ['no parts', () => zipArchiveOf({ 'xl/workbook.xml': '<workbook/>' }), /^The workbook cannot be read: /],
    [
      'outside the bounds',
      () => sheetOf(`<row r="1">${cell('ZZZZ1', 'n', '1')}</row>`),
      /^The workbook cannot be read: /,
    ],
    [
      'a text that is repeated too often',
      () => xlsxOf('<row><c t="s"><v>0</v></c></row>'.repeat(600), ['x'.repeat(1 << 20)]),
      'The sheet has more than 512 MiB of values',
    ],
    [
      'rows that are repeated too often',
      () =>
        odsOf(
          '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="1500" ' +
            'office:value-type="float" office:value="1"/></table:table-row>',
        ),
      'The sheet has more than 512 MiB of values',
    ],
  ])('%s', async (_, content, message) => {
    const failure = await uploadFailure(content());
    expect(failure).toMatchObject({
      status: 400,
      message: message instanceof RegExp ? (expect.stringMatching(message) as string) : message,
    });
  });

  test('a large sheet is loaded in bounded memory', async () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => [i, `text ${i}`, i / 4]);
    const { file } = await upload(
      Buffer.from(await writeXlsx({ sheets: [{ name: 'Big', rows: [['a', 'b', 'c'], ...rows] }] })),
    );
    const { generation, rows: indexed } = await file.index('select * from data where a = 99999');
    expect(generation.records).toBe(1);
    expect(indexed).toMatchObject([{ a: 99_999, b: 'text 99999', c: 24_999.75 }]);
  });
});

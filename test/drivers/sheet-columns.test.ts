import { describe, expect, test } from 'vitest';
import { xlsxOf, odsOf, zipArchiveOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess, uploadFailure } = useUploads();

/** A number, and the position of its format from 1; 0 for the general one. Or a text. */
type Cell = [value: number, format: number] | string;

const [TIME, DATE] = [1, 2];
const FORMATS = ['h:mm', 'yyyy-mm-dd'];

const rowOf = (cell: Cell): string =>
  typeof cell === 'string'
    ? `<row><c t="str"><v>${cell}</v></c></row>`
    : `<row><c s="${cell[1]}"><v>${cell[0]}</v></c></row>`;

const columnOf = (cells: Cell[]): Buffer =>
  xlsxOf(`<row><c t="str"><v>x</v></c></row>${cells.map(rowOf).join('')}`, [], FORMATS);

const at = (row: number, message: string) => [{ line: row, message: `Row ${row}, column 1: ${message}` }];
const CORRECT = 'Correct the formats of the cells in the file if that is wrong';
const DURATION =
  'the time is a day or more, as others may be in this column, and is read as a duration, because other cells are times of day. ' +
  CORRECT;
const NUMBER =
  'the cell has a format for dates or times, as others may in this column, and is read as a number, because most cells are numbers. ' +
  CORRECT;
const among = (one: string, rest: string) =>
  `the cell is ${one} among ${rest}, as others may be in this column, so the column is text. ${CORRECT}`;

describe('cells of a column of xlsx whose format differs from the others', () => {
  test.each<[string, Cell[], string, unknown[], object[]]>([
    [
      'a time of a day or more among times of day',
      [
        [0.354166666666667, TIME],
        [0.375, TIME],
        [1.04166666666667, TIME],
      ],
      'x string',
      ['08:30:00', '09:00:00', '25:00:00'],
      at(4, DURATION),
    ],
    ['times of a day or more alone', [[1.5, TIME]], 'x datetime', ['1900-01-01T12:00:00.000Z'], []],
    ['times of day alone', [[0.5, TIME]], 'x string', ['12:00:00'], []],
    [
      'a moment of this century in a format for times',
      [
        [0.5, TIME],
        [45000.5, TIME],
      ],
      'x string',
      ['12:00:00', '2023-03-15T12:00:00.000Z'],
      at(2, among('a time', 'dates')),
    ],
    [
      'a date among numbers',
      [10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((n): Cell => [n, n === 14 ? DATE : 0]),
      'x integer',
      [10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
      at(6, NUMBER),
    ],
    [
      'a date of this century among small numbers',
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 45000].map((n): Cell => [n, n === 45000 ? DATE : 0]),
      'x string',
      ['1', '2', '3', '4', '5', '6', '7', '8', '9', '2023-03-15'],
      [
        ...at(11, among('a date or time', 'numbers')),
        {
          column: 'x',
          message:
            'Most values are numbers, but "2023-03-15" is not, so the column is text. Set nullValues, or its type in columns',
        },
      ],
    ],
    [
      'texts among dates',
      [[45000, DATE], [45001, DATE], '15.03.2023'],
      'x string',
      ['2023-03-15', '2023-03-16', '15.03.2023'],
      at(4, among('a text', 'dates or times')),
    ],
    [
      'a date among texts',
      ['1/1', '1/3', [45000, DATE]],
      'x string',
      ['1/1', '1/3', '2023-03-15'],
      at(4, among('a date or time', 'texts')),
    ],
    ['texts of dates among dates', [[45000, DATE], '2023-03-16'], 'x date', ['2023-03-15', '2023-03-16'], []],
    [
      'a number among dates',
      [
        [45000, DATE],
        [45001, 0],
        [45002, DATE],
      ],
      'x string',
      ['2023-03-15', '45001', '2023-03-17'],
      at(3, among('a number', 'dates or times')),
    ],
  ])('%s', async (_, cells, type, values, problems) => {
    const read = await readInProcess(columnOf(cells));
    expect(read.types).toEqual([type]);
    expect(read.rows.flat()).toEqual(values);
    expect(read.problems).toEqual(problems);
    expect((await readInProcess(columnOf(cells), read.config)).rows.flat()).toEqual(values);
  });

  test('a number among dates of ODS', async () => {
    const row = (cell: string) => `<table:table-row>${cell}</table:table-row>`;
    const date = row('<table:table-cell office:value-type="date" office:date-value="2024-01-31"/>');
    const number = row('<table:table-cell office:value-type="float" office:value="45000"/>');
    const name = row('<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>');
    const { rows, problems } = await readInProcess(odsOf(name + date + number + date));
    expect(rows.flat()).toEqual(['2024-01-31', '45000', '2024-01-31']);
    expect(problems).toEqual(at(3, among('a number', 'dates or times')));
  });
});

/** Creates a workbook with sheets of texts. */
const sheetsOf = {
  xlsx: (sheets: Record<string, string[][]>): Buffer => {
    const names = Object.keys(sheets);
    const list = names.map((name, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`).join('');
    const relations = (all: string[]) => `<Relationships>${all.join('')}</Relationships>`;
    const relation = (id: number, type: string, target: string) =>
      `<Relationship Id="rId${id}" Type="x/${type}" Target="${target}"/>`;
    return zipArchiveOf({
      '[Content_Types].xml': '<Types/>',
      '_rels/.rels': relations([relation(1, 'officeDocument', 'xl/workbook.xml')]),
      'xl/workbook.xml': `<workbook xmlns:r="x"><sheets>${list}</sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations(names.map((_, i) => relation(i + 1, 'worksheet', `s${i}.xml`))),
      ...Object.fromEntries(
        names.map((name, i) => {
          const rows = sheets[name]!.map(
            (row) => `<row>${row.map((text) => `<c t="str"><v>${text}</v></c>`).join('')}</row>`,
          );
          return [`xl/s${i}.xml`, `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`];
        }),
      ),
    });
  },
  ods: (sheets: Record<string, string[][]>): Buffer => {
    const tables = Object.entries(sheets).map(([name, rows]) => {
      const cells = (row: string[]) =>
        row
          .map((text) => `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`)
          .join('');
      const written = rows.map((row) => `<table:table-row>${cells(row)}</table:table-row>`);
      return `<table:table table:name="${name}">${written.join('')}</table:table>`;
    });
    return zipArchiveOf({
      mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
      'content.xml':
        '<office:document-content><office:body><office:spreadsheet>' +
        `${tables.join('')}</office:spreadsheet></office:body></office:document-content>`,
    });
  },
};

describe.each(['xlsx', 'ods'] as const)('a table on another sheet than the first one of %s', (format) => {
  const data = [
    ['name', 'place'],
    ['a', 'x'],
    ['b', 'y'],
    ['c', 'z'],
  ];

  test.each<[string, string[][]]>([
    ['one cell', [['Report']]],
    [
      'a few lines',
      [
        ['Report', '2026'],
        ['Author', 'Ann'],
      ],
    ],
  ])('below a cover of %s is reported', async (_, cover) => {
    const workbook = sheetsOf[format]({ Cover: cover, Data: data, Notes: [['n']] });
    const message = 'The first sheet is read, and has few values. Set sheet to read another one: "Data", "Notes"';
    expect((await readInProcess(workbook)).problems).toContainEqual({ message });
    const { rows, problems } = await readInProcess(workbook, { sheet: 'Data' });
    expect(rows).toEqual(data.slice(1));
    expect(problems).toEqual([]);
    expect((await readInProcess(workbook, { sheet: 'Cover' })).problems).not.toContainEqual({ message });
  });

  test('is not reported if the first sheet has a table, or the other has none', async () => {
    expect(
      (
        await readInProcess(
          sheetsOf[format]({
            A: [
              ['p', 'q', 'r'],
              ['1', '2', '3'],
            ],
            B: data,
          }),
        )
      ).problems,
    ).toEqual([]);
    expect((await readInProcess(sheetsOf[format]({ A: data, B: [['x']] }))).problems).toEqual([]);
  });

  test('is read if the first sheet is empty', async () => {
    const workbook = sheetsOf[format]({ Empty: [], Data: data });
    const { config, rows, problems } = await readInProcess(workbook);
    expect(config).toMatchObject({ sheet: 'Data' });
    expect(rows).toEqual(data.slice(1));
    expect(problems).toEqual([
      { message: 'The first sheet is empty, so the sheet "Data" is read. Set sheet to read another one' },
    ]);
    expect(await uploadFailure(sheetsOf[format]({ A: [], B: [] }))).toMatchObject({
      status: 400,
      message: 'The sheet has no rows',
    });
  });
});

test('texts of times with and without a zone, and dates among them', async () => {
  const texts = ['2024-01-01 10:00:00+02:00', '2024-01-01 10:00:00', '2024-01-02'];
  const KEEP = 'Set its type in columns to VARCHAR to keep the texts';
  const odsRow = (value: string) =>
    `<table:table-row><table:table-cell office:value-type="string"><text:p>${value}</text:p></table:table-cell></table:table-row>`;
  for (const file of [columnOf(texts), odsOf(['x', ...texts].map(odsRow).join(''))]) {
    const { rows, problems } = await readInProcess(file);
    expect(rows.flat()).toEqual(['2024-01-01T08:00:00.000Z', '2024-01-01T10:00:00.000Z', '2024-01-02T00:00:00.000Z']);
    expect(problems).toEqual([
      {
        column: 'x',
        message: `Times without a zone, such as 2024-01-01 10:00:00, are read as UTC among times with one. ${KEEP}`,
      },
      {
        column: 'x',
        message: `Dates without a time, such as 2024-01-02, are read as midnight in UTC among times. ${KEEP}`,
      },
    ]);
  }
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ExportFormat } from '../../src/core/export-format.ts';
import { EXACT_EXPORTS, useRoundTrips, type ColumnContent } from './export-round-trip-fixture.ts';

const { datasetOf, exportOf, upload, expectRoundTrips } = useRoundTrips();

const LINE_BREAKS = ['a\nb', 'a\r\nb', 'a\rb', '\n', '\r\n', 'a\n', '\ra', '\u2028x\u2029', 'a\u0085b', 'a\vb\fc'];
const MARKS = [
  '"',
  '""',
  'a"b',
  '"quoted"',
  "'",
  'a,b',
  ',',
  'a;b;c',
  ';',
  'a\tb',
  'a|b|c',
  '\\',
  '\\"',
  '\\n',
  '#a',
  '//a',
  'sep=;',
];
const BLANKS = ['', ' ', '   ', '\t', '\u00a0', ' lead', 'trail ', '\u3000both\u3000'];
const LIKE_VALUES = [
  'true',
  'null',
  'NULL',
  'NaN',
  'NA',
  '-',
  '#N/A',
  '#REF!',
  '7',
  '007',
  '1.50',
  '1e5',
  '+1',
  '-1',
  '1,5',
  '12%',
  '$5',
];
const LIKE_TIMES = ['2024-01-01', '2024-01-01T00:00:00Z', '31.12.2025', '09:30:15', '30:00:00'];
const FORMULAS = ['=1+1', '+1+1', '@SUM(A1)', "'=1", '{"a": 1}', '[1]', '{{x}}'];
const UNUSUAL = [
  '\u0001\u0002\u001f\u007f',
  'a\u001a',
  '😀👨‍👩‍👧',
  'e\u0301',
  'אבג',
  '\u202eabc',
  '\ufeff',
  '\ufeffa',
  '_x000D_',
  '_x0041_',
  '_x005F_x',
  '\ufffe\uffff',
];
const LONG = ['x'.repeat(8001), `${'😀'.repeat(16_383)}a`, '"'.repeat(20_000), 'y'.repeat(40_000)];
const HARD_TEXTS = [LINE_BREAKS, MARKS, BLANKS, LIKE_VALUES, LIKE_TIMES, FORMULAS, UNUSUAL].flat();

const hardCharacter = fc.constantFrom(...',;|\t"\'#/\\\n\r \u001a\ufeff_x0Da1é😀');
const hardText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HARD_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: hardCharacter, maxLength: 12 }) },
  // Text is UTF-8 in every format, and has no U+0000 in a file.
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.toWellFormed().replaceAll('\0', '')),
);

const dates = (text: (date: Date) => string) =>
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    .map((date) => text(date));
const digits = (max: bigint, scale: number) =>
  fc
    .bigInt({ min: -max, max })
    .map((number) => `${number < 0n ? '-' : ''}${withPoint(String(number).replace('-', ''), scale)}`);
const withPoint = (text: string, scale: number) => {
  const padded = text.padStart(scale + 1, '0');
  return `${padded.slice(0, padded.length - scale)}.${padded.slice(padded.length - scale)}`;
};
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map(String);
const json = fc.oneof(
  fc.constantFrom(
    '{"id": 9007199254740993, "x": [1, null, "ü"]}',
    '[12345678901234567890123, 1.5]',
    '"2024-01-01"',
    '7',
    'false',
    '{}',
    '[]',
  ),
  fc
    .jsonValue({ maxDepth: 2 })
    .filter((value) => value !== null)
    .map((value) => JSON.stringify(value).replaceAll('-0', '0').replaceAll('\\u0000', '')),
);

/** Values by the type of their column; the first ones are always among them. */
const KINDS: [name: string, type: string, values: fc.Arbitrary<string>, always: string[]][] = [
  // A file without types reads texts that all look like numbers as numbers.
  ['text', 'VARCHAR', hardText, ['text', '']],
  ['long text', 'VARCHAR', fc.constantFrom('a', ...LONG), [LONG[0]!]],
  ['zeros', 'VARCHAR', fc.constantFrom('007', '0123', '00'), ['007']],
  ['integer', 'BIGINT', fc.maxSafeInteger().map(String), ['0', '-9007199254740991', '9007199254740991']],
  [
    'int64',
    'BIGINT',
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String),
    ['1', '9223372036854775807', '-9223372036854775808'],
  ],
  ['uint64', 'UBIGINT', fc.bigInt(0n, 2n ** 64n - 1n).map(String), ['0', '18446744073709551615']],
  [
    'double',
    'DOUBLE',
    double,
    ['1e308', '5e-324', '-0', '0.30000000000000004', '123456789012345680000', '1e21', '1e-7'],
  ],
  ['plain double', 'DOUBLE', fc.integer().map((n) => String(n / 8)), ['0.5']],
  ['whole double', 'DOUBLE', fc.integer().map(String), ['1', '-2']],
  ['money', 'DECIMAL(18,2)', digits(10n ** 9n, 2), ['1.50', '2.00']],
  [
    'decimal',
    'DECIMAL(38,10)',
    digits(10n ** 38n - 1n, 10),
    ['1234567890123456789012345678.0123456789', '1.5000000000', '-7'],
  ],
  [
    'whole decimal',
    'DECIMAL(38,0)',
    fc.bigInt(0n, 10n ** 38n - 1n).map(String),
    ['99999999999999999999999999999999999999'],
  ],
  ['decimal in int64', 'DECIMAL(38,0)', fc.bigInt(0n, 2n ** 60n).map(String), ['9007199254740993', '5']],
  ['boolean', 'BOOLEAN', fc.boolean().map(String), ['true', 'false']],
  [
    'date',
    'DATE',
    dates((at) => at.toISOString().slice(0, 10)),
    ['0001-01-01', '1899-12-31', '1900-02-28', '1900-03-01', '9999-12-31'],
  ],
  ['date before 1900', 'DATE', fc.constantFrom('1850-05-05', '1899-12-31'), ['1850-05-05']],
  [
    'datetime',
    'TIMESTAMP',
    dates((at) => at.toISOString().replace('Z', '')),
    ['0001-01-01', '1871-01-18 09:15:00.001', '9999-12-31 23:59:59.999'],
  ],
  ['midnight', 'TIMESTAMP', fc.constantFrom('2024-01-01', '1999-12-31'), ['2024-01-01']],
  ['time', 'TIME', fc.constantFrom('00:00:00', '23:59:59.123456', '09:30:15'), ['09:30:15']],
  ['duration', 'INTERVAL', fc.constantFrom('30 hours', '5 minutes', '1 year 2 days'), ['30 hours']],
  ['json', 'JSON', json, ['{"id": 9007199254740993, "__proto__": {"x": 1}}']],
  ['list', 'BIGINT[]', fc.constantFrom('[1, 2]', '[9007199254740993]', '[]'), ['[1]']],
  ['nothing', 'BIGINT', fc.constant('1'), []],
];
const ROWS = 40;

const tables: fc.Arbitrary<ColumnContent[]> = fc.tuple(
  ...KINDS.map(([name, type, value, always]) =>
    fc
      .array(fc.option(value, { freq: 6 }), { minLength: ROWS - always.length, maxLength: ROWS - always.length })
      .map((values) => ({ name, type, values: name === 'nothing' ? values.map(() => null) : [...always, ...values] })),
  ),
);

const HARD_NAMES = [
  'a,b',
  'a;b',
  'a\tb',
  'a|b',
  '"',
  'a "b" c',
  'line\nbreak',
  'cr\r\nlf',
  'cr\ronly',
  '-name',
  '=1+1',
  '@x',
  ' lead',
  'trail ',
  ' ',
  '\u00a0',
  '',
  'id',
  'ID',
  'Id_2',
  'column_3',
  '7',
  '007',
  '1.5',
  '-1',
  '2020',
  '2024-01-01',
  '12:30',
  'true',
  'null',
  'NaN',
  'x'.repeat(500),
  '__proto__',
  'constructor',
  'toString',
  'sep=;',
  '#a',
  '//a',
  '\ufeffbom',
  '😀',
  'e\u0301',
  'אב',
  '_x000D_',
  'a.b',
  'a/b~c',
  '$x',
  "it's",
  '\\',
  '\u0001',
  'select',
  'c0',
];
/** Names with a field of whole numbers first, so that the first record of CSV is not like the others. */
const names = fc
  .uniqueArray(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...HARD_NAMES) }, hardText), {
    minLength: 12,
    maxLength: 12,
  })
  .map((some) => ['number', ...some]);
const fieldsNamed = (all: readonly string[]): ColumnContent[] =>
  all.map((name, i) =>
    i % 3 === 0 ? { name, type: 'BIGINT', values: ['1', '2'] } : { name, type: 'VARCHAR', values: ['a', '5'] },
  );

describe('an upload of an export has the same fields and values', () => {
  test('of every type', async () => {
    await fc.assert(
      fc.asyncProperty(tables, (columns) => expectRoundTrips(columns)),
      { numRuns: 2, endOnFailure: true },
    );
  });

  test('of every hard text', async () => {
    const values = ['text', ...HARD_TEXTS, null];
    await expectRoundTrips([
      { name: 'text', type: 'VARCHAR', values },
      { name: 'n', type: 'BIGINT', values: values.map((_, i) => String(i)) },
    ]);
  });

  test('of every hard name', async () => {
    await expectRoundTrips(fieldsNamed(['number', ...HARD_NAMES]));
    await fc.assert(
      fc.asyncProperty(names, (all) => expectRoundTrips(fieldsNamed(all))),
      { numRuns: 2, endOnFailure: true },
    );
  });

  test('of texts that could be divided otherwise, in one and several columns', async () => {
    const piece = fc.array(fc.constantFrom(...',;|\t#/"\n \u001a1a'), { maxLength: 5 }).map((all) => all.join(''));
    const column = fc
      .array(fc.option(piece, { freq: 8 }), { minLength: 8, maxLength: 8 })
      .map((values) => ['text', ...values]);
    const columns = fc
      .array(column, { minLength: 1, maxLength: 3 })
      .map((all) => all.map((values, i) => ({ name: `#${i};a`, type: 'VARCHAR', values })));
    await fc.assert(
      fc.asyncProperty(columns, (all) =>
        expectRoundTrips(
          all,
          EXACT_EXPORTS.filter(([format]) => format === 'csv'),
        ),
      ),
      { numRuns: 8, endOnFailure: true },
    );
    const even = [
      { name: 'a;b;c', type: 'VARCHAR', values: ['1;2;3', 'c;d;e'] },
      { name: 'd;e', type: 'VARCHAR', values: ['4;5', '1;2'] },
    ];
    await expectRoundTrips(even);
  });

  test('of texts that all look like other values, where the format has types', async () => {
    const columns = [
      ['1', '2'],
      ['true', 'false'],
      ['2024-01-01', '1850-05-05'],
      ['2024-01-01T00:00:00Z', '2024-01-01'],
      ['#N/A', '#REF!'],
      ['1234567890123456789', '5'],
    ];
    await expectRoundTrips(
      columns.map((values, i) => ({ name: `c${i}`, type: 'VARCHAR', values })),
      [
        ['xlsx', {}],
        ['parquet', {}],
      ],
    );
  });

  test('of texts of 3 MB, in formats without a limit of their own', async () => {
    const columns = [
      { name: 'long', type: 'VARCHAR', values: ['x",\n'.repeat(750_000), 'a'] },
      { name: 'n', type: 'BIGINT', values: ['1', '2'] },
    ];
    await expectRoundTrips(
      columns,
      EXACT_EXPORTS.filter(([format]) => format !== 'xlsx'),
    );
  });
});

test('exports without rows have the fields where the format has a header', async () => {
  const table = await datasetOf([
    { name: 'a', type: 'BIGINT', values: [] },
    { name: 'b', type: 'VARCHAR', values: [] },
  ]);
  const fieldsOf = async (format: ExportFormat) => (await upload(format, await exportOf(format, table, {}))).fields;
  const texts = [
    { name: 'a', type: 'string' },
    { name: 'b', type: 'string' },
  ];
  expect(await fieldsOf('csv')).toEqual(texts);
  expect(await fieldsOf('xlsx')).toEqual(texts);
  expect(await fieldsOf('parquet')).toEqual([
    { name: 'a', type: 'integer' },
    { name: 'b', type: 'string' },
  ]);
  for (const format of ['json', 'ndjson'] as const)
    await expect(fieldsOf(format)).rejects.toMatchObject({ status: 400 });
});

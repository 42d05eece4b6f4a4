import { writeXlsx } from 'hucre/xlsx';
import { describe, expect, test } from 'vitest';
import { validateDatasourceConfig } from '../../src/services/datasource/datasource-config.ts';
import { driverOf } from '../support/uploaded-source.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

/** Reads a column of a CSV file. Returns its field type, the detected column, and its values. */
async function readColumn(values: string[], given: Record<string, unknown> = {}) {
  const quoted = values.map((value) => (value === '' ? '' : `"${value}"`));
  const { config, types, rows } = await readInProcess(
    `n,v\n${quoted.map((value, i) => `${i},${value}`).join('\n')}\n`,
    given,
  );
  const { name: _, ...column } = (config['columns'] as { name: string; type: string }[])[1]!;
  return { type: types[1]!.split(' ')[1], column, values: rows.map(([, value]) => value) };
}

describe('a column that admits one reading is read so', () => {
  test.each<[values: string[], type: string, column: object, read: unknown[]]>([
    [['1.234,56', '-7,5', '12'], 'number', { type: 'DOUBLE', decimal: ',' }, [1234.56, -7.5, 12]],
    [['1.234.567', '12'], 'integer', { type: 'BIGINT', decimal: ',' }, [1234567, 12]],
    [["1'234.50", '2'], 'number', { type: 'DOUBLE', decimal: '.' }, [1234.5, 2]],
    [['1 234,50', '2'], 'number', { type: 'DOUBLE', decimal: ',' }, [1234.5, 2]],
    [['1\u202f234', '2'], 'integer', { type: 'BIGINT', decimal: '.' }, [1234, 2]],
    [['1.234,56 €', '5,00 €'], 'number', { type: 'DOUBLE', decimal: ',' }, [1234.56, 5]],
    [['$1,234.50', '-$3.25', '$-1'], 'number', { type: 'DOUBLE', decimal: '.' }, [1234.5, -3.25, -1]],
    [['1,234,567.89', '1'], 'number', { type: 'DOUBLE', decimal: '.' }, [1234567.89, 1]],
    [['12%', '12.3%', '-0.5 %'], 'number', { type: 'DOUBLE', decimal: '.' }, [0.12, 0.123, -0.005]],
    [['12,5 %', '1%'], 'number', { type: 'DOUBLE', decimal: ',' }, [0.125, 0.01]],
    [
      ['12.345.678.901.234.567,89', '1'],
      'number',
      { type: 'DECIMAL(19,2)', decimal: ',' },
      ['12345678901234567.89', '1'],
    ],
    [['31.12.2025', '1.2.2026'], 'date', { type: 'DATE', dateFormat: '%d.%m.%Y' }, ['2025-12-31', '2026-02-01']],
    [['12/31/2025', '1/2/2026'], 'date', { type: 'DATE', dateFormat: '%m/%d/%Y' }, ['2025-12-31', '2026-01-02']],
    [['31/12/2025', '01/02/2026'], 'date', { type: 'DATE', dateFormat: '%d/%m/%Y' }, ['2025-12-31', '2026-02-01']],
    [['2025/12/31'], 'date', { type: 'DATE', dateFormat: '%Y/%m/%d' }, ['2025-12-31']],
    [
      ['31.12.2025 23:59', '01.01.2026 00:00'],
      'datetime',
      { type: 'TIMESTAMP', dateFormat: '%d.%m.%Y %H:%M' },
      ['2025-12-31T23:59:00.000Z', '2026-01-01T00:00:00.000Z'],
    ],
    [
      ['12/31/2025 11:59:30 PM', '1/1/2026 12:00:00 AM'],
      'datetime',
      { type: 'TIMESTAMP', dateFormat: '%m/%d/%Y %I:%M:%S %p' },
      ['2025-12-31T23:59:30.000Z', '2026-01-01T00:00:00.000Z'],
    ],
    [
      ['NA', '1', 'n/a', '#N/A', '-', ''],
      'integer',
      { type: 'BIGINT', nullValues: ['#N/A', '-', 'NA', 'n/a'] },
      [null, 1, null, null, null, null],
    ],
    [[' 10,50 ', '\u00a09,00', ',5'], 'number', { type: 'DOUBLE', decimal: ',', trim: true }, [10.5, 9, 0.5]],
    [
      [' 31.12.2025', '1.2.2026\t'],
      'date',
      { type: 'DATE', dateFormat: '%d.%m.%Y', trim: true },
      ['2025-12-31', '2026-02-01'],
    ],
    [['NULL', '1.234,5'], 'number', { type: 'DOUBLE', decimal: ',', nullValues: ['NULL'] }, [null, 1234.5]],
    [['NA', '31.12.2025'], 'date', { type: 'DATE', dateFormat: '%d.%m.%Y', nullValues: ['NA'] }, [null, '2025-12-31']],
  ])('%j is a %s', async (values, type, column, read) => {
    expect(await readColumn(values)).toEqual({ type, column, values: read });
  });

  test('every value counts, also the last of many', async () => {
    const numbers = Array.from({ length: 60_000 }, () => '1,234');
    expect(await readColumn([...numbers, '1,2'])).toMatchObject({ column: { type: 'DOUBLE', decimal: ',' } });
    expect(await readColumn([...numbers, '1,234.5'])).toMatchObject({ column: { type: 'DOUBLE', decimal: '.' } });
    expect(await readColumn([...numbers, 'one'])).toMatchObject({ column: { type: 'VARCHAR' } });
  });
});

describe('a column that admits several readings, or none, is text', () => {
  test.each([
    [['1,234', '2,345']],
    [['$1,234']],
    [['01/02/2024', '3/4/2024']],
    [['$5', '€5']],
    [['12%', '5']],
    [['1.234,56', '1,234.56']],
    [['1.23,45']],
    [['007,5']],
    [['+1,5']],
    [['12,34,567']],
    [['192.168.100.101', '192.168.100.102']],
    [['1.100.200', '1.100.201']],
    [['501 234 567', '600 123 456']],
    [['110 001', '110 002']],
    [["100'200'300"]],
    [['31.12.25']],
    [['30.02.2025']],
    [['31.12.2025', '2025-12-31']],
    [['1,5', 'NaN']],
    [['NA', 'DE']],
    [['NA', '-', 'NULL']],
  ])('%j', async (values) => {
    expect(await readColumn(values)).toEqual({ type: 'string', column: { type: 'VARCHAR' }, values });
  });

  test('points that could separate thousands are a problem until settings decide', async () => {
    const message =
      'The values can be read in several ways, and are read as numbers with decimals. Set decimal, or its type in columns';
    const content = 'a;b;c;d\n1.234;1.234;0.500;1.0e3\n2.500;1.5;1.250;2\n';
    const { config, problems, rows } = await readInProcess(content);
    expect(problems).toEqual([{ column: 'a', message }]);
    expect(rows).toEqual([
      [1.234, 1.234, 0.5, 1000],
      [2.5, 1.5, 1.25, 2],
    ]);
    expect(await readInProcess(content, config)).toMatchObject({ problems: [], rows });
    expect(await readInProcess(content, { decimal: '.' })).toMatchObject({ problems: [], rows });
    expect(await readInProcess('a;b\n1.234;x\n2.500;x\n', { decimal: ',' })).toMatchObject({
      problems: [],
      rows: [
        [1234, 'x'],
        [2500, 'x'],
      ],
    });
    expect(await readInProcess('[{"a": 1.234}]', {}, 'x.json')).toMatchObject({ problems: [], rows: [[1.234]] });
  });

  test('every value counts for the meaning of a point', async () => {
    const numbers = Array.from({ length: 60_000 }, () => '1.234').join('\n');
    expect((await readInProcess(`a\n${numbers}\n2.345\n`)).problems).toMatchObject([{ column: 'a' }]);
    expect((await readInProcess(`a\n${numbers}\n2.5\n`)).problems).toEqual([]);
  });

  test('`1.234` is a number with decimals, unless another column has decimal commas', async () => {
    expect(await readInProcess('a;b\n1.234;1,5x\n')).toMatchObject({
      types: ['a number', 'b string'],
      rows: [[1.234, '1,5x']],
    });
    expect(await readInProcess('a;b;c\n1.234;1,5;1.25\n')).toMatchObject({
      types: ['a string', 'b number', 'c number'],
      rows: [['1.234', 1.5, 1.25]],
      problems: [{ column: 'a', message: expect.stringContaining('several ways') as string }],
    });
    expect(await readInProcess('a;b;c\n1,234;01/02/2024;x\n')).toMatchObject({
      problems: [{ column: 'a' }, { column: 'b' }],
    });
  });
});

describe('settings of values', () => {
  const columns = [
    { name: 'n', type: 'BIGINT' },
    { name: 'v', type: 'DOUBLE' },
  ];
  test.each<[values: string[], given: object, type: string, read: unknown[]]>([
    [['1.234', '2.345'], { decimal: ',' }, 'integer', [1234, 2345]],
    [['1,234'], { decimal: ',' }, 'number', [1.234]],
    [['1,234'], { decimal: '.' }, 'integer', [1234]],
    [['1,234'], { thousands: ',' }, 'integer', [1234]],
    [['1,234'], { thousands: '.' }, 'number', [1.234]],
    [['1.234'], { decimal: ',', thousands: '' }, 'string', ['1.234']],
    [['1_234,5'], { decimal: ',', thousands: '_' }, 'number', [1234.5]],
    [['1.5'], { decimal: ',' }, 'string', ['1.5']],
    [['01/02/2024'], { dateFormat: '%d/%m/%Y' }, 'date', ['2024-02-01']],
    [['31.12.25'], { dateFormat: '%d.%m.%y' }, 'date', ['2025-12-31']],
    [['31.12.25'], { dateFormat: '%d.%m.%Y' }, 'string', ['31.12.25']],
    [['1. March 2024'], { dateFormat: '%d. %B %Y' }, 'date', ['2024-03-01']],
    [['20240229 0930 +0200'], { dateFormat: '%Y%m%d %H%M %z' }, 'datetime', ['2024-02-29T07:30:00.000Z']],
    [['2024-02-01', ''], { dateFormat: '%d/%m/%Y' }, 'date', ['2024-02-01', null]],
    [['x', 'none', '-'], { nullValues: ['x', 'none'] }, 'string', ['x', 'none', '-']],
    [['1', '2,5'], { decimal: ',', columns }, 'number', [1, 2.5]],
  ])('%j with %j is a %s', async (values, given, type, read) => {
    expect(await readColumn(values, given as Record<string, unknown>)).toMatchObject({ type, values: read });
  });

  test.each(['json', 'xlsx'] as const)('decimal applies to the texts of %s, and not to its numbers', async (format) => {
    const table = [
      ['text', 'number', 'both'],
      ['1.234,56', 1.5, '1,5'],
      ['-7,5', 2, 2.5],
    ];
    const records = table.slice(1).map((row) => Object.fromEntries(row.map((value, i) => [table[0]![i], value])));
    const content =
      format === 'json'
        ? JSON.stringify(records)
        : Buffer.from(await writeXlsx({ sheets: [{ name: 'One', rows: table }] }));
    const found = await readInProcess(content, { decimal: ',' }, `x.${format}`);
    expect(found).toMatchObject({
      types: ['text number', 'number number', 'both string'],
      rows: [
        [1234.56, 1.5, '1,5'],
        [-7.5, 2, '2.5'],
      ],
    });
    expect(found.config['columns']).toEqual([
      { name: 'text', type: 'DOUBLE', decimal: ',' },
      { name: 'number', type: 'DOUBLE' },
      { name: 'both', type: 'VARCHAR' },
    ]);
    const doubles = ['text', 'number', 'both'].map((name) => ({ name, type: 'DOUBLE' }));
    expect(await readInProcess(content, { decimal: ',', columns: doubles }, `x.${format}`)).toMatchObject({
      rows: [
        [1234.56, 1.5, 1.5],
        [-7.5, 2, 2.5],
      ],
    });
  });

  test('thousands alone decide what a point is', async () => {
    expect(await readColumn(['1.234', '2.500'], { thousands: '.' })).toMatchObject({
      column: { type: 'BIGINT' },
      values: [1234, 2500],
    });
    expect(await readColumn(['1.5'], { thousands: '.' })).toMatchObject({ type: 'string', values: ['1.5'] });
  });

  const refused = String.raw`^[^\p{L}\p{N}\p{Sc}\p{Sm}\p{Pd}%"“”„«»]?$`;
  test.each<[given: object, pattern: string]>([
    [{ decimal: ',', thousands: ',' }, '^[^,]?$'],
    [{ decimal: '.', thousands: '.' }, '^[^.]?$'],
    ...['1', '٣', '-', '+', '−', '$', '%', 'e', 'é', '"', '“'].map((thousands): [object, string] => [
      { thousands },
      refused,
    ]),
  ])('%j is refused', (given, pattern) => {
    const refusal = (config: object) => {
      try {
        return validateDatasourceConfig(driverOf('file'), { format: 'csv', ...config });
      } catch (error) {
        return error;
      }
    };
    expect(refusal(given)).toMatchObject({
      status: 400,
      message: `config.thousands must match pattern "${pattern}"`,
      validation: [{ path: ['config', 'thousands'] }],
    });
    expect(refusal({ columns: [{ name: 'a', type: 'DOUBLE', ...given }] })).toMatchObject({
      status: 400,
      message: `config.columns.0.thousands must match pattern "${pattern}"`,
      validation: [{ path: ['config', 'columns', '0', 'thousands'] }],
    });
  });

  test.each(['', ' ', '.', "'", '’', '_', '\u00a0', '\u202f'])('%j may separate thousands', (thousands) => {
    const config = { format: 'csv', decimal: ',', thousands };
    expect(validateDatasourceConfig(driverOf('file'), config)).toMatchObject(config);
  });

  test('a value that the reading of its column does not admit is 400 and named', async () => {
    await expect(readColumn(['1,5', '2.5'], { decimal: ',', columns })).rejects.toMatchObject({
      status: 400,
      message: 'Line 3 of the file, column "v": "2.5" is not a DOUBLE. Change its type, trim or nullValues in columns',
    });
    const date = [columns[0], { name: 'v', type: 'DATE', dateFormat: '%d.%m.%Y' }];
    await expect(readColumn(['31.12.2025', '31.13.2025'], { columns: date })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('31.13.2025') as string,
    });
  });

  test('null words apply to all columns when they are given, and instead of the usual ones', async () => {
    expect(await readInProcess('a,b\nx,1\nNA,x\n?,2\n', { nullValues: ['x', '?'] })).toMatchObject({
      types: ['a string', 'b integer'],
      rows: [
        [null, 1],
        ['NA', null],
        [null, 2],
      ],
    });
    expect(await readInProcess('a,b\n1,1\n2,NA\n', { nullValues: [] })).toMatchObject({
      rows: [
        [1, '1'],
        [2, 'NA'],
      ],
    });
    expect(
      await readInProcess('[{"a": "?", "b": 1}, {"a": "y", "b": "?"}]', { nullValues: ['?'] }, 'x.json'),
    ).toMatchObject({
      rows: [
        [null, '1'],
        ['y', null],
      ],
    });
  });

  test('ragged records have nulls for missing values, and names for columns that the header lacks', async () => {
    expect(await readInProcess('a,b\n1,2\n3\n4,5,6\n"x\ny"\n', { ragged: true })).toMatchObject({
      config: { ragged: true, columns: [{ name: 'a' }, { name: 'b' }, { name: 'column_3', type: 'BIGINT' }] },
      rows: [
        ['1', 2, null],
        ['3', null, null],
        ['4', 5, 6],
        ['x\ny', null, null],
      ],
    });
    await expect(readInProcess('a,b\n1,2\n3\n')).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^Line 3 of the file: Expected number of columns: 2, found: 1\. Set ragged /),
    });
  });
});

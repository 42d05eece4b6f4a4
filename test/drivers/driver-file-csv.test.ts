import { beforeAll, describe, expect, test } from 'vitest';
import type { Column } from '../../src/core/fields.ts';
import type { QueryResult } from '../../src/core/row-source.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { type OpenFile } from '../support/uploaded-source.ts';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files, upload, readRows, uploadFailure } = useUploads();

describe('types of CSV columns', () => {
  /** The values of a column, its field type, the JSON forms of the values. */
  const VALUES: [values: string[], type: string, json: unknown[]][] = [
    [['1', '-2', ''], 'integer', [1, -2, null]],
    [['007', '1'], 'string', ['007', '1']],
    [['+1', '2'], 'string', ['+1', '2']],
    [['1', 'one'], 'string', ['1', 'one']],
    [['9007199254740993', '1'], 'integer', ['9007199254740993', '1']],
    [['-9223372036854775808'], 'integer', ['-9223372036854775808']],
    [['9223372036854775808', '1'], 'integer', ['9223372036854775808', '1']],
    [['123456789012345678901234567890.5', '0.5'], 'number', ['123456789012345678901234567890.5', '0.5']],
    [['9'.repeat(39), '1'], 'string', ['9'.repeat(39), '1']],
    [['1', '2.50'], 'number', [1, 2.5]],
    [['0.1234567890123456789'], 'number', ['0.1234567890123456789']],
    [['1e3', '1.5E-7'], 'number', [1000, 1.5e-7]],
    [['1e400', '1'], 'string', ['1e400', '1']],
    [['true', 'FALSE', ''], 'boolean', [true, false, null]],
    [['yes', 'no'], 'string', ['yes', 'no']],
    [['2024-02-29', ''], 'date', ['2024-02-29', null]],
    [['2024-02-30'], 'string', ['2024-02-30']],
    [['01/02/2024'], 'string', ['01/02/2024']],
    [
      ['2024-02-29T12:34:56Z', '2024-02-29 12:34', '2024-02-29 12:34:56.789999+02:00'],
      'datetime',
      ['2024-02-29T12:34:56.000Z', '2024-02-29T12:34:00.000Z', '2024-02-29T10:34:56.789Z'],
    ],
    [['2024-02-29', '2024-02-29T12:00:00'], 'datetime', ['2024-02-29T00:00:00.000Z', '2024-02-29T12:00:00.000Z']],
    [['NaN', '1'], 'string', ['NaN', '1']],
    [['12:34:56'], 'string', ['12:34:56']],
    [['', '', ''], 'string', [null, null, null]],
    [['"a ""b"", \\N\nü🦆"', '\\N', '""'], 'string', ['a "b", \\N\nü🦆', '\\N', '']],
    [['1', '""'], 'integer', [1, null]],
    [[' 1', '2\t', '  '], 'integer', [1, 2, null]],
    [['\u00a01.5', '\u30002 ', '" 3\u202f"'], 'number', [1.5, 2, 3]],
    [['.5', '-.25', '5.'], 'number', [0.5, -0.25, 5]],
    [['+.5', '1'], 'string', ['+.5', '1']],
    [['.', '5'], 'string', ['.', '5']],
    [[' true', 'FALSE '], 'boolean', [true, false]],
    [[' 2024-02-29', ' NA ', '2024-03-01 '], 'date', ['2024-02-29', null, '2024-03-01']],
    [[' 2024-02-29 12:00 '], 'datetime', ['2024-02-29T12:00:00.000Z']],
    [[' x', '  ', 'y '], 'string', [' x', '  ', 'y ']],
    [[' 007', '1'], 'string', [' 007', '1']],
    [['1_000'], 'string', ['1_000']],
    [['0x10'], 'string', ['0x10']],
    [['null', 'NULL'], 'string', ['null', 'NULL']],
    [['{"a": 1}'.replaceAll('"', '""').replace(/.*/, '"$&"')], 'string', ['{"a": 1}']],
  ];
  const results = {} as { columns: Column[]; result: QueryResult; indexed: Awaited<ReturnType<OpenFile['index']>> };

  beforeAll(async () => {
    const lines = [0, 1, 2].map((row) => VALUES.map(([values]) => values[row] ?? '').join(','));
    const { file } = await upload(`${VALUES.map((_, i) => `v${i}`).join(',')}\n${lines.join('\n')}\n`);
    results.columns = await file.connection.describe(boundQuery(SELECT_ALL), neverAborted);
    results.result = await file.query(SELECT_ALL);
    results.indexed = await file.index(SELECT_ALL);
  });

  test.each(VALUES.map((value, i) => [i, ...value] as const))('%i: %j is a %s', (i, values, type, json) => {
    expect(results.columns[i]).toMatchObject({ name: `v${i}`, type });
    expect(results.result.fields[i]).toMatchObject({ name: `v${i}`, type });
    expect(results.result.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
    expect(results.indexed.generation.fields[i]).toMatchObject({ name: `v${i}`, type });
    expect(results.indexed.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
  });

  test('a value in the last of many rows counts for the type', async () => {
    const { file, config } = await upload(
      `id,v\n${Array.from({ length: 200_000 }, (_, i) => `${i},${i}`).join('\n')}\n200000,last\n`,
    );
    expect(config.columns).toEqual([
      { name: 'id', type: 'BIGINT' },
      { name: 'v', type: 'VARCHAR' },
    ]);
    const { generation } = await file.index(SELECT_ALL);
    expect(generation).toMatchObject({ records: 200_001, fields: [{ type: 'integer' }, { type: 'string' }] });
    expect((await file.query('select v from data where id = 200000')).rows).toEqual([{ v: 'last' }]);
  });
});

describe('CSV dialects', () => {
  test.each([
    ['commas', 'id,name\n1,x\n', { delimiter: ',', header: true }],
    ['semicolons and decimal commas', 'id;price\n1;"2,5"\n2;3,5\n', { delimiter: ';' }],
    ['tabs', 'id\tname\n1\tx, y\n2\tz\n', { delimiter: '\t' }],
    ['pipes', 'id|name\n1|x\n', { delimiter: '|' }],
    [
      'one column of prose',
      'text\nhello, world\nbye\n',
      { delimiter: ';', columns: [{ name: 'text', type: 'VARCHAR' }] },
    ],
    [
      'no header',
      '1,x\n2,y\n',
      {
        header: false,
        columns: [
          { name: 'column_1', type: 'BIGINT' },
          { name: 'column_2', type: 'VARCHAR' },
        ],
      },
    ],
    [
      'only a header',
      'id,name\n',
      {
        header: true,
        columns: [
          { name: 'id', type: 'VARCHAR' },
          { name: 'name', type: 'VARCHAR' },
        ],
      },
    ],
    [
      'only a header without its end',
      'id,name',
      {
        header: true,
        columns: [
          { name: 'id', type: 'VARCHAR' },
          { name: 'name', type: 'VARCHAR' },
        ],
      },
    ],
    [
      'names that repeat, differ in case or are empty',
      'a,A,,a\n1,2,3,4\n',
      { columns: [{ name: 'a' }, { name: 'A_2' }, { name: 'column_3' }, { name: 'a_3' }] },
    ],
    ['quoted names with line breaks', '"a\nb","c ""d"""\n1,2\n', { columns: [{ name: 'a\nb' }, { name: 'c "d"' }] }],
    ['backslashes before quotes', 'a,b\n"x \\"y\\" z",1\n', { escape: '\\' }],
    ['UTF-8', 'a\nü\n', { encoding: 'utf-8' }],
  ])('%s', async (_, content, expected) => {
    expect((await upload(content)).config).toMatchObject({ format: 'csv', quote: '"', ...expected });
  });

  test('line ends, a byte order mark and blank lines change nothing', async () => {
    const rows = [
      [1, 'x'],
      [2, 'y'],
    ];
    for (const content of [
      'id,n\n1,x\n2,y',
      'id,n\r\n1,x\r\n2,y\r\n',
      'id,n\r1,x\r2,y\r',
      '\ufeffid,n\n1,x\n2,y\n',
      '\nid,n\n\n1,x\n2,y\n\n\n',
    ]) {
      expect(await readRows(content)).toEqual({ types: ['id integer', 'n string'], rows });
    }
  });

  test('UTF-16 is recognised by its byte order mark, Windows-1252 is a guess that the config shows', async () => {
    const rows = [['ü € “x”', 1]];
    const text = 'a,b\nü € “x”,1\n';
    const swapped = Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    const legacy = Buffer.concat([
      Buffer.from('a,b\n\xfc ', 'latin1'),
      Buffer.from([0x80, 0x20, 0x93]),
      Buffer.from('x'),
      Buffer.from([0x94]),
      Buffer.from(',1\n'),
    ]);
    for (const [content, encoding] of [
      [Buffer.from(`\ufeff${text}`, 'utf16le'), 'utf-16le'],
      [swapped, 'utf-16be'],
      [legacy, 'windows-1252'],
    ] as const) {
      expect((await upload(content)).config).toMatchObject({ encoding });
      expect(await readRows(content)).toEqual({ types: ['a string', 'b integer'], rows });
    }
  });

  test('a corrected config is applied, and what it omits is detected', async () => {
    const { name } = await upload('id;zip\n1;01234\n2;"a,b"\n');
    const query = async (config: Record<string, unknown>) =>
      (await files.open('file', name, { format: 'csv', ...config }).query(SELECT_ALL)).rows.map((row) =>
        Object.values(row),
      );
    expect(await query({})).toEqual([
      [1, '01234'],
      [2, 'a,b'],
    ]);
    expect(await query({ header: false })).toEqual([
      ['id', 'zip'],
      ['1', '01234'],
      ['2', 'a,b'],
    ]);
    expect(await query({ quote: '' })).toEqual([
      [1, '01234'],
      [2, '"a,b"'],
    ]);
    expect(
      await query({
        columns: [
          { name: 'n', type: 'VARCHAR' },
          { name: 'z', type: 'VARCHAR' },
        ],
      }),
    ).toEqual([
      ['1', '01234'],
      ['2', 'a,b'],
    ]);
    await expect(
      query({
        columns: [
          { name: 'n', type: 'BIGINT' },
          { name: 'z', type: 'BIGINT' },
        ],
      }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining(`'a,b'`) as string });
    await expect(query({ columns: [{ name: 'n', type: 'VARCHAR' }] })).rejects.toMatchObject({ status: 400 });
  });
});

describe('settings that are given for an upload', () => {
  const legacy = Buffer.from('a;b\n\xe4;1\n', 'latin1');

  test.each<[string, string | Buffer, Record<string, unknown>, { types: string[]; rows: unknown[][] }]>([
    [
      'skip precedes delimiter, header and columns',
      'Report\nMade 2026\n\nregion,sales\nNorth,10\n',
      { skip: 3 },
      { types: ['region string', 'sales integer'], rows: [['North', 10]] },
    ],
    [
      'a delimiter precedes the names',
      'a|b;c|d\n1|2;3|4\n',
      { delimiter: ';' },
      { types: ['a|b string', 'c|d string'], rows: [['1|2', '3|4']] },
    ],
    [
      'a header precedes the types',
      '1,x\n2,y\n',
      { header: true },
      { types: ['1 integer', 'x string'], rows: [[2, 'y']] },
    ],
    [
      'a quote precedes the delimiter',
      `'a;b','c;d'\n'1;2','3'\n`,
      { quote: `'` },
      { types: ['a;b string', 'c;d integer'], rows: [['1;2', 3]] },
    ],
    [
      'an encoding precedes everything',
      Buffer.from('a;b\nx;1\n', 'utf16le'),
      { encoding: 'utf-16le' },
      { types: ['a string', 'b integer'], rows: [['x', 1]] },
    ],
    [
      'columns replace names and types, and nothing else',
      legacy,
      {
        columns: [
          { name: 'x', type: 'VARCHAR' },
          { name: 'y', type: 'VARCHAR' },
        ],
      },
      { types: ['x string', 'y string'], rows: [['ä', '1']] },
    ],
    ['a format precedes the content', '[1\n[2\n', { format: 'csv' }, { types: ['[1 string'], rows: [['[2']] }],
  ])('%s', async (_, content, given, expected) => {
    expect(await readRows(content, 'x', given)).toEqual(expected);
    expect((await upload(content, 'x', given)).config).toMatchObject(given);
  });

  test('a setting that does not fit the file is refused', async () => {
    expect(await uploadFailure(legacy, 'x.csv', { encoding: 'utf-8' })).toMatchObject({
      status: 400,
      message: 'The file is not UTF-8',
    });
    const columns = [
      { name: 'a', type: 'BIGINT' },
      { name: 'b', type: 'BIGINT' },
    ];
    expect(await uploadFailure('a,b\n1,x\n', 'x.csv', { columns })).toMatchObject({
      status: 400,
      message: 'Line 2 of the file, column "b": "x" is not a BIGINT. Change its type, trim or nullValues in columns',
    });
  });
});

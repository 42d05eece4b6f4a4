import { readFile, rm, writeFile } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Column } from '../../src/core/fields.ts';
import type { QueryResult } from '../../src/core/row-source.ts';
import { ask, bound, never } from '../support/postgres-source.ts';
import {
  driverOf,
  failure,
  filesIn,
  queryProcesses,
  until,
  useFiles,
  type OpenFile,
} from '../support/uploaded-source.ts';

const files = useFiles();
const whole = 'select * from data';

let made = 0;

/** Uploads a file: what it is recognised as, and the open file. */
async function upload(
  content: string | Buffer,
  filename = 'x.csv',
): Promise<{ config: Record<string, unknown>; name: string; file: OpenFile }> {
  const name = `made-${made++}`;
  await writeFile(files.path(name), content);
  const config = (await recognise(name, filename))!;
  return { config, name, file: files.open('file', name, config) };
}

const recognise = (name: string, filename: string) =>
  driverOf('file').upload!.recognise(files.path(name), filename, never);

/** The rows of a file, read as a dataset of it would. */
const rowsOf = async (content: string | Buffer, filename?: string) => {
  const { file } = await upload(content, filename);
  const { fields, rows } = await file.query(whole, [], 1000);
  return { types: fields.map(({ name, type }) => `${name} ${type}`), rows: rows.map((row) => Object.values(row)) };
};

const refusal = async (content: string | Buffer, filename?: string) =>
  (await failure(upload(content, filename))) as { status: number; message: string };

async function duckdb(...statements: string[]): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
}

describe('types of CSV', () => {
  /** values of a column, its field type, JSON forms */
  const VALUES: [values: string[], type: string, json: unknown[]][] = [
    [['1', '-2', ''], 'integer', [1, -2, null]],
    [['007', '1'], 'string', ['007', '1']],
    [['+1', '2'], 'string', ['+1', '2']],
    [['1', 'one'], 'string', ['1', 'one']],
    [['9007199254740993', '1'], 'integer', ['9007199254740993', '1']],
    [['-9223372036854775808'], 'integer', ['-9223372036854775808']],
    [['9223372036854775808', '1'], 'number', ['9223372036854775808', '1']],
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
    [[' 1', '2'], 'string', [' 1', '2']],
    [['1_000'], 'string', ['1_000']],
    [['0x10'], 'string', ['0x10']],
    [['null', 'NULL'], 'string', ['null', 'NULL']],
    [['{"a": 1}'.replaceAll('"', '""').replace(/.*/, '"$&"')], 'string', ['{"a": 1}']],
  ];
  const answers = {} as { columns: Column[]; result: QueryResult; indexed: Awaited<ReturnType<OpenFile['index']>> };

  beforeAll(async () => {
    const lines = [0, 1, 2].map((row) => VALUES.map(([values]) => values[row] ?? '').join(','));
    const { file } = await upload(`${VALUES.map((_, i) => `v${i}`).join(',')}\n${lines.join('\n')}\n`);
    answers.columns = await file.connection.describe(ask(whole), never);
    answers.result = await file.query(whole);
    answers.indexed = await file.index(whole);
  });

  test.each(VALUES.map((value, i) => [i, ...value] as const))('%i: %j is a %s', (i, values, type, json) => {
    expect(answers.columns[i]).toMatchObject({ name: `v${i}`, type });
    expect(answers.result.fields[i]).toMatchObject({ name: `v${i}`, type });
    expect(answers.result.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
    expect(answers.indexed.generation.fields[i]).toMatchObject({ name: `v${i}`, type });
    expect(answers.indexed.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
  });

  test('a value in the last of many rows decides too', async () => {
    const { file, config } = await upload(
      `id,v\n${Array.from({ length: 200_000 }, (_, i) => `${i},${i}`).join('\n')}\n200000,last\n`,
    );
    expect(config.columns).toEqual([
      { name: 'id', type: 'BIGINT' },
      { name: 'v', type: 'VARCHAR' },
    ]);
    const { generation } = await file.index(whole);
    expect(generation).toMatchObject({ records: 200_001, fields: [{ type: 'integer' }, { type: 'string' }] });
    expect((await file.query('select v from data where id = 200000')).rows).toEqual([{ v: 'last' }]);
  });
});

describe('how CSV is written', () => {
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
      expect(await rowsOf(content)).toEqual({ types: ['id integer', 'n string'], rows });
    }
  });

  test('encodings: UTF-16 by its mark, Windows-1252 as a guess that the config tells', async () => {
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
      expect(await rowsOf(content)).toEqual({ types: ['a string', 'b integer'], rows });
    }
  });

  test('a corrected config is obeyed, and finds out the rest', async () => {
    const { name } = await upload('id;zip\n1;01234\n2;"a,b"\n');
    const query = async (config: Record<string, unknown>) =>
      (await files.open('file', name, { format: 'csv', ...config }).query(whole)).rows.map((row) => Object.values(row));
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

describe('JSON', () => {
  const objects = [
    {
      id: 9007199254740991,
      s: 'a',
      n: 1.5,
      b: true,
      d: '2024-01-01',
      t: '2024-01-01T10:00:00+02:00',
      o: { x: [1, null, 'ü'] },
      l: [1],
      mixed: 1,
      zip: '007',
    },
    { id: 2, s: '', n: 2, b: null, d: null, mixed: 'two', zip: '1', late: 'x\u0000y "q"' },
  ];
  const types = [
    'id integer',
    's string',
    'n number',
    'b boolean',
    'd date',
    't datetime',
    'o json',
    'l json',
    'mixed string',
    'zip string',
    'late string',
  ];
  const rows = [
    [
      9007199254740991,
      'a',
      1.5,
      true,
      '2024-01-01',
      '2024-01-01T08:00:00.000Z',
      { x: [1, null, 'ü'] },
      [1],
      '1',
      '007',
      null,
    ],
    [2, '', 2, null, null, null, null, null, 'two', '1', 'x\u0000y "q"'],
  ];

  test('an array of objects and an object a line are the same rows, also in the index', async () => {
    for (const [content, filename, format] of [
      [JSON.stringify(objects, null, 2), 'x.json', 'json'],
      [objects.map((one) => JSON.stringify(one)).join('\n'), 'x.json', 'ndjson'],
    ] as const) {
      expect(await rowsOf(content, filename)).toEqual({ types, rows });
      const { file, config } = await upload(content, filename);
      expect(config).toMatchObject({ format });
      expect((await file.index(whole)).rows.map((row) => Object.values(row))).toEqual(rows);
    }
  });

  test('whole numbers keep every digit', async () => {
    expect(
      await rowsOf(
        '[{"a": 9007199254740993, "b": 123456789012345678901234567890, "c": -5}, {"a": 1, "b": 2, "c": 18446744073709551615}]',
        'x.json',
      ),
    ).toEqual({
      types: ['a integer', 'b number', 'c number'],
      rows: [
        ['9007199254740993', '123456789012345678901234567890', '-5'],
        ['1', '2', '18446744073709551615'],
      ],
    });
  });

  test('keys may be anything but empty or the same but for case', async () => {
    expect(await rowsOf('[{"a/b": 1, "$x": 2, "q\\"q": 3, "select": 4, "it\'s": 5}]', 'x.json')).toMatchObject({
      types: ['a/b integer', '$x integer', 'q"q integer', 'select integer', "it's integer"],
      rows: [[1, 2, 3, 4, 5]],
    });
    expect(await refusal('[{"id": 1, "ID": 2}]', 'x.json')).toMatchObject({
      status: 400,
      message: 'The key "ID" differs from another only in case, which SQL does not tell apart',
    });
  });

  test.each([
    ['{"a": 1,\n "b": 2}', 'x.json', /first line of the file is no JSON object/],
    ['"text"', 'x.json', /begins neither with \[ nor with \{/],
    ['[1, {"a": 2}]', 'x.json', /Record 1 of the file is no JSON object/],
    ['{"a":1}\n5\n', 'x.ndjson', /Record 2 of the file is no JSON object/],
    ['[]', 'x.json', /has no values/],
    ['[{"a": 1}, {"a": 2}', 'x.json', /Malformed JSON/],
    ['{"a":1}\n{"a":\n{"a":2}\n', 'x.ndjson', /Line 2 of the file: /],
    [
      `[{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}]`,
      'x.json',
      /Line 1 of the file nests JSON deeper than 500 levels/,
    ],
  ])('%.40s as %s is refused with the reason', async (content, filename, message) => {
    const refused = await refusal(content, filename);
    expect(refused).toMatchObject({ status: 400, message: expect.stringMatching(message) as string });
    expect(refused.message).not.toContain(files.dir);
  });
});

describe('Parquet', () => {
  const COLUMNS: [name: string, sql: string, type: string, json: unknown][] = [
    ['b', 'true', 'boolean', true],
    ['i1', '(-128)::TINYINT', 'integer', -128],
    ['i4', '2147483647', 'integer', 2147483647],
    ['i8', '9007199254740993::BIGINT', 'integer', '9007199254740993'],
    ['u8', '18446744073709551615::UBIGINT', 'integer', '18446744073709551615'],
    ['f4', '0.1::FLOAT', 'number', 0.1],
    ['f8', '0.1::DOUBLE + 0.2::DOUBLE', 'number', 0.30000000000000004],
    ['nan', `'nan'::DOUBLE`, 'number', null],
    ['inf', `'-inf'::DOUBLE`, 'number', null],
    ['dec', '0.1234567890123456789::DECIMAL(38,19)', 'number', '0.1234567890123456789'],
    ['dec2', '12.50::DECIMAL(9,2)', 'number', 12.5],
    ['d', `date '2024-02-29'`, 'date', '2024-02-29'],
    ['bc', `date '0044-03-15 (BC)'`, 'date', null],
    ['ts', `timestamp '2024-02-29 12:34:56.789999'`, 'datetime', '2024-02-29T12:34:56.789Z'],
    ['tz', `timestamptz '2024-02-29 12:34:56+02'`, 'datetime', '2024-02-29T10:34:56.000Z'],
    ['ns', `'2024-02-29 12:34:56.123456789'::TIMESTAMP_NS`, 'datetime', '2024-02-29T12:34:56.123Z'],
    ['t', `time '12:34:56'`, 'string', '12:34:56'],
    ['u', `'00000000-0000-0000-0000-00000000000a'::UUID`, 'string', '00000000-0000-0000-0000-00000000000a'],
    ['e', `'sad'::ENUM('sad', 'happy')`, 'string', 'sad'],
    ['s', `'a "b", \\N' || chr(10) || 'ü🦆'`, 'string', 'a "b", \\N\nü🦆'],
    ['empty', `''`, 'string', ''],
    ['nothing', 'null::VARCHAR', 'string', null],
    ['x', `'\\xAA\\x00'::BLOB`, 'string', 'qgA='],
    ['l', "[1.5, 'nan'::DOUBLE, null]", 'json', [1.5, null, null]],
    [
      'st',
      `{'a': 1, 'b': ['x"y'], 'c': timestamptz '2024-01-01 00:00:00+00'}`,
      'json',
      { a: 1, b: ['x"y'], c: '2024-01-01T00:00:00.000Z' },
    ],
    ['m', `map {'k': [true]}`, 'json', { k: [true] }],
    ['j', `'{"a": [1]}'::JSON`, 'json', { a: [1] }],
    ['nst', `null::STRUCT(a INTEGER)`, 'json', null],
  ];

  test('every type as in a query, in the index too', async () => {
    await duckdb(
      `copy (select ${COLUMNS.map(([name, sql]) => `${sql} as ${name}`).join(', ')}) to '${files.path('types')}' (format parquet)`,
    );
    const config = await recognise('types', 'whatever.png');
    expect(config).toEqual({ format: 'parquet' });
    const file = files.open('file', 'types', config!);
    const result = await file.query(whole);
    expect(result.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(
      COLUMNS.map(([name, , type]) => `${name} ${type}`),
    );
    const expected = Object.fromEntries(COLUMNS.map(([name, , , json]) => [name, json]));
    expect(result.rows).toEqual([expected]);
    const indexed = await file.index(whole);
    expect(indexed.rows).toEqual([expected]);
    expect(indexed.generation.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(
      COLUMNS.map(([name, , type]) => `${name} ${type}`),
    );
  });

  test('what begins like Parquet and is none is refused', async () => {
    expect(await refusal(`PAR1${'garbage'.repeat(100)}`)).toMatchObject({ status: 400 });
  });

  test('a few kilobytes with an endless answer end in a clear error, at a bounded cost of disk', async () => {
    await duckdb(`copy (select null::INTEGER as n from range(1000000)) to '${files.path('nulls')}' (format parquet)`);
    const file = files.open('file', 'nulls', { format: 'parquet' });
    let most = 0;
    const reading = (async () => {
      for await (const segment of file.connection.segments(
        ask(`select a.n, repeat('x', 10000) from data a, data b`, [], 600_000),
        files.segments,
        never,
      )) {
        most = Math.max(most, (await filesIn(files.segments)).length);
        await rm(segment.path);
      }
    })();
    expect(await failure(reading)).toMatchObject({
      status: 400,
      message: 'The query answers with more than 2 GiB of text, the most that an uploaded file may give',
    });
    expect(most).toBeLessThanOrEqual(4);
    expect(await filesIn(files.segments)).toEqual([]);
  }, 120_000);
});

describe('what cannot be read says where and why', () => {
  test.each([
    ['too many values', 'a,b\n1,2\n1,2,3\n4,5\n', 'Line 3 of the file: Expected number of columns: 2, found: 3'],
    ['too few values', 'a,b\n1,2\n3\n', 'Line 3 of the file: Expected number of columns: 2, found: 1'],
    ['an open quote', 'a,b\n1,"x\n2,3\n', 'Line 2 of the file: a quote is not closed, or text follows a closed one'],
    [
      'a line without end',
      `a,b\n${'x'.repeat(5_000_000)},1\n`,
      'Line 2 of the file: Maximum line size of 2000000 bytes exceeded',
    ],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from('a\nü\nx'), Buffer.from([0xff]), Buffer.from('\n')]),
      'Line 3 of the file is broken UTF-8',
    ],
    ['a cut character', Buffer.from('a\nü\nü').subarray(0, -1), 'Line 3 of the file is broken UTF-8'],
    [
      'bytes of no encoding',
      Buffer.concat([Buffer.from('a\nx'), Buffer.from([0xfc, 0x0a, 0x81]), Buffer.from('\n')]),
      'Line 3 of the file is neither UTF-8 nor Windows-1252',
    ],
    [
      'a NUL past the beginning',
      `a,b\n${'1,2\n'.repeat(400_000)}x\0y,1\n`,
      'Line 400002 of the file has a character U+0000',
    ],
    ['half a UTF-16 pair', Buffer.from('\ufeffa\n\ud800x\n', 'utf16le'), 'The file is not UTF-16LE'],
    ['nothing', '', 'The file is empty'],
    ['blank lines', '\n\n', 'The file has no rows'],
    [
      'too many columns',
      `${Array.from({ length: 10_000 }, (_, i) => `c${i}`).join(',')}\n`,
      'The file has 10000 columns; at most 2000 are possible',
    ],
    ['gzip', Buffer.from('1f8b0800000000000003', 'hex'), 'The file is packed (gzip): upload what is in it'],
    [
      'a spreadsheet',
      Buffer.from('504b0304140006000800', 'hex'),
      'The file is packed (ZIP, as spreadsheets are): upload what is in it',
    ],
  ])('%s', async (_, content, message) => {
    expect(await refusal(content)).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', message });
  });

  test.each([
    ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['a SQLite file', 'SQLite format 3\0'],
    ['a page', '<!DOCTYPE html><p>1,2'],
    ['a PDF', '%PDF-1.7\n%\x01\x02\x03'],
  ])("%s is somebody else's", async (_, content) => {
    await writeFile(files.path('other'), content);
    expect(await recognise('other', 'x.csv')).toBeNull();
  });

  test('2,000 columns are possible', async () => {
    const { file } = await upload(
      `${Array.from({ length: 2000 }, (_, i) => `c${i}`).join(',')}\n${Array.from({ length: 2000 }, (_, i) => i).join(',')}\n`,
    );
    const { generation, rows } = await file.index(whole);
    expect(generation.fields).toHaveLength(2000);
    expect(rows).toMatchObject([{ c0: 0, c1999: 1999 }]);
  });
});

describe('a query is one SELECT on the file', () => {
  test("DuckDB's own SQL over data", async () => {
    const { file } = await upload('region,amount\nEU,1.5\nUS,2\nEU,3\n');
    expect((await file.query('select region, sum(amount) as total from data group by all order by all;')).rows).toEqual(
      [
        { region: 'EU', total: 4.5 },
        { region: 'US', total: 2 },
      ],
    );
    expect(
      (
        await file.query(
          'with d as (from data where amount > 1.5) select count(*) as n, 1 as n, 2 as N from d, range(2)',
        )
      ).fields.map(({ name }) => name),
    ).toEqual(['n', 'n_2', 'N']);
    expect(await file.query('select amount from data order by amount desc', [], 2)).toMatchObject({
      rows: [{ amount: 3 }, { amount: 2 }],
      truncated: true,
    });
    expect((await file.load(ask('select amount from (select * from data order by amount desc)'))).rows).toEqual([
      ['3.0'],
      ['2.0'],
      ['1.5'],
    ]);
    expect(await file.load(ask('select 1 from data where false'))).toEqual({ rows: [], segments: [] });
    expect((await file.query(`select repeat('x', 5000000) as x from range(10)`)).rows).toHaveLength(3);
  });

  const REFUSED = [
    `select * from read_text('/etc/passwd')`,
    `select * from read_csv('/etc/passwd')`,
    `select * from read_blob('/etc/*')`,
    `select * from glob('/etc/*')`,
    `select * from '/etc/passwd'`,
    `from '/etc/passwd'`,
    `select * from read_parquet('http://127.0.0.1/x.parquet')`,
    `select * from 'https://example.com/x.csv'`,
    `select getenv('PATH')`,
    `select current_setting('allowed_paths')`,
    'select * from duckdb_settings()',
    'select * from pg_settings',
    'select * from information_schema.tables',
    'select * from sqlite_master',
    'select * from duckdb_secrets()',
    `select * from query('select 1')`,
    `select * from query_table('data')`,
    `select * from sniff_csv('/etc/passwd')`,
    `select * from parquet_metadata('/etc/passwd')`,
    `select (select content from read_text('/etc/passwd'))`,
    `select 1 where exists (from read_text('/etc/passwd'))`,
    `with x as (from read_text('/etc/passwd')) from x`,
    `with data as (from glob('*')) from data`,
    `attach '/tmp/x.db' as x`,
    `attach ':memory:' as x`,
    `copy data to '/tmp/copied.csv'`,
    `copy (select 1) to '/tmp/copied.csv'`,
    `export database '/tmp/exported'`,
    'install httpfs',
    'load httpfs',
    `set memory_limit = '100GB'`,
    'reset memory_limit',
    'pragma database_list',
    'call pragma_version()',
    'create table t (i int)',
    'create temp table t as select 1',
    'create view v as select 1',
    'insert into data values (1)',
    'update data set a = 1',
    'delete from data',
    'drop view data',
    'create macro m() as 1',
    'explain select 1',
    'describe data',
    'summarize data',
    'show tables',
    'checkpoint',
    'vacuum',
    'begin',
    'prepare p as select 1',
    'execute p',
    'use memory',
    'pivot data on a',
    `create secret s (type s3)`,
    `select write_log('x')`,
    'select * from duckdb_functions()',
    'select 1; select 2',
    'select 1; drop view data',
    'select 1) union all (select 2',
    'select 1 /*',
    '',
    ' ',
    ';',
    '-- nothing',
    'select',
    'select * from nothing',
    `select '{{x}}'`,
    'select $1',
    'select ?',
    'select $x',
    'values (1); values (2)',
  ];

  test.each([0, 1, 2, 3].map((part) => REFUSED.filter((_, i) => i % 4 === part)))(
    '%j is refused, as all these are',
    async (...texts) => {
      const file = await small();
      const errors = await Promise.all(
        texts.map((text) => failure(file.query(text)) as Promise<{ code: string; message: string }>),
      );
      expect(errors.map(({ code }, i) => [texts[i], code])).toEqual(texts.map((text) => [text, 'BAD_USER_INPUT']));
      expect(errors.map(({ message }) => message).join()).not.toMatch(new RegExp(`${files.dir}|root:`));
    },
  );

  test('the line of a mistake is named', async () => {
    const file = await small();
    await expect(file.query('select a,\n  b\nfrom data where')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('(line 3)') as string,
    });
    await expect(file.query('select nothing from data')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('"nothing" not found') as string,
    });
  });
});

/** A small CSV file, open. */
async function small(): Promise<OpenFile> {
  await writeFile(files.path('small'), 'a,b\n1,x\n2,y\n');
  return files.open('file', 'small', {
    format: 'csv',
    delimiter: ',',
    skip: 0,
    header: true,
    columns: [
      { name: 'a', type: 'BIGINT' },
      { name: 'b', type: 'VARCHAR' },
    ],
  });
}

describe('parameters', () => {
  test('take the type of their place, and their own where the place has none', async () => {
    const { file } = await upload(
      'id,region,day,paid,price,moment\n1,EU,2024-01-01,true,1.50,2024-01-01T12:00:00Z\n2,US,2024-06-01,false,2.50,\n',
    );
    const ids = async (where: string, ...parameters: Parameters<typeof bound>[]) =>
      (
        await file.query(
          `select id from data where ${where} order by id`,
          parameters.map((one) => bound(...one)),
        )
      ).rows.map(({ id }) => id);
    expect(await ids('region = {{r}}', ['r', 'EU'])).toEqual([1]);
    expect(await ids('day >= {{d}} and id <= {{n}}', ['d', '2024-02-01T00:00:00.000Z', 'date'], ['n', 7])).toEqual([2]);
    expect(await ids('day = {{d}}', ['d', '2024-01-01', 'date'])).toEqual([1]);
    expect(await ids('day = {{d}}', ['d', '2024-01-01'])).toEqual([1]);
    expect(await ids('moment < {{d}}', ['d', '2024-01-01T12:00:00.001Z', 'date'])).toEqual([1]);
    expect(await ids('paid = {{b}}', ['b', false])).toEqual([2]);
    expect(await ids('price > {{p}}', ['p', 1.5])).toEqual([2]);
    expect(await ids('id > {{p}}', ['p', 1.5])).toEqual([2]);
    expect(await ids('region = {{n}}', ['n', 5])).toEqual([]);
    expect(await ids('({{r}} is null or region = {{r}})', ['r', null])).toEqual([1, 2]);
    expect(await ids('({{r}} is null or region = {{r}})', ['r', 'US'])).toEqual([2]);
    expect(
      await file.query('select {{s}} as s, {{n}} as n, {{start-date}} as d, {{b}} as b, {{z}} as z limit {{n}}', [
        bound('s', 'x'),
        bound('n', 1),
        bound('start-date', '2024-02-01', 'date'),
        bound('b', true),
        bound('z', null, 'number'),
      ]),
    ).toMatchObject({
      fields: [{ type: 'string' }, { type: 'integer' }, { type: 'date' }, { type: 'boolean' }, { type: 'number' }],
      rows: [{ s: 'x', n: 1, d: '2024-02-01', b: true, z: null }],
    });
    await expect(file.query('select 1 from data where day = {{d}}', [bound('d', 'tomorrowish')])).rejects.toMatchObject(
      { status: 400, message: expect.stringContaining('tomorrowish') as string },
    );
    await expect(file.query('select {{missing}}')).rejects.toMatchObject({
      status: 400,
      message: 'The placeholder {{missing}} has no definition',
    });
  });

  test.each([`'); drop view data; --`, '{{v}}', '$p0', `"`, '', 'ü\n🦆', `' || read_text('/etc/passwd') || '`])(
    '%j arrives as it is',
    async (value) => {
      expect(
        (await (await small()).load(ask('select {{v}} as v, {{v}} || {{v}} as twice', [bound('v', value)]))).rows,
      ).toEqual([[value, value + value]]);
    },
  );
});

describe('segments', () => {
  test('say truly what they hold, in the order of the file; a slow reader finds three at most', async () => {
    const { file } = await upload(
      `i,s\n${Array.from({ length: 60_000 }, (_, i) => `${i},"${'ü"",'.repeat(100)}"`).join('\n')}\n`,
    );
    let next = 0;
    let most = 0;
    for await (const segment of file.connection.segments(ask(whole), files.segments, never)) {
      most = Math.max(most, (await filesIn(files.segments)).length);
      const bytes = await readFile(segment.path);
      const lines = bytes.toString().split('\n').slice(0, -1);
      expect(segment).toMatchObject({
        rows: lines.length,
        bytes: bytes.length,
        longestRow: Math.max(...lines.map((line) => Buffer.byteLength(line) + 1)),
        temporary: true,
      });
      for (const line of lines) expect(line.startsWith(`${next++},"ü"",`)).toBe(true);
      await rm(segment.path);
    }
    expect(next).toBe(60_000);
    expect(most).toBeLessThanOrEqual(3);
    expect(await filesIn(files.segments)).toEqual([]);
  });
});

describe('stopping', () => {
  const quiet = 'select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 9';
  const loud = 'select a.range, b.range from range(1000000) a, range(1000000) b';

  test.each([
    ['query', quiet],
    ['load', quiet],
    ['load', loud],
  ])('a %s past its time fails as a query timeout and its process is gone', async (kind, text) => {
    const file = await small();
    await expect(
      kind === 'query' ? file.connection.query(ask(text, [], 1000), 10, never) : file.load(ask(text, [], 1000)),
    ).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED', message: 'query timeout after 1000 ms' });
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('aborting ends the process before the call rejects', async () => {
    const stop = new AbortController();
    const outcome = failure((await small()).connection.query(ask(quiet), 10, stop.signal));
    await until(() => queryProcesses().length === 1);
    stop.abort();
    expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
    expect(queryProcesses()).toEqual([]);
  });

  test('a reader that leaves ends the process, and no file stays', async () => {
    for await (const segment of (await small()).connection.segments(ask(loud), files.segments, never)) {
      await rm(segment.path);
      break;
    }
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test.each([
    ['list(range) from range(1000000000)'],
    [`repeat('x', 10000000000)`],
    [`string_agg(md5(range::VARCHAR), '') from range(1000000000)`],
  ])('select %s needs too much memory and says so', async (text) => {
    const error = (await failure((await small()).query(`select ${text}`))) as Error;
    expect(error).toMatchObject({ status: 400 });
    expect(queryProcesses()).toEqual([]);
  });
});

describe('the file described', () => {
  test('one table, data', async () => {
    expect(await (await small()).connection.schema(never)).toEqual([
      {
        schema: 'main',
        name: 'data',
        type: 'table',
        columns: [
          { name: 'a', type: 'BIGINT', nullable: true, primaryKey: false },
          { name: 'b', type: 'VARCHAR', nullable: true, primaryKey: false },
        ],
      },
    ]);
    expect(driverOf('file').upload!.wholeQuery({})).toBe(whole);
  });

  test('the test says whether the file can still be read', async () => {
    const file = await small();
    expect(await file.connection.test(never)).toMatchObject({
      ok: true,
      version: expect.stringMatching(/^DuckDB v/) as string,
      warnings: [],
      message: null,
    });
    await rm(files.path('small'));
    const gone = await file.connection.test(never);
    expect(gone).toMatchObject({ ok: false, version: null });
    expect(gone.message).not.toContain(files.dir);
  });

  test('without a file or its format there is nothing to open', async () => {
    await small();
    await expect(files.open('file', 'small').query(whole)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('says no format') as string,
    });
    expect(() => driverOf('file').connect({}, {}, null)).toThrow('The datasource has no file');
  });
});

import { readFileSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { boundQuery } from '../support/postgres-source.ts';
import { rejectionOf, filesIn } from '../support/uploaded-source.ts';
import { runDuckdb, SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files, readInProcess, detectConfig, upload, readRows, uploadFailure } = useUploads();

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

  test('an array of objects and one object per line give equal rows, also in the index', async () => {
    for (const [content, filename, format] of [
      [JSON.stringify(objects, null, 2), 'x.json', 'json'],
      [objects.map((object) => JSON.stringify(object)).join('\n'), 'x.json', 'ndjson'],
    ] as const) {
      expect(await readRows(content, filename)).toEqual({ types, rows });
      const { file, config } = await upload(content, filename);
      expect(config).toMatchObject({ format });
      expect((await file.index(SELECT_ALL)).rows.map((row) => Object.values(row))).toEqual(rows);
    }
  });

  test('whole numbers keep every digit', async () => {
    expect(
      await readRows(
        `[
          {"a": 9007199254740993, "b": 123456789012345678901234567890, "c": -5},
          {"a": 1, "b": 2, "c": 18446744073709551615}
        ]`,
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

  test('keys may be any text, empty, and equal except for case', async () => {
    expect(await readRows('[{"a/b": 1, "$x": 2, "q\\"q": 3, "select": 4, "it\'s": 5}]', 'x.json')).toMatchObject({
      types: ['a/b integer', '$x integer', 'q"q integer', 'select integer', "it's integer"],
      rows: [[1, 2, 3, 4, 5]],
    });
    expect(await readRows('[{"id": 1, "ID": 2, "": 3}]', 'x.json')).toMatchObject({
      types: ['id integer', 'ID_2 integer', 'column_3 integer'],
      rows: [[1, 2, 3]],
    });
    const later = '{"id": 1, "o": {"a": 1, "A": [{"x": 2, "X": 3}]}}\n{"ID": 4, "Id": 5}';
    expect(await readInProcess(later, {}, 'x.ndjson')).toMatchObject({
      types: ['id integer', 'o json', 'ID_2 integer', 'Id_3 integer'],
      rows: [
        [1, { a: 1, A: [{ x: 2, X: 3 }] }, null, null],
        [null, null, 4, 5],
      ],
    });
    const columns = [{ name: 'ID', type: 'BIGINT' }];
    expect(await readInProcess('[{"id": 1, "ID": 2}, {"id": 3}]', { columns }, 'x.json')).toMatchObject({
      types: ['ID integer'],
      rows: [[2], [null]],
    });
  });

  test('a byte order mark is not part of the text', async () => {
    for (const [text, name] of [
      ['{"a":1}\n{"a":2}\n', 'x.ndjson'],
      ['[{"a":1},{"a":2}]', 'x.json'],
    ] as const)
      expect(await readRows(`\ufeff${text}`, name)).toMatchObject({ types: ['a integer'], rows: [[1], [2]] });
  });

  test.each([
    ['{"a": 1,\n "b": 2}', 'x.json', /first line of the file is not a JSON object/],
    ['"text"', 'x.json', /begins neither with \[ nor with \{/],
    ['[1, {"a": 2}]', 'x.json', /Record 1 of the file is not a JSON object/],
    ['{"a":1}\n5\n', 'x.ndjson', /Record 2 of the file is not a JSON object/],
    ['[]', 'x.json', /has no values/],
    ['[{"a":1},{"a":1,"A":2,"a":3}]', 'x.json', /^Record 2 of the file has the key "a" twice$/],
    ['{"a":1,"A":2}\n{"a":3,"a":4}\n', 'x.ndjson', /^Record 2 of the file has the key "a" twice$/],
    ['{"":1,"":2}\n', 'x.ndjson', /^Record 1 of the file has the key "" twice$/],
    ['[{"a":1,"b":2},{"a":1,"a":3}]', 'x.json', /^Record 2 of the file has the key "a" twice$/],
    ['{"id":1}\n{"id":1,"x":{"a":1,"a":2}}\n', 'x.ndjson', /^Record 2 of the file has the key "a" twice$/],
    ['[{"x":[[{"ü":1}],{"ü":"\\"","\\u00fc":{}}]}]', 'x.json', /^Record 1 of the file has the key "ü" twice$/],
    ['[{"a":1,"a":3}]', 'x.json', /^Record 1 of the file has the key "a" twice$/],
    ['[{"a": 1}, {"a": 2}', 'x.json', /Malformed JSON/],
    ['{"a":1}\n{"a":\n{"a":2}\n', 'x.ndjson', /Line 2 of the file: /],
    [
      `[{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}]`,
      'x.json',
      /Line 1 of the file nests JSON deeper than 500 levels/,
    ],
  ])('%.40s as %s is refused with the reason', async (content, filename, message) => {
    const refused = await uploadFailure(content, filename);
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

  test('a query and the index return every type alike', async () => {
    const columns = COLUMNS.map(([name, sql]) => `${sql} as ${name}`).join(', ');
    await runDuckdb(`copy (select ${columns}) to '${files.path('types')}' (format parquet)`);
    const config = await detectConfig('types', 'photo.png');
    expect(config).toEqual({ format: 'parquet' });
    const file = files.open('file', 'types', config!);
    const result = await file.query(SELECT_ALL);
    expect(result.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(
      COLUMNS.map(([name, , type]) => `${name} ${type}`),
    );
    const expected = Object.fromEntries(COLUMNS.map(([name, , , json]) => [name, json]));
    expect(result.rows).toEqual([expected]);
    const indexed = await file.index(SELECT_ALL);
    expect(indexed.rows).toEqual([expected]);
    expect(indexed.generation.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(
      COLUMNS.map(([name, , type]) => `${name} ${type}`),
    );
  });

  test('parts of structs whose names differ in case alone are all read, and those with another name are a problem', async () => {
    const group = (name: string, num_children: number, more = {}) =>
      ({ name, num_children, repetition_type: 'OPTIONAL', ...more }) as const;
    const number = (name: string) => ({ name, type: 'INT32', repetition_type: 'OPTIONAL' }) as const;
    const schema: Parameters<typeof parquetWriteBuffer>[0]['schema'] = [
      [group('root', 4)],
      [group('s', 3), number('a'), number('A'), number('A_1')],
      [group('l', 1, { converted_type: 'LIST' }), group('list', 1, { repetition_type: 'REPEATED' })],
      [group('element', 2), number('x'), number('X')],
      [group('S', 2), number('b'), number('c'), number('n')],
    ].flat();
    const columnData = [
      { name: 's', data: [{ a: 1, A: 2, A_1: 3 }] },
      { name: 'l', data: [[{ x: 4, X: 5 }]] },
      { name: 'S', data: [{ b: 6, c: 7 }] },
      { name: 'n', data: [8] },
    ];
    const hint = 'Select the parts in the query to name them';
    expect(await readInProcess(Buffer.from(parquetWriteBuffer({ schema, columnData })), {}, 'x.parquet')).toMatchObject(
      {
        types: ['s json', 'l json', 'S_2 json', 'n integer'],
        rows: [[{ a: 1, A_1: 2, A_1_1: 3 }, [{ x: 4, X_1: 5 }], { b: 6, c: 7 }, 8]],
        problems: [
          {
            column: 'S_2',
            message:
              'Another column has the name "S", apart from upper and lower case, so this one is named "S_2". ' +
              'Change one of them in the file if that is wrong',
          },
          {
            column: 's',
            message: `Names of parts differ in case alone: "A" is read as "A_1", "A_1" is read as "A_1_1". ${hint}`,
          },
          { column: 'l', message: `Names of parts differ in case alone: "X" is read as "X_1". ${hint}` },
        ],
      },
    );
  });

  test('bytes are read as Base64 and reported, in columns and in parts of values', async () => {
    const path = files.path('bytes');
    await runDuckdb(
      `copy (
        select * from (values
          (encode('Köln'), {'b': 'x'::BLOB}, ['y'::BLOB], map {'k': 'z'::BLOB}, null::BLOB, 'text'),
          (null, {'b': null}, [], map {}, null, null)
        ) t(bytes, parts, list, entries, missing, text)
      ) to '${path}' (format parquet)`,
    );
    const decode = 'Select decode(…) of it in the query if the bytes are texts in UTF-8';
    const parts = (column: string) => ({
      column,
      message: `Parts of 1 value are bytes, and written in Base64. ${decode}`,
    });
    expect(await readInProcess(readFileSync(path), {}, 'x.parquet')).toMatchObject({
      rows: [
        ['S8O2bG4=', { b: 'eA==' }, ['eQ=='], { k: 'eg==' }, null, 'text'],
        [null, { b: null }, [], {}, null, null],
      ],
      problems: [
        {
          column: 'bytes',
          message: String.raw`1 value, such as K\xC3\xB6ln, is bytes, and written in Base64. ${decode}`,
        },
        parts('parts'),
        parts('list'),
        parts('entries'),
      ],
    });
  });

  test('a file that only begins like Parquet is refused', async () => {
    expect(await uploadFailure(`PAR1${'garbage'.repeat(100)}`)).toMatchObject({ status: 400 });
  });

  test('a small file with an endless result ends in a clear error and uses little disk space', async () => {
    await runDuckdb(
      `copy (select null::INTEGER as n from range(1000000)) to '${files.path('nulls')}' (format parquet)`,
    );
    const file = files.open('file', 'nulls', { format: 'parquet' });
    for (const [text, message] of [
      [`select a.n, repeat('x', 10000) from data a, data b`, '2 GiB of text'],
      [`select a.n is null as a, b.n is null as b from data a, data b`, '100000000 rows'],
    ]) {
      expect(await rejectionOf(file.load(boundQuery(text!, [], 600_000)))).toMatchObject({
        status: 400,
        message: `The query returns more than ${message}, the maximum for an uploaded file`,
      });
      expect(await filesIn(files.segments)).toEqual([]);
    }
  });
});

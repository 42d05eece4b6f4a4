import { readFile, rm } from 'node:fs/promises';
import { type SQLInputValue } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Column } from '../../src/core/fields.ts';
import type { QueryResult } from '../../src/core/row-source.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { type OpenFile } from '../support/uploaded-source.ts';
import { useSqliteFiles } from './driver-sqlite-fixture.ts';

const { files, createFile } = useSqliteFiles();

describe('types', () => {
  /** Declared type, values of a column, field type, texts in segments, JSON forms. */
  const VALUES: [declared: string, values: SQLInputValue[], type: string, texts: (string | null)[], json: unknown[]][] =
    [
      [
        'integer',
        [1n, -9223372036854775808n, null],
        'integer',
        ['1', '-9223372036854775808', null],
        ['1', '-9223372036854775808', null],
      ],
      ['int', [9007199254740991n], 'integer', ['9007199254740991'], [9007199254740991]],
      ['bigint', [1n, 2.5], 'number', ['1', '2.5'], [1, 2.5]],
      ['integer', [9007199254740993n, 0.5], 'number', ['9007199254740993', '0.5'], ['9007199254740993', '0.5']],
      [
        'numeric',
        [9007199254740993n, 1180591620717411303424, -1e22, 0.1, 1e300],
        'number',
        ['9007199254740993', '1180591620717411303424', '-10000000000000000000000', '0.1', `${BigInt(1e300)}`],
        ['9007199254740993', '1180591620717411303424', '-10000000000000000000000', '0.1', `${BigInt(1e300)}`],
      ],
      ['integer', [1n, 'one', null], 'string', ['1', 'one', null], ['1', 'one', null]],
      ['integer', [1n, new Uint8Array([0, 255])], 'string', ['1', 'AP8='], ['1', 'AP8=']],
      [
        'real',
        [0.1 + 0.2, 1e300, -0.5],
        'number',
        ['0.30000000000000004', '1e+300', '-0.5'],
        [0.30000000000000004, 1e300, -0.5],
      ],
      ['real', [Infinity], 'number', ['Infinity'], [null]],
      ['double precision', [1n], 'number', ['1'], [1]],
      ['decimal(10,2)', [12n, 12.5], 'number', ['12', '12.5'], [12, 12.5]],
      ['numeric', [9007199254740993n], 'number', ['9007199254740993'], ['9007199254740993']],
      [
        'text',
        ['a "b", \\N', '', '\\N', 'ü\n🦆', null],
        'string',
        ['a "b", \\N', '', '\\N', 'ü\n🦆', null],
        ['a "b", \\N', '', '\\N', 'ü\n🦆', null],
      ],
      ['text', ['007'], 'string', ['007'], ['007']],
      ['blob', [new Uint8Array([1, 2, 3]), new Uint8Array()], 'string', ['AQID', ''], ['AQID', '']],
      ['boolean', [1n, 0n, null], 'boolean', ['true', 'false', null], [true, false, null]],
      ['bool', ['true', 'false'], 'boolean', ['true', 'false'], [true, false]],
      ['boolean', [1n, 2n], 'integer', ['1', '2'], [1, 2]],
      ['date', ['2024-02-29', null], 'date', ['2024-02-29', null], ['2024-02-29', null]],
      ['date', ['2024-02-30'], 'string', ['2024-02-30'], ['2024-02-30']],
      [
        'date',
        ['2024-02-29', '2024-02-29 12:00:00'],
        'datetime',
        ['2024-02-29T00:00:00.000Z', '2024-02-29T12:00:00.000Z'],
        ['2024-02-29T00:00:00.000Z', '2024-02-29T12:00:00.000Z'],
      ],
      [
        'datetime',
        ['2024-02-29 12:34:56.789', '2024-02-29T12:00:00+02:00'],
        'datetime',
        ['2024-02-29T12:34:56.789Z', '2024-02-29T10:00:00.000Z'],
        ['2024-02-29T12:34:56.789Z', '2024-02-29T10:00:00.000Z'],
      ],
      ['timestamp', [1700000000n], 'integer', ['1700000000'], [1700000000]],
      [
        'datetime',
        ['2024-01-01 00:00', 1700000000n],
        'string',
        ['2024-01-01 00:00', '1700000000'],
        ['2024-01-01 00:00', '1700000000'],
      ],
      [
        'json',
        ['{"a": [1, 2.50]}', 'null', '[]'],
        'json',
        ['{"a": [1, 2.50]}', 'null', '[]'],
        [{ a: [1, 2.5] }, null, []],
      ],
      ['json', ['{broken'], 'string', ['{broken'], ['{broken']],
      ['time', ['12:34:56'], 'string', ['12:34:56'], ['12:34:56']],
      ['', [1n, 2n], 'integer', ['1', '2'], [1, 2]],
      ['', ['x', 1.5], 'string', ['x', '1.5'], ['x', '1.5']],
    ];

  /** The results of all cases, which are columns of one table. A missing value does not change a column's type. */
  const results = {} as {
    columns: Column[];
    texts: (string | null)[][];
    result: QueryResult;
    indexed: Awaited<ReturnType<OpenFile['index']>>;
  };

  beforeAll(async () => {
    const { file } = createFile(
      `create table t (${VALUES.map(([declared], i) => `v${i} ${declared}`).join(', ')})`,
      (database) => {
        const insert = database.prepare(`insert into t values (${VALUES.map(() => '?').join(', ')})`);
        for (let row = 0; row < 5; row++) insert.run(...VALUES.map(([, values]) => values[row] ?? null));
      },
    );
    const text = 'select * from t order by rowid';
    results.columns = await file.connection.describe(boundQuery(text), neverAborted);
    results.texts = (await file.load(boundQuery(text))).rows;
    results.result = await file.query(text);
    results.indexed = await file.index(text);
  });

  test.each(VALUES.map((value, i) => [i, ...value] as const))(
    '%i: a column declared "%s" with %o is a %s',
    (i, _declared, values, type, texts, json) => {
      const column = { name: `v${i}`, type };
      expect(results.columns[i]).toMatchObject(column);
      expect(results.texts.map((row) => row[i]).slice(0, values.length)).toEqual(texts);
      expect(results.result.fields[i]).toMatchObject(column);
      expect(results.result.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
      expect(results.indexed.generation.fields[i]).toMatchObject(column);
      expect(results.indexed.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
    },
  );

  test('without rows the declared types apply', async () => {
    const { file } = createFile(
      'create table t (i int, n real, d decimal, b boolean, at date, m datetime, j json, s varchar(3), x)',
    );
    expect(
      (await file.connection.describe(boundQuery('select *, 1 + i as e from t'), neverAborted)).map(
        ({ name, type }) => `${name} ${type}`,
      ),
    ).toEqual([
      'i integer',
      'n number',
      'd number',
      'b boolean',
      'at date',
      'm datetime',
      'j json',
      's string',
      'x string',
      'e string',
    ]);
  });

  test('a value in the last of many rows counts for the type', async () => {
    const { file } = createFile('create table t (v integer)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 200000)
        insert into t select i from r;
        insert into t values ('last')`,
      ),
    );
    const { generation } = await file.index('select v from t');
    expect(generation).toMatchObject({ records: 200_001, fields: [{ type: 'string' }] });
    expect((await file.query(`select v from t where typeof(v) = 'text'`)).rows).toEqual([{ v: 'last' }]);
  });

  test('a value that contradicts the first rows of a load leaves the texts of all rows unchanged', async () => {
    const { file } = createFile('create table t (b boolean, d date, m datetime, n decimal, x)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 3000)
        insert into t select i % 2, '2024-02-01', '2024-02-01 12:00', i, null from r;
        insert into t values (7, '2024-02-29 06:30', 'noon', 9007199254740993, 'x')`,
      ),
    );
    const text = 'select * from t where rowid = 1 or rowid >= 2000';
    const { generation, rows } = await file.index(`select * from t order by rowid desc`);
    expect(generation.records).toBe(3001);
    expect(generation.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'b integer',
      'd datetime',
      'm string',
      'n number',
      'x string',
    ]);
    expect(rows.slice(0, 2)).toEqual([
      { b: 7, d: '2024-02-29T06:30:00.000Z', m: 'noon', n: '9007199254740993', x: 'x' },
      { b: 0, d: '2024-02-01T00:00:00.000Z', m: '2024-02-01 12:00', n: '3000', x: null },
    ]);
    const late = await file.index(text);
    expect(late.generation.fields).toEqual(generation.fields);
    expect(late.rows[0]).toEqual({ b: 1, d: '2024-02-01T00:00:00.000Z', m: '2024-02-01 12:00', n: '1', x: null });
  });

  test('a load reads its rows once: the first ones decide provisional types', async () => {
    const { file } = createFile('create table t (i)');
    const endless = boundQuery(
      `with recursive r(i) as (values (1) union all select i + 1 from r)
      select i, '2024-01-01' as s, random() as x from r`,
      [],
      600_000,
    );
    const columns = await file.connection.describe(endless, neverAborted, { provisional: true });
    expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual(['i integer', 's string', 'x integer']);
    for await (const segment of file.connection.segments(endless, files.segments, neverAborted)) {
      expect((await readFile(segment.path, 'utf8')).slice(0, 13)).toBe('1,2024-01-01,');
      await rm(segment.path);
      break;
    }
  });
});

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { ALL } from '../../src/core/criteria/tree.ts';
import { createLoadPlan, search } from '../dataset-index/generation-fixture.ts';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';

/** SQL type and literal, field type, text in segments, JSON form. The value is stored in a column of its type. */
const VALUES: [sourceType: string, literal: string, type: string, text: string | null, json: unknown][] = [
  ['tinyint(1)', '1', 'boolean', '1', true],
  ['tinyint(1)', '0', 'boolean', '0', false],
  ['bit(1)', `b'1'`, 'boolean', 't', true],
  ['bit(1)', `b'0'`, 'boolean', 'f', false],
  ['bit(10)', `b'1000000101'`, 'string', '1000000101', '1000000101'],
  ['bit(64)', `b'1'`, 'string', `${'0'.repeat(63)}1`, `${'0'.repeat(63)}1`],
  ['tinyint', '-128', 'integer', '-128', -128],
  ['tinyint unsigned', '255', 'integer', '255', 255],
  ['smallint', '-32768', 'integer', '-32768', -32768],
  ['smallint unsigned', '65535', 'integer', '65535', 65535],
  ['mediumint', '-8388608', 'integer', '-8388608', -8388608],
  ['mediumint unsigned', '16777215', 'integer', '16777215', 16777215],
  ['int', '-2147483648', 'integer', '-2147483648', -2147483648],
  ['int unsigned', '4294967295', 'integer', '4294967295', 4294967295],
  ['bigint', '-9223372036854775808', 'integer', '-9223372036854775808', '-9223372036854775808'],
  ['bigint', '-1', 'integer', '-1', -1],
  ['bigint', '4294967296', 'integer', '4294967296', 4294967296],
  ['bigint unsigned', '18446744073709551615', 'integer', '18446744073709551615', '18446744073709551615'],
  ['year', '2155', 'integer', '2155', 2155],
  ['decimal(12,2)', '-1234.50', 'number', '-1234.50', -1234.5],
  ['decimal(5,0) unsigned', '99999', 'number', '99999', 99999],
  [
    'decimal(38,10)',
    '1234567890123456789012345678.0123456789',
    'number',
    '1234567890123456789012345678.0123456789',
    '1234567890123456789012345678.0123456789',
  ],
  [
    'decimal(65,30)',
    `${'9'.repeat(35)}.${'1'.repeat(30)}`,
    'number',
    `${'9'.repeat(35)}.${'1'.repeat(30)}`,
    `${'9'.repeat(35)}.${'1'.repeat(30)}`,
  ],
  ['float', '0.1', 'number', '0.1', 0.1],
  ['float', '16777217', 'number', '16777216', 16777216],
  ['float', '1234567.9', 'number', '1234567.9', 1234567.9],
  ['float', '3.4028234e38', 'number', '3.4028235e+38', 3.4028235e38],
  ['float', '-1e-45', 'number', '-1.4013e-45', -1.4013e-45],
  ['double', '0.1e0 + 0.2e0', 'number', '0.30000000000000004', 0.30000000000000004],
  ['double', '1.7976931348623157e308', 'number', '1.7976931348623157e+308', 1.7976931348623157e308],
  ['double', '5e-324', 'number', '5e-324', 5e-324],
  ['date', `'2024-02-29'`, 'date', '2024-02-29', '2024-02-29'],
  ['date', `'0000-00-00'`, 'date', '0000-00-00', null],
  ['date', `'2024-00-10'`, 'date', '0000-00-00', null],
  ['date', `'9999-12-31'`, 'date', '9999-12-31', '9999-12-31'],
  ['datetime(6)', `'2024-02-29 12:34:56.789999'`, 'datetime', '2024-02-29 12:34:56.789999', '2024-02-29T12:34:56.789Z'],
  ['datetime(6)', `'2024-02-29 00:00:00.000001'`, 'datetime', '2024-02-29 00:00:00.000001', '2024-02-29T00:00:00.000Z'],
  ['datetime', `'2024-02-29'`, 'datetime', '2024-02-29 00:00:00', '2024-02-29T00:00:00.000Z'],
  ['datetime', `'0000-00-00'`, 'datetime', '0000-00-00 00:00:00', null],
  ['timestamp', `'2024-02-29 12:34:56'`, 'datetime', '2024-02-29 12:34:56', '2024-02-29T12:34:56.000Z'],
  ['time', `'-838:59:59'`, 'string', '-838:59:59', '-838:59:59'],
  ['time', `'00:00:00'`, 'string', '00:00:00', '00:00:00'],
  ['time(2)', `'23:59:59.5'`, 'string', '23:59:59.50', '23:59:59.50'],
  [
    'varchar(80)',
    `'a "quoted", \\\\N, line\\nbreak, ünï 🦆'`,
    'string',
    'a "quoted", \\N, line\nbreak, ünï 🦆',
    'a "quoted", \\N, line\nbreak, ünï 🦆',
  ],
  ['varchar(80)', `'\\\\N'`, 'string', '\\N', '\\N'],
  ['varchar(80)', `'\\r\\n'`, 'string', '\r\n', '\r\n'],
  ['varchar(80)', `''`, 'string', '', ''],
  ['varchar(80)', `x'61EDA08062'`, 'string', 'a���b', 'a���b'],
  ['varchar(80)', `'a\\0b'`, 'string', 'a\0b', 'a\0b'],
  ['char(3)', `'a'`, 'string', 'a', 'a'],
  ['text', `repeat('ü"', 1000)`, 'string', 'ü"'.repeat(1000), 'ü"'.repeat(1000)],
  ['varchar(20) character set latin1', `'ÄÖ'`, 'string', 'ÄÖ', 'ÄÖ'],
  [`enum('a','b,c')`, `'b,c'`, 'string', 'b,c', 'b,c'],
  [`set('x','y')`, `'x,y'`, 'string', 'x,y', 'x,y'],
  ['binary(4)', `x'00ff'`, 'string', 'AP8AAA==', 'AP8AAA=='],
  [
    'varbinary(200)',
    `unhex(repeat('00ff', 100))`,
    'string',
    Buffer.from('00ff'.repeat(100), 'hex').toString('base64'),
    Buffer.from('00ff'.repeat(100), 'hex').toString('base64'),
  ],
  ['blob', `''`, 'string', '', ''],
  ['json', `'{"a": [1, 2]}'`, 'json', '{"a": [1, 2]}', { a: [1, 2] }],
  ['json', `'{"id": 9007199254740993}'`, 'json', '{"id": 9007199254740993}', { id: '9007199254740993' }],
  ['json', `'"a \\\\"quoted\\\\""'`, 'json', '"a \\"quoted\\""', 'a "quoted"'],
  ['json', `'"\\\\x"'`, 'json', '"\\"\\\\x\\""', '"\\x"'],
  [
    'uuid',
    `'00000000-0000-0000-0000-00000000000A'`,
    'string',
    '00000000-0000-0000-0000-00000000000a',
    '00000000-0000-0000-0000-00000000000a',
  ],
  ['inet6', `'::1'`, 'string', '::1', '::1'],
  ['point', 'point(1, 2)', 'string', 'AAAAAAEBAAAAAAAAAAAA8D8AAAAAAAAAQA==', 'AAAAAAEBAAAAAAAAAAAA8D8AAAAAAAAAQA=='],
  ['int', 'null', 'integer', null, null],
  ['varchar(80)', 'null', 'string', null, null],
];

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB: types', () => {
  const source = useMysqlSource();

  test.each(VALUES)('%s %s is a %s', async (sourceType, literal, type, text, json) => {
    await source.sql(
      `set sql_mode = '';
        drop table if exists single;
        create table single (v ${sourceType} null);
        insert into single values (${literal})`,
    );
    const query = boundQuery('select v from single');
    expect(await source.connection.describe(query, neverAborted)).toMatchObject([{ name: 'v', type }]);
    expect((await source.load(query)).rows).toEqual([[text]]);
    expect(await source.query(query.text)).toMatchObject({
      fields: [{ name: 'v', label: 'v', type }],
      rows: [{ v: json }],
      truncated: false,
    });
  });

  test('tinyint(1) is an integer where a value is other than 0 and 1', async () => {
    await source.sql(`drop table if exists codes;
      create table codes (code tinyint(1) null, paid tinyint(1) null, none tinyint(1) null);
      insert into codes values (0, 0, null), (1, 1, null), (2, null, null), (-5, 1, null)`);
    const query = boundQuery('select * from codes');
    const rows = [
      [0, false, null],
      [1, true, null],
      [2, null, null],
      [-5, true, null],
    ].map(([code, paid, none]) => ({ code, paid, none }));
    const fields = [{ type: 'integer' }, { type: 'boolean' }, { type: 'boolean' }];
    expect(await source.query(query.text)).toMatchObject({ fields, rows });
    const index = openDuckdbIndex({ dir: join(source.dir, 'codes') });
    const columns = await source.connection.describe(query, neverAborted);
    const segments = source.connection.segments(query, source.dir, neverAborted);
    const generation = await index.load(randomUUID(), columns, segments, createLoadPlan());
    expect(generation.fields).toMatchObject(fields);
    expect((await search(index, generation)).rows).toEqual(rows);
    await index.close();
  });

  test('each value comes back equal from a dataset', async () => {
    const columnDefinitions = VALUES.map(([type], i) => `v${i} ${type} null`);
    const literals = VALUES.map(([, literal]) => literal);
    await source.sql(
      `set sql_mode = '';
        drop table if exists every_value;
        create table every_value (${columnDefinitions.join(', ')});
        insert into every_value values (${literals.join(', ')})`,
    );
    const query = boundQuery('select * from every_value');
    const index = openDuckdbIndex({ dir: join(source.dir, 'index') });
    try {
      const columns = await source.connection.describe(query, neverAborted);
      const generation = await index.load(
        randomUUID(),
        columns,
        source.connection.segments(query, source.dir, neverAborted),
        {
          flow: [],
          maxRows: 0,
          progress: () => {},
          signal: neverAborted,
        },
      );
      const fields = generation.fields.map(({ name }) => name);
      const page = await index.search(
        {
          generation,
          caller: { tenantId: 'tenant', userId: 'user' },
          where: ALL,
          words: [],
          wordFields: [],
          fields,
          sort: [],
          limit: 10,
          start: 0,
          total: true,
        },
        neverAborted,
      );
      expect(page.rows).toEqual([Object.fromEntries(VALUES.map(([, , , , json], i) => [`v${i}`, json]))]);
      expect(generation.fields.map(({ type }) => type)).toEqual(VALUES.map(([, , type]) => type));
    } finally {
      await index.close();
    }
  });

  test('columns report how their values are stored, and the type name of the source', async () => {
    await source.sql(
      `drop table if exists type_names;
        create table type_names (
          a decimal(12,2),
          b decimal(7,3) unsigned,
          c decimal(65,1),
          d bigint unsigned,
          e int unsigned,
          f varchar(20),
          g json,
          h bit(3),
          i tinyint(1),
          j longtext,
          k mediumblob,
          l uuid
        )`,
    );
    const columns = await source.connection.describe(boundQuery('select * from type_names'), neverAborted);
    expect(columns.map(({ storage, sourceType }) => [sourceType, storage])).toEqual([
      ['decimal(12,2)', { kind: 'decimal', precision: 12, scale: 2 }],
      ['decimal(7,3) unsigned', { kind: 'decimal', precision: 7, scale: 3 }],
      ['decimal(65,1)', { kind: 'decimal' }],
      ['bigint unsigned', { kind: 'uint64' }],
      ['int unsigned', { kind: 'int64' }],
      ['varchar(20)', { kind: 'text' }],
      ['json', { kind: 'json' }],
      ['bit(3)', { kind: 'text' }],
      ['tinyint(1)', { kind: 'tinyint' }],
      ['text', { kind: 'text' }],
      ['blob', { kind: 'text' }],
      ['uuid', { kind: 'text' }],
    ]);
  });

  test('a computed column has a type', async () => {
    expect(
      await source.query(
        `select
            1 + 1 as i,
            1.50 as d,
            1e3 as f,
            'x' as s,
            null as n,
            true as b,
            date '2024-02-29' as day,
            timestamp '2024-02-29 01:02:03' as moment,
            json_object('a', 1) as j,
            10 / 4 as q,
            count(*) as c,
            sum(1) as total,
            x'00ff' as bytes,
            cast(-1 as unsigned) as big`,
      ),
    ).toMatchObject({
      fields: [
        { type: 'integer' },
        { type: 'number' },
        { type: 'number' },
        { type: 'string' },
        { type: 'string' },
        { type: 'integer' },
        { type: 'date' },
        { type: 'datetime' },
        { type: 'json' },
        { type: 'number' },
        { type: 'integer' },
        { type: 'number' },
        { type: 'string' },
        { type: 'integer', format: 'int64' },
      ],
      rows: [
        {
          i: 2,
          d: 1.5,
          f: 1000,
          s: 'x',
          n: null,
          b: 1,
          day: '2024-02-29',
          moment: '2024-02-29T01:02:03.000Z',
          j: { a: 1 },
          q: 2.5,
          c: 1,
          total: 1,
          bytes: 'AP8=',
          big: '18446744073709551615',
        },
      ],
    });
  });

  test('a field with a value that a JSON number would round is returned as exact strings', async () => {
    expect(
      await source.query(
        `select 9007199254740993 as a, 0.1234567890123456789 as b, 1.5 as c
          union all
          select 1, 2.5, 100000000000000000000`,
      ),
    ).toMatchObject({
      fields: [{ type: 'integer', format: 'int64' }, { type: 'number', format: 'decimal' }, { type: 'number' }],
      rows: [
        { a: '9007199254740993', b: '0.1234567890123456789', c: 1.5 },
        { a: '1', b: '2.5', c: 1e20 },
      ],
    });
  });

  test('a string past 8,000 characters changes the type of its field to text', async () => {
    expect((await source.query(`select repeat('x', 8000) as a, repeat('x', 8001) as b`)).fields).toMatchObject([
      { type: 'string' },
      { type: 'text' },
    ]);
  });

  test('moments are in UTC in every time zone of the server', async () => {
    await source.sql(
      `set time_zone = '+05:00';
        drop table if exists moments;
        create table moments (t timestamp);
        insert into moments values ('2024-01-01 05:00:00');
        set time_zone = '+00:00'`,
    );
    expect((await source.load(boundQuery('select t from moments'))).rows).toEqual([['2024-01-01 00:00:00']]);
  });
});

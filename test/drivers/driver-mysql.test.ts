import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { compilePlaceholders } from '../../src/adapters/drivers/mysql/placeholders.ts';
import { ALL } from '../../src/core/criteria/tree.ts';
import { parseTemplate } from '../../src/core/parameters.ts';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { ask, bound, never } from '../support/postgres-source.ts';

/** SQL type and literal, field type, text in segments, JSON form. The value is kept in a column of its type. */
const VALUES: [sourceType: string, literal: string, type: string, text: string | null, json: unknown][] = [
  ['tinyint(1)', '1', 'boolean', 't', true],
  ['tinyint(1)', '0', 'boolean', 'f', false],
  ['tinyint(1)', '-7', 'boolean', 't', true],
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

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB', () => {
  const source = useMysqlSource();

  describe('types', () => {
    test.each(VALUES)('%s %s is a %s', async (sourceType, literal, type, text, json) => {
      await source.sql(
        `set sql_mode = ''; drop table if exists one; create table one (v ${sourceType} null); insert into one values (${literal})`,
      );
      const query = ask('select v from one');
      expect(await source.connection.describe(query, never)).toMatchObject([{ name: 'v', type }]);
      expect((await source.load(query)).rows).toEqual([[text]]);
      expect(await source.query(query.text)).toMatchObject({
        fields: [{ name: 'v', label: 'v', type }],
        rows: [{ v: json }],
        truncated: false,
      });
    });

    test('each is the same in a dataset, once loaded', async () => {
      await source.sql(`set sql_mode = ''; drop table if exists whole; create table whole (${VALUES.map(([type], i) => `v${i} ${type} null`).join(', ')});
        insert into whole values (${VALUES.map(([, literal]) => literal).join(', ')})`);
      const query = ask('select * from whole');
      const index = openDuckdbIndex({ dir: join(source.dir, 'index') });
      try {
        const columns = await source.connection.describe(query, never);
        const generation = await index.load(
          randomUUID(),
          columns,
          source.connection.segments(query, source.dir, never),
          { flow: [], maxRows: 0, progress: () => {}, signal: never },
        );
        const fields = generation.fields.map(({ name }) => name);
        const page = await index.search(
          { generation, where: ALL, words: [], wordFields: [], fields, sort: [], limit: 10, start: 0, total: true },
          never,
        );
        expect(page.rows).toEqual([Object.fromEntries(VALUES.map(([, , , , json], i) => [`v${i}`, json]))]);
        expect(generation.fields.map(({ type }) => type)).toEqual(VALUES.map(([, , type]) => type));
      } finally {
        await index.close();
      }
    });

    test("columns say how their values are kept, and the source's word for their type", async () => {
      await source.sql(
        `drop table if exists words; create table words (a decimal(12,2), b decimal(7,3) unsigned, c decimal(65,1), d bigint unsigned, e int unsigned, f varchar(20), g json, h bit(3), i tinyint(1), j longtext, k mediumblob, l uuid)`,
      );
      expect(
        (await source.connection.describe(ask('select * from words'), never)).map(({ storage, sourceType }) => [
          sourceType,
          storage,
        ]),
      ).toEqual([
        ['decimal(12,2)', { kind: 'decimal', precision: 12, scale: 2 }],
        ['decimal(7,3) unsigned', { kind: 'decimal', precision: 7, scale: 3 }],
        ['decimal(65,1)', { kind: 'decimal' }],
        ['bigint unsigned', { kind: 'uint64' }],
        ['int unsigned', { kind: 'int64' }],
        ['varchar(20)', { kind: 'text' }],
        ['json', { kind: 'json' }],
        ['bit(3)', { kind: 'text' }],
        ['tinyint(1)', { kind: 'boolean' }],
        ['text', { kind: 'text' }],
        ['blob', { kind: 'text' }],
        ['uuid', { kind: 'text' }],
      ]);
    });

    test('what is computed has a type too', async () => {
      expect(
        await source.query(`select 1 + 1 as i, 1.50 as d, 1e3 as f, 'x' as s, null as n, true as b, date '2024-02-29' as day, timestamp '2024-02-29 01:02:03' as moment,
        json_object('a', 1) as j, 10 / 4 as q, count(*) as c, sum(1) as total, x'00ff' as bytes, cast(-1 as unsigned) as big`),
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

    test('a field with a value that would not survive as a JSON number travels as exact strings', async () => {
      expect(
        await source.query(
          'select 9007199254740993 as a, 0.1234567890123456789 as b, 1.5 as c union all select 1, 2.5, 100000000000000000000',
        ),
      ).toMatchObject({
        fields: [{ type: 'integer', format: 'int64' }, { type: 'number', format: 'decimal' }, { type: 'number' }],
        rows: [
          { a: '9007199254740993', b: '0.1234567890123456789', c: 1.5 },
          { a: '1', b: '2.5000000000000000000', c: 1e20 },
        ],
      });
    });

    test('a string past 8,000 characters makes its field a text', async () => {
      expect((await source.query(`select repeat('x', 8000) as a, repeat('x', 8001) as b`)).fields).toMatchObject([
        { type: 'string' },
        { type: 'text' },
      ]);
    });

    test("moments are in UTC, whatever the server's time zone is", async () => {
      await source.sql(
        `set time_zone = '+05:00'; drop table if exists moments; create table moments (t timestamp); insert into moments values ('2024-01-01 05:00:00'); set time_zone = '+00:00'`,
      );
      expect((await source.load(ask('select t from moments'))).rows).toEqual([['2024-01-01 00:00:00']]);
    });
  });

  describe('shapes of answers', () => {
    test('duplicate and odd column names become distinct fields, in order', async () => {
      const result = await source.query(
        'select 1 as id, 2 as id, 3 as id_2, 4 as id, 5 as `Größe "x"`, 6 as __proto__',
      );
      expect(result.fields.map((field) => field.name)).toEqual([
        'id',
        'id_3',
        'id_2',
        'id_4',
        'Größe "x"',
        '__proto__',
      ]);
      expect(Object.entries(result.rows[0]!).map(([, value]) => value)).toEqual([1, 2, 3, 4, 5, 6]);
      expect((await source.load(ask('select 1 as id, 2 as id'))).rows).toEqual([['1', '2']]);
    });

    test('an empty answer has columns and no segment', async () => {
      expect(await source.load(ask('select 1 as a from dual where false'))).toEqual({ rows: [], segments: [] });
      expect(await source.query('select 1 as a from dual where false')).toMatchObject({
        fields: [{ name: 'a' }],
        rows: [],
        truncated: false,
      });
    });

    test('many columns and nulls among them keep their places', async () => {
      const { rows } = await source.load(
        ask(`select ${Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? 'null' : String(i))).join(', ')}`),
      );
      expect(rows).toEqual([Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? null : String(i)))]);
    });

    test('the order of the query is the order of the rows, and the limit cuts there', async () => {
      const text = 'select seq as i from seq_1_to_50 order by (seq * 37) % 101 desc';
      const order = (await source.sql(text)).map((row) => row.i);
      expect((await source.load(ask(text))).rows.map(([i]) => Number(i))).toEqual(order);
      expect(await source.query(text, [], 3)).toMatchObject({
        rows: order.slice(0, 3).map((i) => ({ i })),
        truncated: true,
      });
      expect(await source.query(text, [], 50)).toMatchObject({ truncated: false });
      expect((await source.query(`${text} limit 40`, [], 3)).rows).toHaveLength(3);
      expect(await source.query(`(${text}) union all (select 0)`, [], 3)).toMatchObject({ truncated: true });
    });

    test('a huge answer is cut although it has few rows', async () => {
      const result = await source.query(`select repeat('x', 5000000) as x from seq_1_to_10`);
      expect(result).toMatchObject({ truncated: true });
      expect(result.rows).toHaveLength(3);
    });

    test('comments, a trailing semicolon and every kind of query expression are read', async () => {
      expect((await source.load(ask('select 1 -- one)\n, 2 /* ) */;\n# the end'))).rows).toEqual([['1', '2']]);
      expect(
        (
          await source.query(
            'with recursive n as (select 1 as i union all select i + 1 from n where i < 3) select i from n',
          )
        ).rows,
      ).toEqual([{ i: 1 }, { i: 2 }, { i: 3 }]);
      expect((await source.load(ask('values (1, 2), (3, 4)'))).rows).toEqual([
        ['1', '2'],
        ['3', '4'],
      ]);
      expect((await source.load(ask('(select 1) union (select 2) order by 1 desc limit 1'))).rows).toEqual([['2']]);
    });
  });

  describe('parameters', () => {
    test('compare as literals of their type would', async () => {
      await source.sql(`drop table if exists sale; create table sale (id int primary key, region varchar(10) collate utf8mb4_unicode_ci, place varchar(10) character set latin1, at date, paid bool, price decimal(30,20), moment timestamp null, big bigint);
        insert into sale values (1, 'EU', 'Köln', '2024-01-01', true, 1.50000000000000000001, '2024-01-01 12:00', 9007199254740993), (2, 'US', 'Rom', '2024-06-01', false, 2.50, null, 9007199254740992)`);
      const ids = async (where: string, ...parameters: Parameters<typeof bound>[]) =>
        (
          await source.query(
            `select id from sale where ${where} order by id`,
            parameters.map((one) => bound(...one)),
          )
        ).rows.map((row) => row.id);
      expect(await ids('region = {{r}}', ['r', 'EU'])).toEqual([1]);
      expect(await ids('region = {{r}}', ['r', 'eu'])).toEqual([1]);
      expect(await ids('place = {{r}}', ['r', 'Köln'])).toEqual([1]);
      expect(await ids('at >= {{d}} and id <= {{n}}', ['d', '2024-02-01T00:00:00.000Z', 'date'], ['n', 7])).toEqual([
        2,
      ]);
      expect(await ids('at = {{d}}', ['d', '2024-06-01', 'date'])).toEqual([2]);
      expect(await ids('moment < {{d}}', ['d', '2024-01-01T12:00:00.001Z', 'date'])).toEqual([1]);
      expect(await ids('moment < {{d}}', ['d', '2024-01-01T12:00:00.000Z', 'date'])).toEqual([]);
      expect(await ids('paid = {{b}}', ['b', false])).toEqual([2]);
      expect(await ids('{{b}}', ['b', true])).toEqual([1, 2]);
      expect(await ids('price > {{p}}', ['p', 1.5])).toEqual([1, 2]);
      expect(await ids('price = {{p}}', ['p', 2.5])).toEqual([2]);
      expect(await ids('id > {{p}}', ['p', 1.5])).toEqual([2]);
      expect(await ids('id < {{p}}', ['p', 1e300])).toEqual([1, 2]);
      expect(await ids('id > {{p}}', ['p', 1e-300])).toEqual([1, 2]);
      expect(await ids('big = {{p}}', ['p', 2 ** 53])).toEqual([2]);
      expect(await ids('({{r}} is null or region = {{r}})', ['r', null])).toEqual([1, 2]);
      expect(await ids('({{r}} is null or region = {{r}})', ['r', 'US'])).toEqual([2]);
      expect(await ids('({{n}} is null or id = {{n}})', ['n', null, 'number'])).toEqual([1, 2]);
      expect(await ids('id = {{a}} + {{b}}', ['a', 1], ['b', 1])).toEqual([2]);
      expect(await ids('id = 5--{{a}}-5', ['a', 1])).toEqual([1]);
      expect(await ids(`date_format({{d}}, '%Y') = '2024'`, ['d', '2024-02-01', 'date'])).toEqual([1, 2]);
      expect(await ids('at < {{d}} + interval {{n}} day', ['d', '2024-01-01', 'date'], ['n', 1])).toEqual([1]);
    });

    test('have the type of their definition', async () => {
      expect(
        await source.query(
          'select {{s}} as s, {{n}} as n, {{f}} as f, {{d}} as d, {{b}} as b, {{z}} as z, {{y}} as y',
          [
            bound('s', 'x'),
            bound('n', 5_000_000_000),
            bound('f', 1e300),
            bound('d', '2024-02-01', 'date'),
            bound('b', true),
            bound('z', null, 'number'),
            bound('y', null, 'date'),
          ],
        ),
      ).toMatchObject({
        fields: [
          { type: 'string' },
          { type: 'number' },
          { type: 'number' },
          { type: 'datetime' },
          { type: 'integer' },
          { type: 'number' },
          { type: 'datetime' },
        ],
        rows: [{ s: 'x', n: 5e9, f: 1e300, d: '2024-02-01T00:00:00.000Z', b: 1, z: null, y: null }],
      });
    });

    test('count rows', async () => {
      const ids = async (end: string, ...parameters: Parameters<typeof bound>[]) =>
        (
          await source.query(
            `select seq from seq_1_to_9 order by seq ${end}`,
            parameters.map((one) => bound(...one)),
          )
        ).rows.map((row) => row.seq);
      expect(await ids('limit {{n}}', ['n', 2])).toEqual([1, 2]);
      expect(await ids('LIMIT {{from}}, {{n}}', ['from', 3], ['n', 2])).toEqual([4, 5]);
      expect(await ids('limit {{n}} offset {{from}}', ['from', 3], ['n', 2])).toEqual([4, 5]);
      expect(await ids('limit 3, {{n}}', ['n', 2])).toEqual([4, 5]);
      await expect(ids('limit {{n}}', ['n', 1.5])).rejects.toMatchObject({
        status: 400,
        message: 'The parameter "n" counts rows and takes a whole number that is not negative',
      });
    });

    test.each([
      ['region = {{v}}', 'EU4999', 'string'],
      ['place = {{v}}', 'EU4999', 'string'],
      ['id = {{v}}', 4999, 'number'],
      ['price = {{v}}', 4999.25, 'number'],
      ['id > {{v}}', 4999.5, 'number'],
      ['at = {{v}}', '2033-09-08', 'date'],
      ['moment = {{v}}', '2033-09-08T00:00:00.000Z', 'date'],
    ] as const)('%s uses the index', async (where, value, dataType) => {
      await source.sql(`create table if not exists indexed (id int primary key, region varchar(10) collate utf8mb4_unicode_ci, place varchar(10) character set latin1, at date, price decimal(9,2), moment timestamp null, key(region), key(place), key(at), key(price), key(moment))
        as select seq as id, concat('EU', seq) as region, concat('EU', seq) as place, date_add('2020-01-01', interval seq day) as at, seq + 0.25 as price, timestamp(date_add('2020-01-01', interval seq day)) as moment from seq_1_to_5000;
        analyze table indexed`);
      const planned = async (condition: string) => {
        const { text, values } = compilePlaceholders(
          parseTemplate(`explain select count(*) from indexed where ${condition}`, 'mysql'),
          [bound('v', value, dataType)],
        );
        return (await source.sql(text, values))[0]!;
      };
      expect(await planned(where)).toMatchObject({ rows: '1' });
      expect(await planned(`concat(id) = '4999' and {{v}} is not null`)).toMatchObject({ type: 'index' });
    });

    test.each([
      `'; drop table sale; --`,
      `' into outfile '/tmp/x`,
      `{{n}}`,
      `?`,
      `\\'`,
      `\\`,
      `"`,
      `@x`,
      ``,
      `ü\n🦆`,
      `' or sleep(9) or '`,
      `0x41`,
      `*/`,
      `\``,
    ])('%j arrives as it is', async (value) => {
      expect(
        (
          await source.load(
            ask('select {{v}} as v, concat({{w}}, {{v}}) as twice', [bound('v', value), bound('w', value)]),
          )
        ).rows,
      ).toEqual([[value, value + value]]);
    });

    test('names may have hyphens and need not be words of SQL', async () => {
      expect(
        (
          await source.query('select {{start-date}} as a, {{select}} as b', [
            bound('start-date', 'x'),
            bound('select', 'y'),
          ])
        ).rows,
      ).toEqual([{ a: 'x', b: 'y' }]);
    });

    test('a placeholder without parameter is named', async () => {
      await expect(source.query('select {{missing}}')).rejects.toMatchObject({
        status: 400,
        message: 'The placeholder {{missing}} has no definition',
      });
    });
  });

  describe('the source described', () => {
    test('tables and views with columns and primary keys, of its database alone', async () => {
      const { database } = source;
      await source.sql(
        "create table `Z t` (b int unsigned, a int not null, primary key (a)); create view `Z v` as select 1 as one, a from `Z t`; create sequence `Z s`; create table `Z j` (j json, e enum('x'))",
      );
      const tables = await source.connection.schema(never);
      expect(tables.filter((table) => table.name.startsWith('Z'))).toEqual([
        {
          schema: database,
          name: 'Z j',
          type: 'table',
          columns: [
            { name: 'j', type: 'longtext', nullable: true, primaryKey: false },
            { name: 'e', type: `enum('x')`, nullable: true, primaryKey: false },
          ],
        },
        {
          schema: database,
          name: 'Z t',
          type: 'table',
          columns: [
            { name: 'b', type: 'int(10) unsigned', nullable: true, primaryKey: false },
            { name: 'a', type: 'int(11)', nullable: false, primaryKey: true },
          ],
        },
        {
          schema: database,
          name: 'Z v',
          type: 'view',
          columns: [
            { name: 'one', type: 'int(1)', nullable: false, primaryKey: false },
            { name: 'a', type: 'int(11)', nullable: false, primaryKey: false },
          ],
        },
      ]);
      expect(tables.every((table) => table.schema === database)).toBe(true);
    });

    test('the test says the version, and warns of rights that a reader does not need, but not of a reader', async () => {
      const { database } = source;
      const user = `r_${database.slice(-8)}`;
      const warnings = async () =>
        (await source.open({ user }, { password: 'only-for-this-test' }).test(never)).warnings;
      const unencrypted = 'The connection is not encrypted';
      const warning = (what: string) =>
        expect.stringMatching(new RegExp(`^The role "${user}@.*" ${what}; use one that may only read$`)) as string;
      expect(await source.connection.test(never)).toMatchObject({
        ok: true,
        version: expect.stringMatching(/^MariaDB \d+\.\d+\.\d+$/) as string,
        message: null,
        warnings: [expect.stringContaining('may do everything') as string, unencrypted],
      });
      await source.sql(
        `create user ${user}@'%' identified by 'only-for-this-test', ${user}@localhost identified by 'only-for-this-test'`,
      );
      const grant = (what: string) => source.sql(`grant ${what} to ${user}@'%'; grant ${what} to ${user}@localhost`);
      await grant(`select on ${database}.*`);
      expect(await warnings()).toEqual([unencrypted]);
      await grant(`create view on ${database}.*`);
      expect(await warnings()).toEqual([warning('can change the schema'), unencrypted]);
      await source.sql(`create table ${database}.written (i int)`);
      await grant(`update (i) on ${database}.written`);
      expect(await warnings()).toEqual([warning('can write to tables'), unencrypted]);
      await grant('file on *.*');
      expect(await warnings()).toEqual([
        warning('can read and write files of the server'),
        warning('can write to tables'),
        unencrypted,
      ]);
      await source.sql(`drop user ${user}@'%', ${user}@localhost`);
    });
  });
});

import { describe, expect, test } from 'vitest';
import { boundQuery, neverAborted, openSource, useSource } from '../support/postgres-source.ts';

const source = useSource();

/** Source type, SQL value, field type, text in segments, JSON form. */
const VALUES: [sourceType: string, sql: string, type: string, text: string | null, json: unknown][] = [
  ['boolean', 'true', 'boolean', 't', true],
  ['smallint', '(-32768)::int2', 'integer', '-32768', -32768],
  ['integer', '2147483647', 'integer', '2147483647', 2147483647],
  ['bigint', '9007199254740991::int8', 'integer', '9007199254740991', 9007199254740991],
  ['oid', '4294967295::oid', 'integer', '4294967295', 4294967295],
  ['real', '0.1::float4', 'number', '0.1', 0.1],
  ['double precision', '0.1::float8 + 0.2::float8', 'number', '0.30000000000000004', 0.30000000000000004],
  ['double precision', `'NaN'::float8`, 'number', 'NaN', null],
  ['double precision', `'-Infinity'::float8`, 'number', '-Infinity', null],
  ['numeric(12,2)', '1234.50::numeric(12,2)', 'number', '1234.50', 1234.5],
  ['numeric(12,2)', `'NaN'::numeric(12,2)`, 'number', 'NaN', null],
  ['numeric', '0.000001::numeric', 'number', '0.000001', 0.000001],
  ['money', `'12.5'::money`, 'number', '12.50', 12.5],
  ['date', `'2024-02-29'::date`, 'date', '2024-02-29', '2024-02-29'],
  ['date', `'infinity'::date`, 'date', 'infinity', null],
  ['date', `'0044-03-15 BC'::date`, 'date', '0044-03-15 BC', null],
  ['date', `'12024-03-15'::date`, 'date', '12024-03-15', null],
  [
    'timestamp without time zone',
    `'2024-02-29 12:34:56.789999'::timestamp`,
    'datetime',
    '2024-02-29 12:34:56.789999',
    '2024-02-29T12:34:56.789Z',
  ],
  [
    'timestamp with time zone',
    `'2024-02-29 12:34:56+02'::timestamptz`,
    'datetime',
    '2024-02-29 10:34:56+00',
    '2024-02-29T10:34:56.000Z',
  ],
  ['timestamp with time zone', `'-infinity'::timestamptz`, 'datetime', '-infinity', null],
  ['time without time zone', `'23:59:59.5'::time`, 'string', '23:59:59.5', '23:59:59.5'],
  ['interval', `'1 mon 2 days 03:04:05'::interval`, 'string', '1 mon 2 days 03:04:05', '1 mon 2 days 03:04:05'],
  [
    'text',
    `E'a "quoted", \\\\N, line\\nbreak, ünï 🦆'`,
    'string',
    'a "quoted", \\N, line\nbreak, ünï 🦆',
    'a "quoted", \\N, line\nbreak, ünï 🦆',
  ],
  ['text', `'\\N'`, 'string', '\\N', '\\N'],
  ['text', `'\\.'`, 'string', '\\.', '\\.'],
  ['text', `''`, 'string', '', ''],
  ['character varying(5)', `'abc'::varchar(5)`, 'string', 'abc', 'abc'],
  ['character(3)', `'a'::char(3)`, 'string', 'a  ', 'a  '],
  [
    'uuid',
    `'00000000-0000-0000-0000-00000000000A'::uuid`,
    'string',
    '00000000-0000-0000-0000-00000000000a',
    '00000000-0000-0000-0000-00000000000a',
  ],
  ['inet', `'10.0.0.1/8'::inet`, 'string', '10.0.0.1/8', '10.0.0.1/8'],
  [
    'bytea',
    `decode(repeat('00ff', 60), 'hex')`,
    'string',
    Buffer.from('00ff'.repeat(60), 'hex').toString('base64'),
    Buffer.from('00ff'.repeat(60), 'hex').toString('base64'),
  ],
  ['integer[]', 'array[1, null, 3]', 'json', '[1,null,3]', [1, null, 3]],
  ['text[]', `array['a,b', '"c"']`, 'json', '["a,b","\\"c\\""]', ['a,b', '"c"']],
  ['json', `'{"a": [1, 2]}'::json`, 'json', '{"a": [1, 2]}', { a: [1, 2] }],
  ['json', `'{"id": 9007199254740993}'::json`, 'json', '{"id": 9007199254740993}', { id: '9007199254740993' }],
  ['jsonb', `'[1234567890123.4567, 1.50]'::jsonb`, 'json', '[1234567890123.4567, 1.50]', ['1234567890123.4567', 1.5]],
  ['bigint[]', 'array[9007199254740993, 1]', 'json', '[9007199254740993,1]', ['9007199254740993', 1]],
  ['numeric[]', 'array[12345678901234567890.5]', 'json', '[12345678901234567890.5]', ['12345678901234567890.5']],
  ['record', 'row(9007199254740993)', 'json', '{"f1":9007199254740993}', { f1: '9007199254740993' }],
  ['jsonb', `'null'::jsonb`, 'json', 'null', null],
  ['record', `row(1, 'x')`, 'json', '{"f1":1,"f2":"x"}', { f1: 1, f2: 'x' }],
  ['int4range', 'int4range(1, 5)', 'string', '[1,5)', '[1,5)'],
  ['point', 'point(1, 2)', 'string', '(1,2)', '(1,2)'],
  ['xml', `'<a/>'::xml`, 'string', '<a/>', '<a/>'],
  ['text', 'null', 'string', null, null],
];

describe('types', () => {
  test.each(VALUES)('%s %s is a %s', async (sourceType, sql, type, text, json) => {
    const query = boundQuery(`select ${sql} as v`);
    expect(await source.connection.describe(query, neverAborted)).toMatchObject([{ name: 'v', type, sourceType }]);
    expect((await source.load(query)).rows).toEqual([[text]]);
    expect(await source.query(query.text)).toMatchObject({
      fields: [{ name: 'v', label: 'v', type }],
      rows: [{ v: json }],
      truncated: false,
    });
  });

  test('enums are strings, domains have their base type, composites are json', async () => {
    await source.sql(
      `create type mood as enum ('sad', 'happy');
      create domain amount as numeric(8,3);
      create type pair as (a int, b text[]);
      create table own (m mood, d amount, p pair, ms mood[]);
      insert into own values ('happy', 1.5, row(1, array['x']), array['sad']::mood[])`,
    );
    const query = boundQuery('select * from own');
    expect(await source.connection.describe(query, neverAborted)).toEqual([
      { name: 'm', type: 'string', storage: { kind: 'text' }, sourceType: 'mood' },
      { name: 'd', type: 'number', storage: { kind: 'decimal', precision: 8, scale: 3 }, sourceType: 'numeric(8,3)' },
      { name: 'p', type: 'json', storage: { kind: 'json' }, sourceType: 'pair' },
      { name: 'ms', type: 'json', storage: { kind: 'json' }, sourceType: 'mood[]' },
    ]);
    expect((await source.load(query)).rows).toEqual([['happy', '1.500', '{"a":1,"b":["x"]}', '["sad"]']]);
  });

  test('a numeric of unknown size, negative scale or more than 38 digits has no precision', async () => {
    const columns = await source.connection.describe(
      boundQuery('select 1::numeric, 1::numeric(3,-2), 1::numeric(39,1), 0.001::numeric(2,3)'),
      neverAborted,
    );
    expect(columns.map((column) => column.storage)).toEqual([
      { kind: 'decimal' },
      { kind: 'decimal' },
      { kind: 'decimal' },
      { kind: 'decimal', precision: 3, scale: 3 },
    ]);
  });

  test('a field with a value that a JSON number would round is returned as exact strings', async () => {
    expect(
      await source.query(
        `values
          (9007199254740993::int8, 0.1234567890123456789::numeric, 1.5::numeric),
          (1, 2.50, 1e20),
          (null, 'NaN', 1e22)`,
      ),
    ).toMatchObject({
      fields: [{ type: 'integer', format: 'int64' }, { type: 'number', format: 'decimal' }, { type: 'number' }],
      rows: [
        { column1: '9007199254740993', column2: '0.1234567890123456789', column3: 1.5 },
        { column1: '1', column2: '2.5', column3: 1e20 },
        { column1: null, column2: null, column3: 1e22 },
      ],
    });
  });

  test('a string past 8,000 characters changes the type of its field to text', async () => {
    expect((await source.query(`select repeat('x', 8000) as a, repeat('x', 8001) as b`)).fields).toMatchObject([
      { type: 'string' },
      { type: 'text' },
    ]);
  });
});

describe('results', () => {
  test('duplicate and odd column names become distinct fields, in order', async () => {
    const result = await source.query(
      'select 1 as id, 2 as id, 3 as id_2, 4 as id, 5 as "Größe ""x""", 6 as __proto__',
    );
    expect(result.fields.map((field) => field.name)).toEqual(['id', 'id_3', 'id_2', 'id_4', 'Größe "x"', '__proto__']);
    expect(Object.entries(result.rows[0]!).map(([, value]) => value)).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await source.load(boundQuery('select 1 as id, 2 as id'))).rows).toEqual([['1', '2']]);
  });

  test('an empty result has columns and no segment', async () => {
    expect(await source.load(boundQuery('select 1 as a where false'))).toEqual({ rows: [], segments: [] });
    expect(await source.query('select 1 as a where false')).toMatchObject({
      fields: [{ name: 'a' }],
      rows: [],
      truncated: false,
    });
  });

  test('a query without columns is refused', async () => {
    await expect(source.query('select from pg_class')).rejects.toMatchObject({
      status: 400,
      message: 'The query returns no columns',
    });
  });

  test('the order of the query is the order of the rows, and the limit cuts there', async () => {
    const text = 'select i from generate_series(1, 50) as g(i) order by (i * 37) % 101 desc';
    const order = (await source.sql(text)).map((row) => row.i);
    expect((await source.load(boundQuery(text))).rows.map(([i]) => Number(i))).toEqual(order);
    expect(await source.query(text, [], 3)).toMatchObject({
      rows: order.slice(0, 3).map((i) => ({ i })),
      truncated: true,
    });
    expect(await source.query(text, [], 50)).toMatchObject({ truncated: false });
  });

  test('a huge result is cut although it has few rows', async () => {
    const result = await source.query(`select repeat('x', 5000000) as x from generate_series(1, 10)`);
    expect(result).toMatchObject({ truncated: true });
    expect(result.rows).toHaveLength(3);
  });

  test('comments and a trailing semicolon are accepted', async () => {
    expect((await source.load(boundQuery('select 1 -- one)\n, 2 /* ) */;\n-- the end'))).rows).toEqual([['1', '2']]);
  });
});

describe('schema and connection test', () => {
  test('the schema lists tables and views with columns and primary keys, without system tables', async () => {
    await source.sql(
      `create schema "Other";
      create table "Other".t (b int, a int not null, primary key (a));
      create view "Other".v as select 1 as one;
      create materialized view "Other".w as select 1 as one`,
    );
    const tables = (await source.connection.schema(neverAborted)).filter((table) => table.schema === 'Other');
    expect(tables).toEqual([
      {
        schema: 'Other',
        name: 't',
        type: 'table',
        columns: [
          { name: 'b', type: 'integer', nullable: true, primaryKey: false },
          { name: 'a', type: 'integer', nullable: false, primaryKey: true },
        ],
      },
      {
        schema: 'Other',
        name: 'v',
        type: 'view',
        columns: [{ name: 'one', type: 'integer', nullable: true, primaryKey: false }],
      },
      {
        schema: 'Other',
        name: 'w',
        type: 'view',
        columns: [{ name: 'one', type: 'integer', nullable: true, primaryKey: false }],
      },
    ]);
    expect((await source.connection.schema(neverAborted)).every((table) => !table.schema.startsWith('pg_'))).toBe(true);
  });

  test('the connection test reports the version and warns of needless permissions', async () => {
    const testAs = async (role: string) => {
      const url = new URL(source.database.url);
      Object.assign(url, { username: role, password: 'only-for-this-test' });
      return openSource(url.href).test(neverAborted);
    };
    const name = `r_${source.database.url.slice(-8)}`;
    const unencrypted = 'The connection is not encrypted';
    expect(await source.connection.test(neverAborted)).toMatchObject({
      ok: true,
      version: expect.stringMatching(/^PostgreSQL \d+/) as string,
      message: null,
      warnings: [expect.stringContaining('is a superuser') as string, unencrypted],
    });
    await source.sql(`create role ${name} login password 'only-for-this-test'`);
    expect(await testAs(name)).toMatchObject({ ok: true, warnings: [unencrypted] });
    await source.sql(`create schema owned authorization ${name}`);
    expect(await testAs(name)).toMatchObject({
      warnings: [`The role "${name}" can create objects; use one that may only read`, unencrypted],
    });
    await source.sql(`create table owned.t (i int); grant update on owned.t to ${name}`);
    expect(await testAs(name)).toMatchObject({
      warnings: [`The role "${name}" can write to tables; use one that may only read`, unencrypted],
    });
    await source.sql(`drop schema owned cascade; drop role ${name}`);
  });
});

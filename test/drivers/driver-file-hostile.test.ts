import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../support/uploaded-source.ts';
import { runDuckdb, useUploads } from './driver-file-fixture.ts';

const { files, openSmallFile, querySmallFile } = useUploads();

/** Runs queries that must be refused. Returns their codes and messages; none may contain a path or a definition. */
async function refusals(texts: readonly string[]): Promise<{ text: string; code: string; message: string }[]> {
  const errors: { text: string; code: string; message: string }[] = [];
  for (const text of texts) {
    const { code, message } = ((await rejectionOf(querySmallFile(text))) ?? {
      code: 'none',
      message: 'the query succeeded',
    }) as { code: string; message: string };
    expect(message).not.toMatch(new RegExp(`${files.dir}|root:|CREATE VIEW`));
    errors.push({ text, code, message });
  }
  return errors;
}

const unknownTable = (name: string) => `There is no table "${name}": the rows of the file are the table "data"`;

/** Catalogue views and tables that DuckDB finds by their bare names. */
const CATALOGUE = [
  'duckdb_views',
  'duckdb_tables',
  'duckdb_columns',
  'duckdb_databases',
  'duckdb_logs',
  'duckdb_types',
  'duckdb_indexes',
  'duckdb_schemas',
  'duckdb_constraints',
  'duckdb_keywords',
  'sqlite_master',
  'sqlite_schema',
  'sqlite_temp_master',
  'sqlite_temp_schema',
  'pragma_database_list',
  'pg_settings',
  'pg_class',
  'pg_views',
  'pg_tables',
  'pg_database',
  'pg_namespace',
  'pg_attribute',
];

describe('the name of a common table expression is valid only where the expression is in scope', () => {
  test('a subquery does not permit a name elsewhere', async () => {
    const texts = CATALOGUE.map(
      (name) => `select a.* from (with ${name} as (select 1 as y) select y from ${name}) x, ${name} a`,
    );
    expect(await refusals(texts)).toEqual(
      CATALOGUE.map((name, i) => ({ text: texts[i], code: 'BAD_USER_INPUT', message: unknownTable(name) })),
    );
  });

  test('names fold as in DuckDB, which folds ASCII letters only', async () => {
    const kelvin = 'duc\u212Adb_views';
    const text = `with "${kelvin}" as (select 1 as x) select view_name from duckdb_views`;
    expect(await refusals([text])).toEqual([{ text, code: 'BAD_USER_INPUT', message: unknownTable('duckdb_views') }]);
    expect(await querySmallFile(`with "${kelvin}" as (select 1 as x) select x from "${kelvin}"`)).toEqual([[1]]);
  });

  /** `v` stands for the name of a catalogue view. */
  test.each([
    'select (with v as (select 1) select 1 from v), a.* from v a',
    'select * from v where exists (with v as (select 1) from v)',
    'select (select count(*) from v), (with v as (select 1) select 1)',
    'select 1 order by (with v as (select 1) select 1), (select count(*) from v)',
    'select 1 limit (select count(*) from v)',
    'select 1 where 1 in (with v as (select 1) from v) and 1 in (select 1 from v)',
    'from data, lateral (with v as (select a) from v), v as w',
    'from data left join lateral (select * from v) on true, (with v as (select 1) from v)',
    'from data join v on true and exists (with v as (select 1) from v)',
    '(with v as (select 1 as a) from v) union all (select 1 from v)',
    '(select 1 from v) union all (with v as (select 1 as a) from v)',
    '(with v as (select 1 as a) from v) except (with w as (from v) select 1 from w)',
    '(with v as (select 1 as a) from v) intersect select 1 from v order by all',
    'with a as (with v as (select 1) from v), b as (from v) from a, b',
    'with a as (from v), v as (select 1) from a',
    'with a as materialized (from v), v as materialized (select 1) from a, v',
    'with v as (from v) from v',
    'with v as materialized (from v) from v',
    'with V as (select * from "v") from V',
    'with a as (with v as (from v) from v) from a',
    'with recursive v as (from v) from v',
    'with recursive v as (select 1 from v union all select 2 from v) from v',
    'with recursive v as (select count(*) as n from v union select n + 1 from v where n < 3) from v',
    'with recursive v(n) as (select 1 union all select n + 1 from v where n < 3), w as (from v) from main.v',
    'with recursive a as ((with v as (select 1 as n) from v) union all select n + 1 from a, v where n < 3) from a',
    'from (with v as (select 1) from v) pivot (count(*) for a in (1)), v',
    'pivot (from v) on a in (1) using count(*)',
    'unpivot (from v) on columns(*)',
    'select list_transform([1], x -> (select count(*) from v))',
    'select [x for x in [1] if x < (select count(*) from v)]',
    'select case when exists (with v as (select 1) from v) then (select count(*) from v) end',
    'select count(*) filter (where exists (from v)) over (order by (select count(*) from v)) from data',
    'select sum(a) over w from data window w as (order by (select count(*) from v))',
    'select a from data group by a, (select count(*) from v)',
    'select a from data group by all having (select count(*) from v) > 0',
    'select a from data qualify row_number() over () < (select count(*) from v)',
    'from range((select count(*) from v))',
    'from unnest((select [1 for x in [1]] from v))',
    'values ((select count(*) from v))',
    'select struct_pack(a := (select count(*) from v))',
    'select cast((select count(*) from v) as varchar) collate nocase',
    'select try((select count(*) from v))',
    'select columns(x -> x = (select max(name) from v)) from data',
    'select * replace ((select count(*) from v) as a) from data',
    'from v',
    'table v',
    'from system.main.v',
    'from main.v',
    'from pg_catalog.v',
    'with x as (select 1) from information_schema.tables',
    'with tables as (select 1) from information_schema.tables',
    'with data as (select 1) from memory.main.data',
    'with recursive v(a) using key (a) as (select 1 union select a + 1 from recurring.v where a < 3) from v',
  ])('%s', async (template) => {
    const texts = ['duckdb_views', 'sqlite_master'].map((name) => template.replaceAll(/\bv\b/gi, name));
    const codes = (await refusals(texts)).map(({ code, message }) => [
      code,
      /There is no table|syntax error/.test(message),
    ]);
    expect(codes).toEqual(texts.map(() => ['BAD_USER_INPUT', true]));
  });

  test.each([
    ['with x as (select 1 as i) select i from x', [[1]]],
    ['with X as (select 1 as i), y as (from x) select i from "Y"', [[1]]],
    ['with x as (select 1 as i) select i from (select * from x)', [[1]]],
    ['with x as (select 1 as i) select (select i from x) as i, (with y as (from x) select i from y) as j', [[1, 1]]],
    ['with x as (select 1 as i) select i from x union all select i + 1 from x order by i', [[1], [2]]],
    ['with x as (select 1 as i) (from x) union all (with y as (from x) from y) order by i', [[1], [1]]],
    ['with x as (select 1 as i) select i from (with x as (select i + 1 as i from x) select i from x)', [[2]]],
    ['with data as (select a + 1 as a from data) select a from data', [[2], [3]]],
    [
      'with x as (select 1 as i) select d.a, y.i from data d, lateral (select x.i + d.a as i from x) y',
      [
        [1, 2],
        [2, 3],
      ],
    ],
    ['with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select i from n', [[1], [2], [3]]],
    [
      'with recursive x as (select 1 as i), n(i) as (from x union all select i + 1 from n where i < 2) from n',
      [[1], [2]],
    ],
    [
      'with recursive n(i) as (select 1 union select i + 1 from n where i < (select max(a) from data)) from n',
      [[1], [2]],
    ],
    ['with x as materialized (select 1 as i), y as not materialized (from x) select i from y', [[1]]],
    ['with duckdb_views as (select 1 as i) select i from duckdb_views', [[1]]],
    ['select i from range(2) t(i) where i in (with x as (select 1 as i) from x)', [[1]]],
  ] as const)('%s', async (text, rows) => {
    expect(await querySmallFile(text)).toEqual(rows);
  });

  test('no query that the guard permits reads a table other than the rows and its own expressions', async () => {
    const errors: unknown[] = [];
    let permitted = 0;
    for (const text of randomQueries(150)) {
      const error = (await rejectionOf(querySmallFile(text))) as Error | undefined;
      // DuckDB finds none of the names outside of their scope, and says so if the guard did not refuse them.
      if (error && !error.message.startsWith('There is no table')) errors.push([text, error.message]);
      if (!error) permitted++;
    }
    expect(errors).toEqual([]);
    expect(permitted).toBeGreaterThan(10);
  });
});

/** Returns queries with nested, shadowed and recursive common table expressions, always the same ones. */
function randomQueries(count: number): string[] {
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const pick = (items: string[]) => items[Math.floor(random() * items.length)]!;
  const table = (depth: number): string =>
    depth > 0 && random() < 0.3 ? `(${query(depth - 1)})` : pick(['data', 'data', 'x', 'Y']);
  const value = (depth: number): string => (depth > 0 && random() < 0.3 ? `(${query(depth - 1)} limit 1)` : '1');
  const select = (depth: number): string =>
    `select ${value(depth)} as a from ${table(depth)} as t where ${value(depth)} = 1`;
  const expression = (depth: number): string => {
    const name = pick(['x', 'y']);
    return random() < 0.3
      ? `with recursive ${name}(a) as (${select(depth)} union select a + 1 from ${name} where a < 2)`
      : `with ${name}(a) as (${query(depth)})`;
  };
  const query = (depth: number): string => {
    if (depth <= 0) return select(0);
    const text = random() < 0.2 ? `(${query(depth - 1)}) union all (${query(depth - 1)})` : select(depth - 1);
    return random() < 0.6 ? `${expression(depth - 1)} ${text}` : text;
  };
  return Array.from({ length: count }, () => query(3));
}

describe('a function that reads more than its arguments is refused by name', () => {
  /** Tests of functions by name are in driver-file-functions.test.ts; these call them in unusual ways. */
  test.each([
    ['pg_get_viewdef', `select pg_get_viewdef(x) from range(40000) t(x) where pg_get_viewdef(x) like 'CREATE%'`],
    ['pg_get_viewdef', 'select list_transform(range(9), x -> pg_get_viewdef(x))'],
    ['pg_get_viewdef', 'select [pg_get_viewdef(x) for x in range(9)]'],
    ['pg_get_viewdef', 'select PG_GET_VIEWDEF(1)'],
    ['pg_get_viewdef', 'select "pg_get_viewdef"(1)'],
    ['pg_get_viewdef', 'select system.pg_catalog.pg_get_viewdef(1)'],
    ['pg_get_viewdef', 'select pg_catalog.pg_get_viewdef(1)'],
    ['pg_get_viewdef', 'select a.pg_get_viewdef() from data'],
    ['pg_get_viewdef', 'select 1 order by pg_get_viewdef(1)'],
    ['pg_get_viewdef', 'select 1 where pg_get_viewdef(1) is null'],
    ['pg_get_viewdef', 'select 1 limit length(pg_get_viewdef(1))'],
    ['pg_get_viewdef', 'from range(length(pg_get_viewdef(1)))'],
    ['pg_get_viewdef', 'from (values (pg_get_viewdef(1)))'],
    ['pg_get_viewdef', 'select sum(a) over (partition by pg_get_viewdef(a)) from data'],
    ['pg_get_viewdef', 'select count(*) filter (where pg_get_viewdef(a) is null) from data'],
    ['pg_get_viewdef', 'select string_agg(b order by pg_get_viewdef(a)) from data'],
    ['pg_get_viewdef', 'from data d join data e on pg_get_viewdef(d.a) = pg_get_viewdef(e.a)'],
    ['pg_get_viewdef', 'from data pivot (max(pg_get_viewdef(a)) for b in (1))'],
    ['pg_get_viewdef', 'select * replace (pg_get_viewdef(a) as a) from data'],
    ['pg_get_viewdef', 'select {x: pg_get_viewdef(1)}, map {1: pg_get_viewdef(1)}'],
    ['current_setting', 'select current_setting($$allowed_paths$$) over () from data'],
    ['duckdb_views', 'select duckdb_views() over () from data'],
    ['sleep_ms', 'select sleep_ms(10000)'],
    ['pg_sleep', 'select pg_sleep(10)'],
    ['stats', 'select stats(a) from data'],
    ['txid_current', 'select txid_current()'],
    ['in_search_path', `select in_search_path('memory', 'main')`],
    ['json_execute_serialized_sql', `from json_execute_serialized_sql(json_serialize_sql('select 1'))`],
    ['json_serialize_plan', `select json_serialize_plan('from duckdb_settings()')`],
    ['getvariable', `select getvariable('x')`],
    ['query', `from query('from duckdb_views')`],
    ['query_table', `from query_table('duckdb_views')`],
    ['histogram', `from histogram('duckdb_views', sql)`],
    ['histogram_values', `from histogram_values('duckdb_views', sql)`],
    ['pragma_version', 'from pragma_version()'],
    ['duckdb_settings', 'select (select list(name) from duckdb_settings())'],
    ['main.upper', 'select "main.upper"(1)'],
    ['nothing', 'select nothing(1)'],
  ])('%s: %s', async (name, text) => {
    const [refusal] = await refusals([text]);
    expect(refusal).toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(new RegExp(`^The (table )?function ${name} is not available$`)) as string,
    });
  });

  test('the query process refuses it too', async () => {
    const file = await openSmallFile();
    await expect(file.query('select pg_get_viewdef(1)')).rejects.toMatchObject({
      status: 400,
      message: 'The function pg_get_viewdef is not available',
    });
    await expect(file.query('with duckdb_views as (from duckdb_views) from duckdb_views')).rejects.toMatchObject({
      status: 400,
      message: unknownTable('duckdb_views'),
    });
  });

  test.each([
    'from (show tables)',
    'from (show all tables)',
    'from (describe data)',
    'from (describe select 1)',
    'from (summarize data)',
    'select (select sql from (show all tables))',
    'show databases',
    'select filename from data',
    'select file_row_number from data',
    'select * from "data.csv"',
    `select * from 'small'`,
    'select $$x$$; from duckdb_views',
    'select 1 /* ; */ ; from duckdb_views --',
    'insert into data select 1 returning sql',
    'with x as (insert into data values (1) returning *) from x',
    'with x as (delete from data returning *) from x',
    'set variable x = 1',
    'from data at (version => 1)',
  ])('%s', async (text) => {
    expect((await refusals([text])).map(({ code }) => code)).toEqual(['BAD_USER_INPUT']);
  });

  test('a Parquet file does not name itself', async () => {
    await runDuckdb(`copy (select 1 as a) to '${files.path('rows')}' (format parquet)`);
    const file = files.open('file', 'rows', { format: 'parquet' });
    expect((await file.query('select a from data')).rows).toEqual([{ a: 1 }]);
    for (const text of ['select filename from data', 'select data.filename from data', 'from data select file_index'])
      await expect(file.query(text)).rejects.toMatchObject({ status: 400 });
  });
});

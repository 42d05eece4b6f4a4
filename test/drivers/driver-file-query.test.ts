import { describe, expect, test } from 'vitest';
import { boundQuery, boundParameter } from '../support/postgres-source.ts';
import { useUploads } from './driver-file-fixture.ts';

const { files, upload, openSmallFile } = useUploads();

describe('a query is one SELECT of the file', () => {
  test('it is SQL of DuckDB over the table `data`', async () => {
    const { file } = await upload('region,amount\nEU,1.5\nUS,2\nEU,3\n');
    const totals = await file.query('select region, sum(amount) as total from data group by all order by all;');
    expect(totals.rows).toEqual([
      { region: 'EU', total: 4.5 },
      { region: 'US', total: 2 },
    ]);
    const counts = await file.query(
      'with d as (from data where amount > 1.5) select count(*) as n, 1 as n, 2 as N from d, range(2)',
    );
    expect(counts.fields.map(({ name }) => name)).toEqual(['n', 'n_2', 'N']);
    expect(await file.query('select amount from data order by amount desc', [], 2)).toMatchObject({
      rows: [{ amount: 3 }, { amount: 2 }],
      truncated: true,
    });
    expect((await file.load(boundQuery('select amount from (select * from data order by amount desc)'))).rows).toEqual([
      ['3.0'],
      ['2.0'],
      ['1.5'],
    ]);
    expect(await file.load(boundQuery('select 1 from data where false'))).toEqual({ rows: [], segments: [] });
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

  // Each statement starts a process.
  test('statements other than one query of the file are refused', { timeout: 600_000 }, async () => {
    const file = await openSmallFile();
    const outcomes: [text: string, outcome: string][] = [];
    for (const text of REFUSED)
      outcomes.push([
        text,
        await file.query(text).then(
          () => 'accepted',
          ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
        ),
      ]);
    const leak = new RegExp(`${files.dir}|root:`);
    expect(outcomes.filter(([, outcome]) => !outcome.startsWith('BAD_USER_INPUT: ') || leak.test(outcome))).toEqual([]);
  });

  test('an error names its line', async () => {
    const file = await openSmallFile();
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

describe('parameters', () => {
  test('take the type that their position requires, else the type of their definition', async () => {
    const { file } = await upload(
      'id,region,day,paid,price,moment\n1,EU,2024-01-01,true,1.50,2024-01-01T12:00:00Z\n2,US,2024-06-01,false,2.50,\n',
    );
    const findIds = async (where: string, ...parameters: Parameters<typeof boundParameter>[]) =>
      (
        await file.query(
          `select id from data where ${where} order by id`,
          parameters.map((parameter) => boundParameter(...parameter)),
        )
      ).rows.map(({ id }) => id);
    expect(await findIds('region = {{r}}', ['r', 'EU'])).toEqual([1]);
    expect(await findIds('day >= {{d}} and id <= {{n}}', ['d', '2024-02-01T00:00:00.000Z', 'date'], ['n', 7])).toEqual([
      2,
    ]);
    expect(await findIds('day = {{d}}', ['d', '2024-01-01', 'date'])).toEqual([1]);
    expect(await findIds('day = {{d}}', ['d', '2024-01-01'])).toEqual([1]);
    expect(await findIds('moment < {{d}}', ['d', '2024-01-01T12:00:00.001Z', 'date'])).toEqual([1]);
    expect(await findIds('paid = {{b}}', ['b', false])).toEqual([2]);
    expect(await findIds('price > {{p}}', ['p', 1.5])).toEqual([2]);
    expect(await findIds('id > {{p}}', ['p', 1.5])).toEqual([2]);
    expect(await findIds('region = {{n}}', ['n', 5])).toEqual([]);
    expect(await findIds('({{r}} is null or region = {{r}})', ['r', null])).toEqual([1, 2]);
    expect(await findIds('({{r}} is null or region = {{r}})', ['r', 'US'])).toEqual([2]);
    expect(
      await file.query('select {{s}} as s, {{n}} as n, {{start-date}} as d, {{b}} as b, {{z}} as z limit {{n}}', [
        boundParameter('s', 'x'),
        boundParameter('n', 1),
        boundParameter('start-date', '2024-02-01', 'date'),
        boundParameter('b', true),
        boundParameter('z', null, 'number'),
      ]),
    ).toMatchObject({
      fields: [{ type: 'string' }, { type: 'integer' }, { type: 'date' }, { type: 'boolean' }, { type: 'number' }],
      rows: [{ s: 'x', n: 1, d: '2024-02-01', b: true, z: null }],
    });
    await expect(
      file.query('select 1 from data where day = {{d}}', [boundParameter('d', 'tomorrowish')]),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('tomorrowish') as string });
    await expect(file.query('select {{missing}}')).rejects.toMatchObject({
      status: 400,
      message: 'The placeholder {{missing}} has no definition',
    });
  });

  test.each([`'); drop view data; --`, '{{v}}', '$p0', `"`, '', 'ü\n🦆', `' || read_text('/etc/passwd') || '`])(
    '%j arrives unchanged',
    async (value) => {
      const file = await openSmallFile();
      const { rows } = await file.load(
        boundQuery('select {{v}} as v, {{v}} || {{v}} as twice', [boundParameter('v', value)]),
      );
      expect(rows).toEqual([[value, value + value]]);
    },
  );
});

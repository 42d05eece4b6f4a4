import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { boundQuery, boundParameter, neverAborted } from '../support/postgres-source.ts';
import { driverOf, filesIn } from '../support/uploaded-source.ts';
import { useSqliteFiles } from './driver-sqlite-fixture.ts';

const { files, createFile, createEmptyFile } = useSqliteFiles();

describe('results', () => {
  test('have the names, order and limit of the query, and may be empty', async () => {
    const { file } = createFile('create table t (id int); insert into t values (3), (1), (2)');
    const result = await file.query(
      'select id, id, 1 as id_2, 2 as "Größe ""x""", 3 as __proto__ from t order by id desc',
      [],
      2,
    );
    expect(result.fields.map(({ name }) => name)).toEqual(['id', 'id_3', 'id_2', 'Größe "x"', '__proto__']);
    expect(result).toMatchObject({ rows: [{ id: 3 }, { id: 2 }], truncated: true });
    const blank = await file.query('select 1 as column_2, 2 as "", 3 as " "');
    expect(blank.fields.map(({ name }) => name)).toEqual(['column_2', 'column_2_2', 'column_3']);
    expect(await file.query('select id from t', [], 3)).toMatchObject({ truncated: false });
    expect(await file.load(boundQuery('select id from t where false'))).toEqual({ rows: [], segments: [] });
  });

  test('a huge result is cut although it has few rows', async () => {
    const result = await createEmptyFile().query(
      `with recursive r(i) as (values (1) union all select i + 1 from r where i < 10)
      select hex(zeroblob(2500000)) from r`,
    );
    expect(result).toMatchObject({ truncated: true });
    expect(result.rows).toHaveLength(3);
  });

  test('segments report their rows and bytes, and at most three exist for a slow reader', async () => {
    const { file } = createFile('create table t (i integer primary key, s text)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 60000)
        insert into t select i, hex(zeroblob(300)) from r`,
      ),
    );
    let next = 1;
    let maxFiles = 0;
    for await (const segment of file.connection.segments(
      boundQuery('select i, s from t'),
      files.segments,
      neverAborted,
    )) {
      maxFiles = Math.max(maxFiles, (await filesIn(files.segments)).length);
      const text = await readFile(segment.path, 'utf8');
      const lines = text.split('\n').slice(0, -1);
      expect(segment).toMatchObject({
        rows: lines.length,
        bytes: text.length,
        longestRow: Math.max(...lines.map((line) => line.length + 1)),
        temporary: true,
      });
      for (const line of lines) expect(line.startsWith(`${next++},`)).toBe(true);
      await rm(segment.path);
    }
    expect(next).toBe(60_001);
    expect(maxFiles).toBeLessThanOrEqual(3);
  });
});

describe('parameters', () => {
  test('are bound with the storage class that SQLite uses', async () => {
    const { file } = createFile(
      `create table t (id int, s text, b boolean, d date);
      insert into t values (1, 'a', 1, '2024-01-01'), (2, 'b', 0, '2024-06-01')`,
    );
    const findIds = async (where: string, ...parameters: Parameters<typeof boundParameter>[]) =>
      (
        await file.query(
          `select id from t where ${where} order by id`,
          parameters.map((parameter) => boundParameter(...parameter)),
        )
      ).rows.map(({ id }) => id);
    expect(await findIds('s = {{s}}', ['s', 'a'])).toEqual([1]);
    expect(await findIds('b = {{b}}', ['b', false])).toEqual([2]);
    expect(await findIds('d >= {{d}}', ['d', '2024-02-01', 'date'])).toEqual([2]);
    expect(await findIds('id > {{n}} or id = {{n}}', ['n', 1.5])).toEqual([2]);
    expect(await findIds('({{z}} is null)', ['z', null])).toEqual([1, 2]);
    const { rows } = await file.query(
      'select typeof({{n}}) as n, typeof({{x}}) as x, {{start-date}} as at limit {{n}}',
      [boundParameter('n', 1), boundParameter('x', 1.5), boundParameter('start-date', '2024-01-01')],
    );
    expect(rows).toEqual([{ n: 'integer', x: 'real', at: '2024-01-01' }]);
  });

  test.each([`'); drop table t; --`, `{{v}}`, '?1', ':p0', `"`, '', 'ü\n🦆', `' || load_extension('x') || '`])(
    '%j arrives unchanged',
    async (value) => {
      expect(
        (await createEmptyFile().load(boundQuery('select {{v}} as v', [boundParameter('v', value)]))).rows,
      ).toEqual([[value]]);
    },
  );

  test.each(['?', '?1', ':a', '@a', '$a'])(
    "SQLite's own placeholder %s is refused; in a string it is text",
    async (sign) => {
      await expect(createEmptyFile().query(`select ${sign}`)).rejects.toMatchObject({
        status: 400,
        message: `Parameters such as ${sign} are not known here; write {{name}}`,
      });
      expect((await createEmptyFile().query(`select 'a${sign}' as "b${sign}" -- ${sign}`)).rows).toEqual([
        { [`b${sign}`]: `a${sign}` },
      ]);
    },
  );
});

describe('recognition, schema and connection test', () => {
  test('a file is recognised by its content under any name; a single table is its rows', async () => {
    const { upload } = driverOf('sqlite');
    const one = createFile('create table "a ""b" (i); insert into "a ""b" values (5)');
    const { config } = (await upload!.detectConfig(files.path(one.name), 'photo.jpg', neverAborted))!;
    expect(config).toEqual({ table: 'a "b' });
    expect((await one.file.query(upload!.defaultQuery(config!)!)).rows).toEqual([{ i: 5 }]);
    const two = createFile('create table a (i); create view b as select 1 as one');
    expect(await upload!.detectConfig(files.path(two.name), 'x.sqlite', neverAborted)).toEqual({
      config: {},
      problems: [],
    });
    expect(upload!.defaultQuery({})).toBeNull();
  });

  test('another file is not recognised, a broken SQLite file is refused', async () => {
    const { upload } = driverOf('sqlite');
    await writeFile(files.path('text'), 'a,b\n1,2\n');
    expect(await upload!.detectConfig(files.path('text'), 'x.sqlite', neverAborted)).toBeNull();
    await writeFile(files.path('nothing'), '');
    expect(await upload!.detectConfig(files.path('nothing'), 'x.sqlite', neverAborted)).toBeNull();
    const { name } = createFile('create table t (i); create table u (i)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 20000)
        insert into t select hex(zeroblob(50)) from r`,
      ),
    );
    await copyFile(files.path(name), files.path('cut'));
    await truncate(files.path('cut'), 100_000);
    await expect(upload!.detectConfig(files.path('cut'), 'x', neverAborted)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/broken/) as string,
    });
    const bytes = await readFile(files.path(name));
    await writeFile(
      files.path('scribbled'),
      Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]),
    );
    await expect(upload!.detectConfig(files.path('scribbled'), 'x', neverAborted)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/broken/) as string,
    });
    await writeFile(files.path('encrypted'), Buffer.concat([bytes.subarray(0, 16), Buffer.alloc(8192, 9)]));
    await expect(upload!.detectConfig(files.path('encrypted'), 'x', neverAborted)).rejects.toMatchObject({
      status: 400,
    });
  });

  test('the schema lists tables and views with columns and primary keys; a broken view has no columns', async () => {
    const { file } = createFile(
      `create table t (id integer primary key, s varchar(5) not null, g as (id * 2));
      create view v as select s from t;
      create view w as select * from absent`,
    );
    expect(await file.connection.schema(neverAborted)).toEqual([
      {
        schema: 'main',
        name: 't',
        type: 'table',
        columns: [
          { name: 'id', type: 'INTEGER', nullable: true, primaryKey: true },
          { name: 's', type: 'varchar(5)', nullable: false, primaryKey: false },
          { name: 'g', type: '', nullable: true, primaryKey: false },
        ],
      },
      {
        schema: 'main',
        name: 'v',
        type: 'view',
        columns: [{ name: 's', type: 'varchar(5)', nullable: true, primaryKey: false }],
      },
      { schema: 'main', name: 'w', type: 'view', columns: [] },
    ]);
  });

  test('the connection test reports the version, and the error of a broken file', async () => {
    expect(await createEmptyFile().connection.test(neverAborted)).toMatchObject({
      ok: true,
      version: expect.stringMatching(/^SQLite 3\./) as string,
      warnings: [],
      message: null,
    });
    await writeFile(files.path('garbage'), 'garbage'.repeat(1000));
    expect(await files.open('sqlite', 'garbage').connection.test(neverAborted)).toMatchObject({
      ok: false,
      version: null,
      message: expect.stringContaining('is not an SQLite database') as string,
    });
  });

  test('a connection requires a file', () => {
    expect(() => driverOf('sqlite').connect({}, {}, null)).toThrow('The datasource has no file');
  });
});

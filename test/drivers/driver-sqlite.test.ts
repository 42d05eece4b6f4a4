import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Column } from '../../src/core/fields.ts';
import type { QueryResult } from '../../src/core/row-source.ts';
import { ask, bound, never } from '../support/postgres-source.ts';
import {
  driverOf,
  failure,
  filesIn,
  isAlive,
  queryProcesses,
  until,
  useFiles,
  type OpenFile,
} from '../support/uploaded-source.ts';

const files = useFiles();

let made = 0;

/** A SQLite file made of these statements. */
function make(sql: string, fill: (database: DatabaseSync) => void = () => {}): { name: string; file: OpenFile } {
  const name = `made-${made++}.sqlite`;
  const database = new DatabaseSync(files.path(name));
  database.exec(sql);
  fill(database);
  database.close();
  return { name, file: files.open('sqlite', name) };
}

const empty = () => make('create table t (i)').file;

const ENDLESS = 'with recursive r(i) as (values (1) union all select i + 1 from r) select';

describe('types', () => {
  /** declared, values of a column, field type, texts in segments, JSON forms */
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

  /** All cases side by side in one table: a missing value decides nothing. */
  const answers = {} as {
    columns: Column[];
    texts: (string | null)[][];
    result: QueryResult;
    indexed: Awaited<ReturnType<OpenFile['index']>>;
  };

  beforeAll(async () => {
    const { file } = make(
      `create table t (${VALUES.map(([declared], i) => `v${i} ${declared}`).join(', ')})`,
      (database) => {
        const insert = database.prepare(`insert into t values (${VALUES.map(() => '?').join(', ')})`);
        for (let row = 0; row < 5; row++) insert.run(...VALUES.map(([, values]) => values[row] ?? null));
      },
    );
    const text = 'select * from t order by rowid';
    answers.columns = await file.connection.describe(ask(text), never);
    answers.texts = (await file.load(ask(text))).rows;
    answers.result = await file.query(text);
    answers.indexed = await file.index(text);
  });

  test.each(VALUES.map((value, i) => [i, ...value] as const))(
    '%i: a column declared "%s" with %o is a %s',
    (i, _declared, values, type, texts, json) => {
      const column = { name: `v${i}`, type };
      expect(answers.columns[i]).toMatchObject(column);
      expect(answers.texts.map((row) => row[i]).slice(0, values.length)).toEqual(texts);
      expect(answers.result.fields[i]).toMatchObject(column);
      expect(answers.result.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
      expect(answers.indexed.generation.fields[i]).toMatchObject(column);
      expect(answers.indexed.rows.map((row) => row[`v${i}`]).slice(0, values.length)).toEqual(json);
    },
  );

  test('without rows the declared types stand', async () => {
    const { file } = make(
      'create table t (i int, n real, d decimal, b boolean, at date, m datetime, j json, s varchar(3), x)',
    );
    expect(
      (await file.connection.describe(ask('select *, 1 + i as e from t'), never)).map(
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

  test('a value in the last of many rows decides too', async () => {
    const { file } = make('create table t (v integer)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 200000) insert into t select i from r; insert into t values ('last')`,
      ),
    );
    const { generation } = await file.index('select v from t');
    expect(generation).toMatchObject({ records: 200_001, fields: [{ type: 'string' }] });
    expect((await file.query(`select v from t where typeof(v) = 'text'`)).rows).toEqual([{ v: 'last' }]);
  });
});

describe('shapes of answers', () => {
  test("names, order, limit and an empty answer are the query's", async () => {
    const { file } = make('create table t (id int); insert into t values (3), (1), (2)');
    const result = await file.query(
      'select id, id, 1 as id_2, 2 as "Größe ""x""", 3 as __proto__ from t order by id desc',
      [],
      2,
    );
    expect(result.fields.map(({ name }) => name)).toEqual(['id', 'id_3', 'id_2', 'Größe "x"', '__proto__']);
    expect(result).toMatchObject({ rows: [{ id: 3 }, { id: 2 }], truncated: true });
    expect(await file.query('select id from t', [], 3)).toMatchObject({ truncated: false });
    expect(await file.load(ask('select id from t where false'))).toEqual({ rows: [], segments: [] });
  });

  test('a huge answer for people is cut although it has few rows', async () => {
    const result = await empty().query(
      `with recursive r(i) as (values (1) union all select i + 1 from r where i < 10) select hex(zeroblob(2500000)) from r`,
    );
    expect(result).toMatchObject({ truncated: true });
    expect(result.rows).toHaveLength(3);
  });

  test('segments say truly what they hold, and three exist at most for a slow reader', async () => {
    const { file } = make('create table t (i integer primary key, s text)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 60000) insert into t select i, hex(zeroblob(300)) from r`,
      ),
    );
    let next = 1;
    let most = 0;
    for await (const segment of file.connection.segments(ask('select i, s from t'), files.segments, never)) {
      most = Math.max(most, (await filesIn(files.segments)).length);
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
    expect(most).toBeLessThanOrEqual(3);
  });
});

describe('parameters', () => {
  test('are bound as what SQLite keeps', async () => {
    const { file } = make(
      `create table t (id int, s text, b boolean, d date); insert into t values (1, 'a', 1, '2024-01-01'), (2, 'b', 0, '2024-06-01')`,
    );
    const ids = async (where: string, ...parameters: Parameters<typeof bound>[]) =>
      (
        await file.query(
          `select id from t where ${where} order by id`,
          parameters.map((one) => bound(...one)),
        )
      ).rows.map(({ id }) => id);
    expect(await ids('s = {{s}}', ['s', 'a'])).toEqual([1]);
    expect(await ids('b = {{b}}', ['b', false])).toEqual([2]);
    expect(await ids('d >= {{d}}', ['d', '2024-02-01', 'date'])).toEqual([2]);
    expect(await ids('id > {{n}} or id = {{n}}', ['n', 1.5])).toEqual([2]);
    expect(await ids('({{z}} is null)', ['z', null])).toEqual([1, 2]);
    expect(
      (
        await file.query('select typeof({{n}}) as n, typeof({{x}}) as x, {{start-date}} as at limit {{n}}', [
          bound('n', 1),
          bound('x', 1.5),
          bound('start-date', '2024-01-01'),
        ])
      ).rows,
    ).toEqual([{ n: 'integer', x: 'real', at: '2024-01-01' }]);
  });

  test.each([`'); drop table t; --`, `{{v}}`, '?1', ':p0', `"`, '', 'ü\n🦆', `' || load_extension('x') || '`])(
    '%j arrives as it is',
    async (value) => {
      expect((await empty().load(ask('select {{v}} as v', [bound('v', value)]))).rows).toEqual([[value]]);
    },
  );

  test.each(['?', '?1', ':a', '@a', '$a'])("SQLite's own %s is refused, in a string it is text", async (sign) => {
    await expect(empty().query(`select ${sign}`)).rejects.toMatchObject({
      status: 400,
      message: `Parameters such as ${sign} are not known here; write {{name}}`,
    });
    expect((await empty().query(`select 'a${sign}' as "b${sign}" -- ${sign}`)).rows).toEqual([
      { [`b${sign}`]: `a${sign}` },
    ]);
  });
});

describe('a query only reads, and only this file', () => {
  test.each([
    `attach '/etc/passwd' as p`,
    `attach ':memory:' as p`,
    'pragma user_version = 5',
    'pragma writable_schema = on',
    `select * from pragma_table_info('t')`,
    'pragma hard_heap_limit = 0',
    `select load_extension('/tmp/x.so')`,
    `select fts3_tokenizer('simple')`,
    `vacuum into '/tmp/copy'`,
    'vacuum',
    'create temp table x (i)',
    'create table x (i)',
    'create temp view v as select 1',
    'insert into t values (1)',
    'insert into t values (1) returning i',
    'update t set i = 1',
    'delete from t',
    'drop table t',
    'begin',
    'commit',
    'savepoint s',
    'explain select 1',
    'reindex',
    'analyze',
    'select 1; select 2',
    'select 1; drop table t',
    'select 1) union select (2',
    'select 1 /*',
    '',
    ' ',
    ';',
    '-- nothing',
    'select',
    `select readfile('/etc/passwd')`,
    `select writefile('/tmp/x', 'y')`,
    `select edit('x')`,
    'select "no such column"',
    `select * from main.nothing`,
    `select '{{x}}'`,
    'with x as (select 1) delete from t',
    `create virtual table v using fts5(a)`,
  ])('%j is refused', async (text) => {
    const { name, file } = make('create table t (i); insert into t values (1)');
    const before = await stat(files.path(name));
    await expect(file.query(text)).rejects.toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
    expect((await stat(files.path(name))).mtimeMs).toBe(before.mtimeMs);
    expect((await filesIn(files.dir)).filter((one) => one.startsWith(`${name}-`))).toEqual([]);
  });

  test('a view of the file cannot do more than a query', async () => {
    const { file } = make(`create table t (i); create view v as select load_extension('/tmp/x.so') as x`);
    await expect(file.query('select * from v')).rejects.toMatchObject({ status: 400 });
  });

  test('a file left in WAL mode, full-text tables and JSON functions are read', async () => {
    const { file } = make(
      `pragma journal_mode = wal; create virtual table f using fts5(body); insert into f values ('quick brown fox')`,
    );
    expect(
      (await file.query(`select body, json_extract('{"a":1}', '$.a') as a from f where f match 'brown'`)).rows,
    ).toEqual([{ body: 'quick brown fox', a: 1 }]);
  });

  test('a complaint does not tell where the file is', async () => {
    const { name, file } = make('create table t (i)');
    await rm(files.path(name));
    const error = (await failure(file.query('select 1'))) as Error;
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify([error.message, error])).not.toContain(files.dir);
  });
});

describe('bombs end in a clear error', () => {
  test.each([
    ['select hex(zeroblob(1000000000))', /longer than 64 MiB/],
    ['select randomblob(1000000000)', /longer than 64 MiB/],
    [`select printf('%.*c', 1000000000, 'x')`, /longer than 64 MiB/],
    [`select group_concat(hex(zeroblob(1000000))) from (${ENDLESS} i from r limit 1000)`, /longer than 64 MiB/],
    [`${ENDLESS} randomblob(10000) as b from r order by b`, /more memory than/],
  ])('%s', async (text, message) => {
    await expect(empty().query(text)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(message) as string,
    });
    await until(() => queryProcesses().length === 0);
  });
});

describe('stopping', () => {
  const quiet = `${ENDLESS} count(*) from r`;
  const loud = `${ENDLESS} i, hex(zeroblob(100)) from r limit 30000000`;

  test.each([
    ['query', quiet],
    ['load', quiet],
    ['load', loud],
  ])('a %s past its time fails as a query timeout and its process is gone', async (kind, text) => {
    const file = empty();
    await expect(
      kind === 'query' ? file.connection.query(ask(text, [], 700), 10, never) : file.load(ask(text, [], 700)),
    ).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED', message: 'query timeout after 700 ms' });
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('aborting ends the process before the call rejects', async () => {
    const stop = new AbortController();
    const outcome = failure(empty().connection.query(ask(quiet), 10, stop.signal));
    await until(() => queryProcesses().length === 1);
    stop.abort();
    expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
    expect(queryProcesses()).toEqual([]);
  });

  test('a reader that leaves ends the process, and no file stays', async () => {
    const { file } = make('create table t (i, s)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 100000) insert into t select i, hex(zeroblob(300)) from r`,
      ),
    );
    for await (const segment of file.connection.segments(ask('select * from t'), files.segments, never)) {
      await rm(segment.path);
      break;
    }
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('closing the connection ends what runs', async () => {
    const file = empty();
    const outcome = failure(file.connection.query(ask(quiet), 10, never));
    await until(() => queryProcesses().length === 1);
    await file.connection.close();
    expect(await outcome).toMatchObject({ code: 'CANCELLED' });
    expect(queryProcesses()).toEqual([]);
  });

  test('an aborted signal starts nothing', async () => {
    await expect(empty().connection.query(ask('select 1'), 10, AbortSignal.abort())).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  });

  test('a process whose parent is killed ends, even in the middle of a statement', async () => {
    const { name } = make('create table t (i)');
    const program = `import { sqliteDriver } from '${new URL('../../src/adapters/drivers/sqlite/sqlite-driver.ts', import.meta.url).href}';
      void sqliteDriver.connect({}, {}, ${JSON.stringify(files.path(name))}).query({ text: ${JSON.stringify(quiet)}, parameters: [], timeout: 600000 }, 1, new AbortController().signal);
      process.stdout.write('asked');`;
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    let child = 0;
    await until(() => (child = queryProcesses(parent.pid)[0] ?? 0) > 0);
    // Long enough for the statement to have begun.
    await new Promise((wake) => {
      setTimeout(wake, 500);
    });
    parent.kill('SIGKILL');
    await until(() => !isAlive(child));
    expect(isAlive(child)).toBe(false);
  });
});

describe('the file described', () => {
  test('recognised by content, whatever its name; its one table is its rows', async () => {
    const { upload } = driverOf('sqlite');
    const one = make('create table "a ""b" (i); insert into "a ""b" values (5)');
    const config = await upload!.recognise(files.path(one.name), 'photo.jpg', never);
    expect(config).toEqual({ table: 'a "b' });
    expect((await one.file.query(upload!.wholeQuery(config!)!)).rows).toEqual([{ i: 5 }]);
    const two = make('create table a (i); create view b as select 1 as one');
    expect(await upload!.recognise(files.path(two.name), 'x.sqlite', never)).toEqual({});
    expect(upload!.wholeQuery({})).toBeNull();
  });

  test("what is no SQLite file is somebody else's; what is broken says so", async () => {
    const { upload } = driverOf('sqlite');
    await writeFile(files.path('text'), 'a,b\n1,2\n');
    expect(await upload!.recognise(files.path('text'), 'x.sqlite', never)).toBeNull();
    await writeFile(files.path('nothing'), '');
    expect(await upload!.recognise(files.path('nothing'), 'x.sqlite', never)).toBeNull();
    const { name } = make('create table t (i); create table u (i)', (database) =>
      database.exec(
        `with recursive r(i) as (values (1) union all select i + 1 from r where i < 20000) insert into t select hex(zeroblob(50)) from r`,
      ),
    );
    await copyFile(files.path(name), files.path('cut'));
    await truncate(files.path('cut'), 100_000);
    await expect(upload!.recognise(files.path('cut'), 'x', never)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/broken/) as string,
    });
    const bytes = await readFile(files.path(name));
    await writeFile(
      files.path('scribbled'),
      Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]),
    );
    await expect(upload!.recognise(files.path('scribbled'), 'x', never)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/broken/) as string,
    });
    await writeFile(files.path('encrypted'), Buffer.concat([bytes.subarray(0, 16), Buffer.alloc(8192, 9)]));
    await expect(upload!.recognise(files.path('encrypted'), 'x', never)).rejects.toMatchObject({ status: 400 });
  });

  test('tables and views with columns and primary keys; a view of nothing has none', async () => {
    const { file } = make(
      'create table t (id integer primary key, s varchar(5) not null, g as (id * 2)); create view v as select s from t; create view w as select * from gone',
    );
    expect(await file.connection.schema(never)).toEqual([
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

  test('the test says the version, and what is wrong', async () => {
    expect(await empty().connection.test(never)).toMatchObject({
      ok: true,
      version: expect.stringMatching(/^SQLite 3\./) as string,
      warnings: [],
      message: null,
    });
    await writeFile(files.path('garbage'), 'garbage'.repeat(1000));
    expect(await files.open('sqlite', 'garbage').connection.test(never)).toMatchObject({
      ok: false,
      version: null,
      message: expect.stringContaining('no SQLite database') as string,
    });
  });

  test('without a file there is nothing to open', () => {
    expect(() => driverOf('sqlite').connect({}, {}, null)).toThrow('The datasource has no file');
  });
});

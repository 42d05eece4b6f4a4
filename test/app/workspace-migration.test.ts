import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { splitStatements, transactionCommandIn } from '../../src/core/sql-statements.ts';
import { newApp, outcomeOf, schemaOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

const names = async (key: Parameters<typeof own.run>[0]) =>
  (await own.workspaces.appliedMigrations(key)).map(({ filename }) => filename);

const tables = async (key: Parameters<typeof own.run>[0]) =>
  (
    await own.sql(
      `select relname as name from pg_class where relnamespace = $1::regnamespace and relkind = 'r' order by 1`,
      [schemaOf(key)],
    )
  ).map(({ name }) => name);

async function provisioned() {
  const key = newApp();
  await own.workspaces.provision(key);
  return key;
}

/** Expects that migrations fail with a status and message. */
const expectFailure = (running: Promise<unknown>, status: number, message: string | RegExp) =>
  expect(running).rejects.toMatchObject({
    status,
    message: message instanceof RegExp ? expect.stringMatching(message) : message,
  });

test('files run once, each in its own transaction, and a failure keeps those before it', async () => {
  const key = await provisioned();
  const files = {
    '001.sql': 'create table a (id int primary key);\ninsert into a values (1);',
    '002.sql': 'create table b (id int);',
    '003.sql':
      'create table c (id int);\n\ninsert into c values (1);\ninsert into\n  missing values (1);\ncreate table d (id int)',
    '004.sql': 'create table e (id int);',
  };
  await expectFailure(own.migrate(key, files), 500, 'migrations/003.sql:5: relation "missing" does not exist');
  expect(await names(key)).toEqual(['001.sql', '002.sql']);
  expect(await tables(key)).toEqual(['_migrations', 'a', 'b']);
  const fixed = { ...files, '003.sql': 'create table c (id int)' };
  expect(await own.migrate(key, fixed)).toEqual(['003.sql', '004.sql']);
  expect(await own.migrate(key, fixed)).toEqual([]);
  const [first] = await own.workspaces.appliedMigrations(key);
  expect(first).toMatchObject({ filename: '001.sql', checksum: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(Math.abs(Date.now() - first!.appliedAt.getTime())).toBeLessThan(600_000);
  expect(await own.run(key, 'insert into a values (2) returning id')).toEqual([{ id: 2 }]);
});

test('a file that ends its transaction is refused before anything runs', async () => {
  for (const [sql, command, line] of [
    ['create table x (a int);\n\n-- done\ncommit;', 'COMMIT', 4],
    ['/* a */ BEGIN;', 'BEGIN', 1],
    ['start transaction', 'START', 1],
    ['select 1;\r\nend', 'END', 2],
    ['rollback', 'ROLLBACK', 1],
    ['rollback work', 'ROLLBACK', 1],
    ['abort', 'ABORT', 1],
    [`prepare transaction 'x'`, 'PREPARE', 1],
    [`commit prepared 'x'`, 'COMMIT', 1],
  ] as const) {
    const key = await provisioned();
    await expectFailure(
      own.migrate(key, { '001.sql': 'create table a (id int)', '002.sql': sql }),
      400,
      `migrations/002.sql:${line}: ${command} is not possible: each file runs in one transaction`,
    );
    expect(await tables(key)).toEqual(['_migrations']);
  }
  const key = await provisioned();
  for (const [sql, message] of [
    [`do $$ begin commit; end $$`, 'migrations/001.sql:1: invalid transaction termination'],
    [
      `create procedure p() language plpgsql as $$ begin commit; end $$;\ncall p()`,
      'migrations/001.sql:2: invalid transaction termination',
    ],
  ] as const)
    await expectFailure(own.migrate(key, { '001.sql': sql }), 500, message);
  await expectFailure(
    own.migrate(key, { '001.sql': new Uint8Array([0xff, 0xfe]) }),
    400,
    'migrations/001.sql: The file is not UTF-8',
  );
  await expectFailure(
    own.migrate(key, { '001.sql': 'select \0' }),
    400,
    'migrations/001.sql: The file contains the character U+0000',
  );
  expect(await names(key)).toEqual([]);
  expect(
    await own.migrate(key, { '001.sql': 'savepoint a; create table t (a int); rollback to a; release a' }),
  ).toEqual(['001.sql']);
  expect(await tables(key)).toEqual(['_migrations']);
});

test('scripts are split as Postgres reads them', async () => {
  const script = `\ufeff-- a ; b
/* a ; /* nested ; */ ; */
create table "semi;colon" (id int primary key, "te""xt;" text default 'it''s; fine', e text default E'\\';');
create function f(a$b$ int) returns int language plpgsql as $body$
begin
  -- ; $$ ;
  if a$b$ > 1 then return 1; end if;
  return 0;
end $body$;
create function g(x int) returns int language sql begin atomic;
  select case when x > 1 then 2 else 3 end;
  select 4;
end;
do $$ begin insert into "semi;colon" (id) values (1); end $$;
create rule r as on insert to "semi;colon" where new.id = 100 do also (select 1; select 2);
create table ends ("end" int, begin int);;
;
insert into ends values (1, 2)
; -- the end`;
  for (const [name, text] of [
    ['LF', script],
    ['CR LF', script.replaceAll('\n', '\r\n')],
  ] as const) {
    const key = await provisioned();
    expect(
      splitStatements(text).map(({ line }) => line),
      name,
    ).toEqual([3, 4, 10, 14, 15, 16, 18]);
    expect(await own.migrate(key, { '001.sql': text }), name).toEqual(['001.sql']);
    expect(
      await own.run(key, 'select f(2), g(1), (select e from "semi;colon") as e, (select "end" from ends)'),
    ).toEqual([{ f: 1, g: 4, e: `';`, end: 1 }]);
  }
  expect(splitStatements('')).toEqual([]);
  expect(splitStatements('  -- nothing\n/* open')).toEqual([]);
  expect(splitStatements(`select 'open; a`)).toMatchObject([{ text: `select 'open; a` }]);
  expect(splitStatements('select $a$ ; $b$ ; $a$; select 1').map(({ text }) => text)).toEqual([
    'select $a$ ; $b$ ; $a$',
    'select 1',
  ]);
  for (const [text, command] of [
    ['/* a */ commit and chain; select 1', 'COMMIT'],
    [' -- a\n;;Rollback', 'ROLLBACK'],
    ['rollback to savepoint a', null],
    ['select 1; commit', null],
    [`'commit'`, null],
    ['', null],
  ] as const)
    expect(transactionCommandIn(text), text).toBe(command);
  const long = `select '${'x'.repeat(5_000_000)}';${'-'.repeat(5_000_000)}\n${' '.repeat(5_000_000)}select "${'""'.repeat(1_000_000)}"`;
  expect(splitStatements(long).map(({ line }) => line)).toEqual([1, 2]);
});

test('a file has the rows of COPY as pg_dump writes them', async () => {
  for (const [name, lineEnd] of Object.entries({ LF: '\n', 'CR LF': '\r\n' })) {
    const key = await provisioned();
    const text = [
      '\\restrict aBc',
      'create table a (id int, note text);',
      '-- the data',
      'COPY a (id, note) FROM stdin;',
      '1\tsemi;colon',
      `2\tit's -- "open" $$ ( /*`,
      '3\t\\N',
      '4\t\\\\. ä\\n',
      '\\.',
      '',
      '/* none */ copy a from STDIN with (format csv);',
      '\\.',
      'COPY a FROM STDIN WITH (FORMAT csv, HEADER); -- with a comment',
      'id,note',
      '5,"a, b"',
      '\\.',
      "copy (select 'from stdin') to stdout;",
      'copy a to stdout;',
      'select broken;',
      '\\unrestrict aBc',
    ].join(lineEnd);
    await expectFailure(
      own.migrate(key, { '001.sql': text }),
      500,
      'migrations/001.sql:19: column "broken" does not exist',
    );
    const good = { '001.sql': text.replace('select broken;', '') };
    expect(await own.migrate(key, good, true), name).toEqual(['001.sql']);
    expect(await own.migrate(key, good), name).toEqual(['001.sql']);
    expect(await own.run(key, 'select * from a order by id'), name).toEqual([
      { id: 1, note: 'semi;colon' },
      { id: 2, note: `it's -- "open" $$ ( /*` },
      { id: 3, note: null },
      { id: 4, note: '\\. ä\n' },
      { id: 5, note: 'a, b' },
    ]);
  }
});

test('rows of COPY that do not fit undo the file, and COPY in a statement of a handler is refused', async () => {
  const key = await provisioned();
  const created = { '001.sql': 'create table a (id int);' };
  await own.migrate(key, created);
  const rows = (text: string) => own.migrate(key, { ...created, '002.sql': `select 1;\ncopy a from stdin;\n${text}` });
  await expectFailure(rows('1\nx\n\\.\n'), 500, /^migrations\/002.sql:2: invalid input syntax for type integer: "x"/);
  await expectFailure(own.migrate(key, { ...created, '002.sql': '\\connect other\n' }), 500, /002.sql:1: syntax error/);
  expect(await own.run(key, 'select * from a')).toEqual([]);
  await expect(own.run(key, 'copy a from stdin')).rejects.toMatchObject({
    code: '57014',
    message: 'COPY from stdin failed: only migrations contain the rows of a COPY',
  });
  expect(await rows('1\n2')).toEqual(['002.sql']);
  expect(await own.run(key, 'select * from a')).toEqual([{ id: 1 }, { id: 2 }]);
});

test('a dry run shows what fails and changes nothing', async () => {
  const key = await provisioned();
  const files = {
    '001.sql': "create table a (id int primary key); set timezone = 'Asia/Tokyo'",
    '002.sql': 'insert into a values (1); create table b (id int references a deferrable initially deferred)',
  };
  expect(await own.migrate(key, files, true)).toEqual(['001.sql', '002.sql']);
  expect(await tables(key)).toEqual(['_migrations']);
  await expectFailure(
    own.migrate(key, { ...files, '003.sql': 'select 1;\ninsert into b values (7)' }, true),
    500,
    'migrations/003.sql:2: insert or update on table "b" violates foreign key constraint "b_id_fkey"',
  );
  expect(await names(key)).toEqual([]);
  expect(await own.migrate(key, files)).toEqual(['001.sql', '002.sql']);
  expect(await own.migrate(key, files, true)).toEqual([]);
});

test('no file depends on the settings of another', async () => {
  const key = await provisioned();
  await own.migrate(key, {
    '001.sql': `set search_path = pg_catalog; set timezone = 'Asia/Tokyo'; create temporary table t (a int); prepare p as select 1`,
    '002.sql': `create table a as select current_setting('timezone') as zone, (select count(*) from pg_prepared_statements) as prepared`,
  });
  expect(await own.run(key, 'select zone, prepared from a')).toEqual([{ zone: 'UTC', prepared: 0 }]);
});

test('a thousand files run in the given order', async () => {
  const key = await provisioned();
  const files = Object.fromEntries(
    Array.from({ length: 1000 }, (_, n) => [
      `${String(n).padStart(4, '0')}.sql`,
      n === 0 ? 'create table log (n serial, file int)' : `insert into log (file) values (${n})`,
    ]),
  );
  expect(await own.migrate(key, files)).toEqual(Object.keys(files));
  expect(await own.run(key, 'select count(*), max(abs(n - file)) as off from log')).toEqual([{ count: 999, off: 0 }]);
});

test('two concurrent runs run each file once', async () => {
  const key = await provisioned();
  const files = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`${100 + n}.sql`, `create table t${n} (a int); select pg_sleep(0.01)`]),
  );
  const ran = await Promise.all([own.migrate(key, files), own.migrate(key, files), own.migrate(key, files)]);
  expect(ran.flat().toSorted()).toEqual(Object.keys(files));
  expect(await names(key)).toEqual(Object.keys(files));
});

test('a file is undone when its process is killed in the middle', async () => {
  const key = await provisioned();
  const program = `
    import { openAppWorkspaces } from './src/adapters/app-workspace/app-workspaces.ts';
    import { createSecretBox } from './src/adapters/secrets/secret-box.ts';
    const [databaseUrl, secret, tenantId, appId] = process.argv.slice(1);
    const workspaces = openAppWorkspaces({
      databaseUrl, appsDatabaseUrl: undefined, system: undefined,
      secrets: createSecretBox(secret), installationId: 'tests',
      limitOf: async () => ({ quota: Infinity, others: 0, refusal: null }),
      memoryBytes: 0,
    });
    const files = ['create table a (id int)', 'create table b (id int); select pg_sleep(60); create table c (id int)'];
    await workspaces.migrate({ tenantId, appId }, files.map((sql, n) => (
      { filename: '00' + n + '.sql', checksum: '', read: async () => Buffer.from(sql) })),
      { dryRun: false, signal: new AbortController().signal });`;
  const { SECRET } = await import('./workspace-fixture.ts');
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', program, own.database.url, SECRET, key.tenantId, key.appId],
    { stdio: 'inherit' },
  );
  const sleeping = () =>
    own.sql(`select from pg_stat_activity where usename = $1 and query like '%pg_sleep%'`, [`${schemaOf(key)}_owner`]);
  while ((await sleeping()).length === 0) if (child.exitCode !== null) throw new Error('The process has ended');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await names(key)).toEqual(['000.sql']);
  // The server notices later that the client is gone. Until then, a new run waits for the file.
  await own.sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1`, [
    `${schemaOf(key)}_owner`,
  ]);
  expect(await own.migrate(key, { '000.sql': '', '001.sql': 'create table b (id int)' })).toEqual(['001.sql']);
  expect(await tables(key)).toEqual(['_migrations', 'a', 'b']);
});

test('a cancelled run ends in the server and undoes its file', async () => {
  const key = await provisioned();
  const stop = new AbortController();
  const { migrationFiles } = await import('./workspace-fixture.ts');
  const running = outcomeOf(
    own.workspaces.migrate(key, migrationFiles({ '001.sql': 'create table a (id int); select pg_sleep(60)' }), {
      dryRun: false,
      signal: stop.signal,
    }),
  );
  const sleeping = () =>
    own.sql(`select from pg_stat_activity where usename = $1 and query like '%pg_sleep%'`, [`${schemaOf(key)}_owner`]);
  while ((await sleeping()).length === 0);
  stop.abort(new Error('cancelled by the test'));
  expect(await running).toBe('cancelled by the test');
  await expect.poll(sleeping).toEqual([]);
  expect(await tables(key)).toEqual(['_migrations']);
});

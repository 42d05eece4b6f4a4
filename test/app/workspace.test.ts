import pg from 'pg';
import { expect, test } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { appsUrl, newApp, never, outcomeOf, schemaOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

test('a new workspace has a schema, two roles and an empty list of migrations', async () => {
  const key = newApp();
  const schema = schemaOf(key);
  expect(schema).toMatch(/^app_[0-9a-f]{20}$/);
  expect(await outcomeOf(own.run(key, 'select 1'))).toBe('3F000');
  await own.workspaces.provision(key);
  expect(
    await own.sql(
      `select rolname as name, rolcanlogin as login, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as more
      from pg_roles where rolname in ($1, $2) order by 1`,
      [schema, `${schema}_owner`],
    ),
  ).toEqual([
    { name: schema, login: true, more: false },
    { name: `${schema}_owner`, login: true, more: false },
  ]);
  expect(await own.workspaces.appliedMigrations(key)).toEqual([]);
  expect(await own.run(key, 'select current_user::text as role, current_schema()::text as schema')).toEqual([
    { role: schema, schema },
  ]);
});

test('two processes create the same workspace concurrently, and complete a part of one', async () => {
  const key = newApp();
  const processes = [own.workspaces, own.open(), own.open()];
  await Promise.all(processes.map((one) => one.provision(key)));
  const schema = schemaOf(key);
  await own.sql(`drop table ${schema}._migrations; drop owned by ${schema}_owner; drop role ${schema}_owner`);
  await Promise.all(processes.map((one) => one.provision(key)));
  await own.migrate(key, { '001.sql': 'create table a (b int)' });
  expect(await own.run(key, 'insert into a values (1) returning b')).toEqual([{ b: 1 }]);
});

test('values are JSON: exact numbers, ISO times, arrays, Base64', async () => {
  const key = await own.create();
  const [row] = await own.run(
    key,
    `select 1::int2 as small, 9007199254740991::int8 as safe, 9007199254740992::int8 as large, 1.50::numeric as decimal,
      0.1::float8 as float, 'NaN'::float8 as nan, true as yes, null::int as missing, '{"a": [1]}'::jsonb as json,
      timestamptz '2026-01-31 10:30:00.25+01' as at, timestamp '2026-01-31 10:30:00' as local, date '2026-01-31' as day,
      '\\x00ff'::bytea as bytes, array[1, null, 3] as numbers, array['a b', 'c"d', '{,}\\', 'NULL', null] as texts,
      array[[1, 2], [3, 4]]::int8[] as matrix, '{}'::text[] as empty, array[timestamptz '2026-01-31 10:30Z'] as times,
      'infinity'::timestamptz as forever, '00000000-0000-7000-8000-000000000001'::uuid as id`,
  );
  expect(row).toEqual({
    small: 1,
    safe: 9007199254740991,
    large: '9007199254740992',
    decimal: '1.50',
    float: 0.1,
    nan: 'NaN',
    yes: true,
    missing: null,
    json: { a: [1] },
    at: '2026-01-31T09:30:00.25Z',
    local: '2026-01-31T10:30:00',
    day: '2026-01-31',
    bytes: 'AP8=',
    numbers: [1, null, 3],
    texts: ['a b', 'c"d', '{,}\\', 'NULL', null],
    matrix: [
      [1, 2],
      [3, 4],
    ],
    empty: [],
    times: ['2026-01-31T10:30:00Z'],
    forever: 'infinity',
    id: '00000000-0000-7000-8000-000000000001',
  });
  expect(
    await own.run(key, 'select $1::int + 1 as sum, $2::text as text, $3::jsonb as json', [1, "'; --", { a: 1 }]),
  ).toEqual([{ sum: 2, text: "'; --", json: { a: 1 } }]);
});

test('a statement has at most 10,000 rows and 16 MiB, and only one statement runs', async () => {
  const key = await own.create();
  expect(await own.run(key, 'select n from generate_series(1, 10000) n')).toHaveLength(10_000);
  for (const sql of [
    'select n from generate_series(1, 10001) n',
    `select repeat('a', 1000000) from generate_series(1, 17)`,
    `select repeat('a', 40000000) as long`,
  ])
    expect(await outcomeOf(own.run(key, sql)), sql).toBe('54000');
  expect(await outcomeOf(own.run(key, 'select 1; select 2'))).toBe('42601');
  expect(await outcomeOf(own.run(key, 'select $1', Array(65_536).fill(1)))).toBe('54000');
  expect(await own.run(key, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a statement that is too slow ends in the server, also one that catches its cancellation', async () => {
  const key = await own.create();
  const stop = new AbortController();
  const stubborn = `do $$ begin
      loop begin perform pg_sleep(60); exception when query_canceled then null; end; end loop;
    end $$`;
  const running = own.workspaces.query(key, stubborn, [], stop.signal);
  const busy = () => own.sql(`select from pg_stat_activity where usename = $1 and state = 'active'`, [schemaOf(key)]);
  while ((await busy()).length === 0);
  stop.abort(new Error('stopped by the test'));
  await expect(running).rejects.toThrow('stopped by the test');
  await expect.poll(busy).toEqual([]);
  expect(await own.run(key, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a transaction is all or nothing, and cannot be ended from inside', async () => {
  const key = await own.create();
  const count = async () => (await own.run(key, 'select count(*) from note'))[0]!['count'];
  const insert = 'insert into note values ($1) returning id';
  expect(
    await own.workspaces.transaction(key, async (query) => [await query(insert, [1]), await query(insert, [2])], never),
  ).toEqual([[{ id: 1 }], [{ id: 2 }]]);
  await expect(
    own.workspaces.transaction(
      key,
      async (query) => {
        await query(insert, [3]);
        throw new Error('changed my mind');
      },
      never,
    ),
  ).rejects.toThrow('changed my mind');
  expect(await count()).toBe(2);
  for (const sql of ['commit', ' /* a */ ROLLBACK', '-- b\nend', 'begin', 'abort', "prepare transaction 'x'"])
    expect(
      await outcomeOf(
        own.workspaces.transaction(key, async (query) => [await query(insert, [4]), await query(sql)], never),
      ),
      sql,
    ).toBe('2D000');
  // An error that the work ignores undoes the transaction all the same.
  expect(
    await outcomeOf(
      own.workspaces.transaction(
        key,
        async (query) => {
          await query(insert, [5]);
          await query(insert, [1]).catch(() => {});
        },
        never,
      ),
    ),
  ).toBe('25P02');
  expect(
    await own.workspaces.transaction(
      key,
      async (query) => {
        await query(insert, [6]);
        await query('savepoint one');
        await query(insert, [7]);
        await query('rollback to savepoint one');
        return 'kept';
      },
      never,
    ),
  ).toBe('kept');
  expect(await own.run(key, 'select id from note order by id')).toEqual([{ id: 1 }, { id: 2 }, { id: 6 }]);
  expect(await outcomeOf(own.run(key, 'begin'))).toBe('25001');
  expect(await outcomeOf(own.run(key, insert, [1]))).toBe('23505');
});

test('a task finds nothing of the one before in its connection', async () => {
  const key = await own.create();
  const backend = async () => (await own.run(key, 'select pg_backend_pid() as pid'))[0]!['pid'];
  const first = await backend();
  for (const sql of [
    `set search_path = 'pg_catalog'`,
    `set timezone = 'Asia/Tokyo'`,
    'set default_transaction_read_only = on',
    `prepare p as select 1`,
    `select pg_advisory_lock(7)`,
    'listen a',
    'declare c cursor with hold for select 1',
  ])
    await own.run(key, sql);
  await own.workspaces
    .transaction(
      key,
      (query) => query(`set local statement_timeout = '1h'`).then(() => Promise.reject(new Error('x'))),
      never,
    )
    .catch(() => {});
  expect(await backend()).toBe(first);
  expect(
    await own.run(
      key,
      `select current_setting('search_path') as path, current_setting('timezone') as zone,
        current_setting('default_transaction_read_only') as readonly,
        (select count(*) from pg_prepared_statements) as prepared, (select count(*) from pg_cursors where name = 'c') as cursors,
        (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
        (select count(*) from pg_listening_channels()) as channels`,
    ),
  ).toEqual([{ path: schemaOf(key), zone: 'UTC', readonly: 'off', prepared: 0, cursors: 0, locks: 0, channels: 0 }]);
});

test('twenty connections serve more than twenty apps concurrently', async () => {
  const keys = await Promise.all(Array.from({ length: 25 }, () => own.create()));
  const results = await Promise.all(keys.flatMap((key) => [1, 2].map((n) => own.run(key, 'select $1::int as n', [n]))));
  expect(results).toEqual(keys.flatMap(() => [[{ n: 1 }], [{ n: 2 }]]));
  const roles = keys.map(schemaOf);
  const open = await own.sql('select from pg_stat_activity where usename = any($1)', [roles]);
  expect(open.length).toBeLessThanOrEqual(20);
});

test('the apps of one tenant leave connections to the others', async () => {
  const [one, two, three] = [await own.create(), await own.create(), await own.create()];
  const other = { ...newApp(), tenantId: newId() };
  await own.workspaces.provision(other);
  const locker = new pg.Client({ connectionString: appsUrl(own.database.url) });
  await locker.connect();
  await locker.query('select pg_advisory_lock(15)');
  const greedy = [one, two, three].flatMap((key) =>
    Array.from({ length: 8 }, () => outcomeOf(own.run(key, 'select pg_advisory_xact_lock_shared(15)'))),
  );
  const roles = [one, two, three].map(schemaOf);
  const waiting = async () =>
    (
      await own.sql(
        `select from pg_stat_activity where usename = any($1) and state = 'active' and wait_event = 'advisory'`,
        [roles],
      )
    ).length;
  let most = 0;
  while (most < 15) most = await waiting();
  let isServed = false;
  const served = own.run(other, 'select 1 as one').finally(() => {
    isServed = true;
  });
  do most = Math.max(most, await waiting());
  while (!isServed);
  expect(await served).toEqual([{ one: 1 }]);
  expect(most).toBe(15);
  await locker.end();
  await Promise.all(greedy);
});

test('a removed workspace leaves nothing, and one of an unknown app is swept', async () => {
  const [removed, orphan, used] = [await own.create(), await own.create(), await own.create()];
  const left = async (key: typeof removed) =>
    (
      await own.sql(
        `select rolname::text as name from pg_roles where rolname like $1
        union all select nspname from pg_namespace where nspname like $1`,
        [`${schemaOf(key)}%`],
      )
    ).length;
  const running = outcomeOf(own.run(removed, 'select pg_sleep(60)'));
  const sleeping = () =>
    own.sql(`select from pg_stat_activity where usename = $1 and query like '%pg_sleep(60)'`, [schemaOf(removed)]);
  while ((await sleeping()).length === 0);
  await own.workspaces.remove(removed);
  expect(await running).toBe('UNAVAILABLE');
  await own.workspaces.remove(removed);
  expect(await left(removed)).toBe(0);
  const swept = await own.workspaces.sweep(async (schemas) => schemas.filter((one) => one !== schemaOf(orphan)));
  expect(swept).toEqual([schemaOf(orphan)]);
  expect(await left(orphan)).toBe(0);
  expect(await left(used)).toBe(3);
  expect(await outcomeOf(own.run(orphan, 'select 1'))).toBe('3F000');
});

async function partsOf(rows: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for await (const part of rows) parts.push(part);
  return parts;
}

test('a dump that waits for a lock of the app ends with its signal, in the server too', async () => {
  const key = await own.create();
  await own.run(key, `insert into note values (1, 'a')`);
  const stop = new AbortController();
  const { state, rowsOf, close } = await own.workspaces.dump(key, stop.signal);
  expect(state.tables).toEqual([{ name: 'note', columns: ['id', 'text'] }]);
  const locker = new pg.Client({ connectionString: appsUrl(own.database.url) });
  await locker.connect();
  await locker.query(`begin; lock table ${schemaOf(key)}.note`);
  const running = partsOf(rowsOf(state.tables[0]!));
  const waiting = () =>
    own.sql(`select from pg_stat_activity where usename = $1 and wait_event_type = 'Lock'`, [`${schemaOf(key)}_owner`]);
  while ((await waiting()).length === 0);
  stop.abort(new Error('stopped by the test'));
  await expect(running).rejects.toThrow('stopped by the test');
  await expect.poll(waiting).toEqual([]);
  await close();
  await locker.end();
});

test('a dump reads rows in parts, and no faster than its reader', async () => {
  const key = await own.create();
  await own.run(key, `insert into note select n, repeat('x', 100000) || n from generate_series(1, 200) n`);
  const { state, rowsOf, close } = await own.workspaces.dump(key, never);
  const parts = await partsOf(rowsOf(state.tables[0]!));
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.every(({ length }) => length < 4_200_000)).toBe(true);
  const lines = Buffer.concat(parts).toString().split('\n');
  expect(lines.slice(0, 200)).toEqual(
    Array.from({ length: 200 }, (_, i) => `${i + 1}\t${'x'.repeat(100_000)}${i + 1}`),
  );
  expect(lines.slice(200)).toEqual(['']);
  // A reader that stops in the middle.
  for await (const part of rowsOf(state.tables[0]!)) {
    expect(part.length).toBeGreaterThan(0);
    break;
  }
  await close();
});

test('another key of the service sets the passwords anew', async () => {
  const key = await own.create();
  const rotated = own.open('another secret of the tests of workspaces');
  expect(await rotated.query(key, 'select 1 as one', [], never)).toEqual([{ one: 1 }]);
  await own.workspaces.remove(newApp());
});

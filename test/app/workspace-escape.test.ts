import pg from 'pg';
import { expect, test } from 'vitest';
import { appsUrl, newApp, never, outcomeOf, schemaOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

const REFUSED = /^(42501|42704|42883|42P01|3F000|0A000|22023|55P02|58P01|0LP01|28000|25P01|25006|42809|42601)$/;

/** Runs statements. Each of them must be refused. */
async function expectRefused(key: Parameters<typeof own.run>[0], statements: readonly string[]): Promise<void> {
  const outcomes: [string, unknown][] = [];
  for (const sql of statements) outcomes.push([sql, await outcomeOf(own.run(key, sql))]);
  expect(outcomes.filter(([, outcome]) => typeof outcome !== 'string' || !REFUSED.test(outcome))).toEqual([]);
}

/** Returns statements that the role of an app must not run if there is another app. */
const forbidden = (schema: string, other: string, login: string): string[] => [
  // Roles and sessions.
  `set role ${login}`,
  `set session authorization ${login}`,
  `set role ${other}`,
  `set role ${schema}_owner`,
  `do $$ begin execute 'set role ${schema}_owner'; end $$`,
  `select set_config('role', '${login}', false)`,
  `select set_config('session_authorization', '${login}', false)`,
  'create role intruder',
  `alter role ${schema} superuser`,
  `alter role ${schema} createrole`,
  `alter role ${schema} bypassrls`,
  `alter role ${schema} connection limit 1`,
  `alter role ${schema} valid until '2000-01-01'`,
  `alter role ${schema} rename to intruder`,
  `alter role ${schema}_owner password 'known'`,
  `alter role ${login} password 'known'`,
  `grant ${schema}_owner to ${schema}`,
  `grant ${login} to ${schema}`,
  `grant pg_read_all_data to ${schema}`,
  `grant pg_read_server_files to ${schema}`,
  `drop role ${schema}_owner`,
  `reassign owned by ${schema}_owner to ${schema}`,
  `drop owned by ${schema}_owner`,
  `drop owned by ${other}`,
  // Other schemas and databases.
  `select * from ${other}.note`,
  `insert into ${other}.note values (9, 'x')`,
  `table ${other}._migrations`,
  `create table ${other}.mine (a int)`,
  `drop schema ${other} cascade`,
  'create table public.mine (a int)',
  'create schema mine',
  'create temporary table mine (a int)',
  'create database mine',
  'drop database postgres',
  `alter database ${new URL(own.database.url).pathname.slice(1)}_apps set search_path = mine`,
  `alter database ${new URL(own.database.url).pathname.slice(1)}_apps rename to mine`,
  `create extension dblink`,
  `create extension postgres_fdw`,
  `create extension pgcrypto`,
  `select dblink_connect('dbname=dws')`,
  'create foreign data wrapper mine',
  'create server mine foreign data wrapper mine',
  `create subscription mine connection 'dbname=dws' publication p`,
  'create publication mine for all tables',
  'create event trigger mine on ddl_command_start execute function now()',
  "create tablespace mine location '/tmp'",
  // Own schema: rows only.
  `drop schema ${schema} cascade`,
  `alter schema ${schema} rename to mine`,
  `alter schema ${schema} owner to ${schema}`,
  'create table mine (a int)',
  'create view mine as select 1',
  'create function mine() returns int language sql as $$ select 1 $$',
  'drop table note',
  'alter table note add column c int',
  'truncate note',
  'alter table note disable trigger all',
  `insert into _migrations values ('002.sql', 'x')`,
  `update _migrations set checksum = 'x'`,
  'delete from _migrations',
  'drop table _migrations',
  'alter table _migrations rename to other',
  'lock table _migrations in exclusive mode',
  `select 1 from _migrations for update`,
  // Files, programs, the server.
  `copy note to '/tmp/out'`,
  `copy note from '/etc/passwd'`,
  `copy note to program 'id'`,
  `copy note from program 'id'`,
  `select pg_read_file('/etc/passwd')`,
  `select pg_read_binary_file('postgresql.conf')`,
  `select pg_ls_dir('.')`,
  `select pg_stat_file('postgresql.conf')`,
  `select pg_ls_logdir()`,
  `select pg_ls_waldir()`,
  `select lo_import('/etc/passwd')`,
  `select lo_export(1, '/tmp/out')`,
  'select lo_create(0)',
  `select lo_from_bytea(0, 'x')`,
  `select pg_logical_emit_message(false, 'a', 'x')`,
  `select pg_logical_emit_message(true, 'a', 'x'::bytea)`,
  `create function mine() returns int language c as '/tmp/x.so', 'f'`,
  `load '/tmp/x.so'`,
  'alter system set work_mem = 1',
  'select pg_reload_conf()',
  'select pg_rotate_logfile()',
  'select pg_switch_wal()',
  'select pg_promote()',
  `select pg_create_restore_point('x')`,
  `select pg_create_physical_replication_slot('x')`,
  `select pg_create_logical_replication_slot('x', 'pgoutput')`,
  'checkpoint',
  'set session_replication_role = replica',
  `set log_statement = 'none'`,
  'set temp_file_limit = -1',
  `set session_preload_libraries = 'x'`,
  'select pg_stat_reset()',
  'select rolpassword from pg_authid',
  'select * from pg_shadow',
  'select * from pg_hba_file_rules',
  'select * from pg_file_settings',
  'select * from pg_subscription',
  'select * from pg_largeobject',
  'select * from pg_statistic',
  'select * from pg_user_mapping',
  `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${login}'`,
  `select pg_cancel_backend(pid) from pg_stat_activity where usename = '${login}'`,
  'select pg_log_backend_memory_contexts(pg_backend_pid())',
  `comment on role ${schema} is 'mine'`,
  `comment on database ${new URL(own.database.url).pathname.slice(1)}_apps is 'mine'`,
  `security label on role ${schema} is 'x'`,
];

test('the role of rows is refused all that is not a row of its app', async () => {
  const [key, other] = [await own.create(), await own.create()];
  // A session of the login of the service, to be signalled.
  const login = new pg.Client({ connectionString: appsUrl(own.database.url) });
  await login.connect();
  await expectRefused(key, forbidden(schemaOf(key), schemaOf(other), login.user!));
  await login.query('select 1');
  await login.end();
  expect(await own.run(key, `insert into note values (1, 'mine') returning id`)).toEqual([{ id: 1 }]);
  expect(await own.run(other, 'select * from note')).toEqual([]);
  expect(await own.run(key, 'select filename from _migrations')).toEqual([{ filename: '001.sql' }]);
});

test('a migration is refused all outside its schema', async () => {
  const [key, other] = [await own.create(), await own.create()];
  const schema = schemaOf(key);
  const login = new URL(own.database.url).username;
  // Statements that concern only its own tables and its own role are not refused.
  const isOwn = (sql: string) =>
    (/ mine( |$|\()|note|truncate|temporary|owner to|_owner password|_migrations (values|for)/.test(sql) &&
      !/extension|server|wrapper|subscription|tablespace|publication|event|program|\.note|'\//.test(sql)) ||
    sql.includes(`set role ${schema}_owner`) ||
    sql === `drop owned by ${schema}_owner`;
  const statements = forbidden(schema, schemaOf(other), login).filter((sql) => !isOwn(sql));
  expect(statements.length).toBeGreaterThan(80);
  const outcomes: [string, string][] = [];
  for (const sql of statements) {
    const outcome = String(await outcomeOf(own.migrate(key, { [`${outcomes.length + 2}.sql`]: sql })));
    if (outcome !== 'UPSTREAM_FAILED') outcomes.push([sql, outcome]);
  }
  expect(outcomes).toEqual([]);
  expect(await own.run(other, 'select * from note')).toEqual([]);
  // Its own list of migrations: the rows of files that have run stay as they are.
  for (const sql of ['delete from _migrations', `update _migrations set filename = 'x'`, 'truncate _migrations'])
    expect(await outcomeOf(own.migrate(key, { '002.sql': sql })), sql).toBe('UPSTREAM_FAILED');
  expect((await own.workspaces.appliedMigrations(key)).map(({ filename }) => filename)).toEqual(['001.sql']);
});

test('what an app breaks of its own login is repaired', async () => {
  const key = await own.create();
  const role = schemaOf(key);
  const fresh = () => own.open().query(key, 'select 1 as one', [], never);
  await own.run(key, `alter role ${role} password 'of my own'`);
  expect(await fresh()).toEqual([{ one: 1 }]);
  await own.run(key, `alter role ${role} password null`);
  expect(await fresh()).toEqual([{ one: 1 }]);
  for (const setting of [
    `search_path = 'pg_catalog'`,
    'default_transaction_read_only = on',
    `statement_timeout = '1ms'`,
    `timezone = 'Asia/Tokyo'`,
    `datestyle = 'German'`,
  ])
    await own.run(key, `alter role ${role} set ${setting}`);
  expect(
    await own
      .open()
      .query(key, `insert into note values (5, 'x') returning timestamptz '2026-01-31 10:00Z' as at`, [], never),
  ).toEqual([{ at: '2026-01-31T10:00:00Z' }]);
  expect(await own.open().query(key, 'select count(*) as count from note', [], never)).toEqual([{ count: 1 }]);
  // It loses its own rights, and those to connect; the next migration returns those on the schema.
  await own.run(key, `drop owned by ${role}`);
  expect(await fresh()).toEqual([{ one: 1 }]);
  await own.workspaces.provision(key);
  await own.migrate(key, { '001.sql': '', '002.sql': `grant select on note to ${role}` });
  expect(await own.open().query(key, 'select id from note', [], never)).toEqual([{ id: 5 }]);
});

test('notifications and advisory locks do not reach the service', async () => {
  const key = await own.create();
  const listener = new pg.Client({ connectionString: own.database.url });
  await listener.connect();
  const received: string[] = [];
  listener.on('notification', ({ payload }) => received.push(payload ?? ''));
  await listener.query('listen dws_operation');
  await own.run(key, `select pg_notify('dws_operation', 'from an app')`);
  await own.run(key, `notify dws_operation, 'from an app'`);
  await own.workspaces.transaction(
    key,
    async (query) => {
      await query('select pg_advisory_lock(4711004), pg_advisory_xact_lock(4711001)');
      // These take locks of the service.
      await own.workspaces.provision(newApp());
      const [lock] = (await listener.query('select pg_try_advisory_lock(4711001) as free')).rows;
      expect(lock).toEqual({ free: true });
    },
    never,
  );
  await listener.query(`select pg_notify('dws_operation', 'last')`);
  while (!received.includes('last')) await listener.query('select 1');
  expect(received).toEqual(['last']);
  await listener.end();
});

test('the activity of other roles is hidden', async () => {
  const [key, other] = [await own.create(), await own.create()];
  await own.run(other, `select 'secret of another app'`);
  expect(
    await own.run(key, `select query from pg_stat_activity where usename = $1 and query like '%secret%'`, [
      schemaOf(other),
    ]),
  ).toEqual([]);
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup } from '../../src/server/backup/restore.ts';
import { Client } from '../support/client.ts';
import { dws, variablesOf } from '../support/command.ts';
import { expectBody } from '../support/expect.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';
import { startService } from '../support/service.ts';
import { createApp, getFile, putFile } from './app-fixture.ts';
import { appsUrl, never, outcomeOf, schemaOf } from './workspace-fixture.ts';

const APP_SECRET = 'a secret of an installation that is backed up';

const ORDERS = `create table customer (id serial primary key, name text);
  create type mood as enum ('sad', 'happy');
  create table orders (id bigint generated always as identity primary key,
    customer_id int not null references customer, total numeric, mood mood, data jsonb, bytes bytea, at timestamptz,
    tags text[], doubled numeric generated always as (total * 2) stored);
  create table changes (n int);
  create function note_change() returns trigger language plpgsql as $$
    begin insert into changes values (1); return null; end $$;
  create trigger note after insert on orders for each statement execute function note_change();
  create table part (n int) partition by range (n);
  create table part_low partition of part for values from (0) to (10);
  create table part_high partition of part for values from (10) to (20);
  create materialized view totals as select sum(total) as sum from orders;
  insert into customer (name) values ('from the migration');`;

const ROWS = `select o.*, c.name, (select count(*) from changes) as changes, (select count(*) from part_high) as high
  from orders o join customer c on c.id = o.customer_id order by o.id`;

test('a backup contains the workspaces of apps, and a restore creates them anywhere', async () => {
  const source = await startService({ APP_SECRET });
  const admin = await source.user('admin', { superuser: true });
  const id = await createApp(admin, 'Backed up', { 'migrations/1.sql': ORDERS, 'server/a.js': 'export const get = 1' });
  await createApp(admin, 'Without a workspace', { 'migrations/1.sql': 'select 1' });
  await admin.post(`/apps/${id}/_migrate`);
  const [{ tenant }] = (await runSql(source.databaseUrl, 'select tenant_id as tenant from dws.app where id = $1', [
    id,
  ])) as [{ tenant: string }];
  const key = { tenantId: tenant, appId: id };
  const { workspaces } = source.platform;
  for (const sql of [
    `update customer set name = 'changed later'`,
    `insert into customer (name) values ('with "quotes", \\ and ü' || chr(10) || 'lines')`,
    `insert into orders (customer_id, total, mood, data, bytes, at, tags)
      select c.id, 12345678901234567890.1234567890, 'happy', '{"a": [1, null]}', '\\x00ff', '2026-01-31 10:00:00.123456Z',
        array['a', null, 'b,c'] from customer c`,
    'insert into part select generate_series(1, 15)',
  ])
    await workspaces.query(key, sql, [], never);
  const before = await workspaces.query(key, ROWS, [], never);
  expect(before).toHaveLength(2);
  const migrations = (await admin.get(`/apps/${id}/migrations`)).body._embedded;

  const [target, folder, away] = [await createDatabase('template0'), newFolder(), newFolder()];
  const archive = join(away.path, 'apps.backup');
  await writeBackup(source.databaseUrl, source.platform.config, archive);
  // Roles belong to the whole server: roles of a running installation stay as they are.
  const beside = readConfig({ DATA_DIR: folder.path, APP_SECRET });
  await expect(restoreBackup(target.url, beside, await openBackup(archive))).rejects.toThrow(
    /set APPS_DATABASE_URL to another server$/,
  );
  expect(await workspaces.query(key, ROWS, [], never)).toEqual(before);
  await source.close();
  const config = readConfig({ DATA_DIR: folder.path, APP_SECRET });
  // A restore that ends in the middle leaves no schema.
  const stopped = await openBackup(archive);
  const entries = (async function* () {
    for await (const entry of stopped.entries) {
      yield entry;
      if (entry.name.endsWith('state.json')) throw new Error('ended by the test');
    }
  })();
  await expect(restoreBackup(target.url, config, { ...stopped, entries })).rejects.toThrow('ended by the test');
  expect(await runSql(appsUrl(target.url), `select from pg_namespace where nspname like 'app_%'`)).toEqual([]);
  await restoreBackup(target.url, config, await openBackup(archive));

  const restored = await startService({ APP_SECRET, DATA_DIR: folder.path }, { databaseUrl: target.url });
  const moved = new Client(restored.url, admin.headers, admin);
  expect(await restored.platform.workspaces.query(key, ROWS, [], never)).toEqual(before);
  expect(await restored.platform.workspaces.query(key, 'select sum from totals', [], never)).toEqual([
    { sum: '24691357802469135780.2469135780' },
  ]);
  expect((await moved.get(`/apps/${id}/migrations`)).body._embedded).toEqual(migrations);
  expect(await (await getFile(moved, id, 'server/a.js')).text()).toBe('export const get = 1');
  // Identities, constraints and triggers work on, as do later migrations and the datasource.
  const insert = 'insert into orders (customer_id, total) values ($1, 1) returning id';
  expect(await restored.platform.workspaces.query(key, insert, [1], never)).toEqual([{ id: 3 }]);
  await expect(restored.platform.workspaces.query(key, insert, [99], never)).rejects.toMatchObject({ code: '23503' });
  expect(await restored.platform.workspaces.query(key, 'select count(*) from changes', [], never)).toEqual([
    { count: 2 },
  ]);
  await putFile(moved, id, 'migrations/2.sql', 'drop materialized view totals');
  await expectBody(moved.post(`/apps/${id}/_migrate`), 200, { migrated: ['2.sql'], total: 2 });
  const [datasource] = (await moved.get('/datasources')).body._embedded['svc:datasource'];
  await expectBody(
    moved.post(`/datasources/${datasource.id}/_query`, { query: 'select count(*) as n from orders' }),
    200,
    {
      rows: [{ n: 3 }],
    },
  );
  await restored.close();
  for (const { remove } of [folder, away]) remove();
  await target.drop();
});

/** Tables that the owner must not read, and types whose conversions to text and JSON never end. */
const HOSTILE = `create type mood as enum ('sad', 'happy');
  create function never_json(mood) returns json language plpgsql as $$ begin perform pg_sleep(3600); return null; end $$;
  create function never_text(mood) returns text language plpgsql as $$ begin perform pg_sleep(3600); return null; end $$;
  create cast (mood as json) with function never_json(mood);
  create cast (mood as text) with function never_text(mood);
  create function never() returns int language plpgsql immutable as $$ begin perform pg_sleep(3600); return 1; end $$;
  create domain small as int check (value < 10);
  create table hidden (id int primary key, mood mood, size small, pair point);
  create view seen as select never() as n;
  create policy none on hidden using (never() = 2);
  insert into hidden values (1, 'sad', 2, '(1,2)'), (2, 'happy', null, null);
  create sequence ticket start 7;
  alter table hidden enable row level security;
  alter table hidden force row level security;`;

test('no app stops the backup or the restore of the others', async () => {
  const source = await startService({ APP_SECRET });
  const admin = await source.user('admin', { superuser: true });
  const appsDatabase = new URL(appsUrl(source.databaseUrl)).pathname.slice(1);
  const apps: Record<string, string> = {};
  for (const [name, sql] of Object.entries({
    hostile: HOSTILE,
    unreadable: `create table note (id int); insert into note values (1); revoke all on note from current_user`,
    particular: `create table note (id int);
      do $$ begin if current_database() <> '${appsDatabase}' then raise 'not here'; end if; end $$`,
    plain: `create table note (id int, text text); insert into note values (1, 'kept')`,
  })) {
    apps[name] = await createApp(admin, name, { 'migrations/1.sql': sql });
    await expectBody(admin.post(`/apps/${apps[name]}/_migrate`), 200, { migrated: ['1.sql'], total: 1 });
  }
  const away = newFolder();
  const archive = join(away.path, 'apps.backup');
  const written = await dws(variablesOf(source), 'backup', archive);
  expect(written.code).toBe(1);
  expect(written.err).toEqual([
    `The tables of app ${apps['unreadable']} are not in the backup: The table "note": permission denied for table note`,
  ]);
  // The policy is as it was.
  const tenant = (await runSql(source.databaseUrl, 'select tenant_id as id from dws.app limit 1'))[0]!['id'] as string;
  const keyOf = (name: string) => ({ tenantId: tenant, appId: apps[name]! });
  const forced = `select relforcerowsecurity as forced from pg_class where oid = 'hidden'::regclass`;
  expect(await source.platform.workspaces.query(keyOf('hostile'), forced, [], never)).toEqual([{ forced: true }]);
  await source.close();

  const [target, folder] = [await createDatabase('template0'), newFolder()];
  const variables = { ...variablesOf(source), DATABASE_URL: target.url, DATA_DIR: folder.path };
  const restored = await dws(variables, 'restore', archive);
  expect(restored.code).toBe(1);
  expect(restored.err.toSorted()).toEqual(
    [
      `The tables of app ${apps['unreadable']} were not restored: permission denied for table note`,
      `The tables of app ${apps['particular']} were not restored: migrations/1.sql:2: not here`,
    ].toSorted(),
  );
  const moved = await startService({ APP_SECRET, DATA_DIR: folder.path }, { databaseUrl: target.url });
  const { workspaces } = moved.platform;
  expect(
    await runSql(appsUrl(target.url), `select id, mood, size, pair from ${schemaOf(keyOf('hostile'))}.hidden`),
  ).toEqual([
    { id: 1, mood: 'sad', size: 2, pair: { x: 1, y: 2 } },
    { id: 2, mood: 'happy', size: null, pair: null },
  ]);
  expect(await workspaces.query(keyOf('hostile'), forced, [], never)).toEqual([{ forced: true }]);
  expect(await workspaces.query(keyOf('hostile'), `select nextval('ticket') as n`, [], never)).toEqual([{ n: 7 }]);
  expect(await workspaces.query(keyOf('plain'), 'select * from note', [], never)).toEqual([{ id: 1, text: 'kept' }]);
  for (const name of ['unreadable', 'particular']) {
    expect(await outcomeOf(workspaces.query(keyOf(name), 'select 1', [], never))).toBe('3F000');
    expect(
      await runSql(appsUrl(target.url), 'select from pg_namespace where nspname = $1', [schemaOf(keyOf(name))]),
    ).toEqual([]);
  }
  await moved.close();
  for (const { remove } of [folder, away]) remove();
  await target.drop();
});

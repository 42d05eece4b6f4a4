import pg from 'pg';
import { expect, test } from 'vitest';
import { appsUrl, newApp, schemaOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

const SECRETS = `create table note (id integer primary key default (length('secret')), kind text check (kind <> 'secret'),
    part int generated always as (length('secret')) stored);
  create function f(a text default 'secret') returns text language sql as $$ select 'secret' $$;
  create function g() returns text language sql set application_name = 'secret' begin atomic select 'secret'; end;
  create view v as select 'secret'::text as s;
  create materialized view m as select 'secret'::text as s;
  create index on note ((kind || 'secret')) where kind <> 'secret';
  create statistics st on (kind || 'secret'), id from note;
  create function t() returns trigger language plpgsql as $$ begin return null; end $$;
  create trigger t after insert on note for each row when (new.kind = 'secret') execute function t('secret');
  create rule r as on update to note where old.kind = 'secret' do also select 1;
  create policy p on note using (kind = 'secret') with check (kind = 'secret');
  create domain d as text default 'secret' check (value <> 'secret');
  create type e as enum ('secret');
  create table ranged (kind text) partition by list ((kind || 'secret'));
  create table ranged_1 partition of ranged for values in ('secret');
  alter table note add column later text default 'secret';
  comment on table note is 'secret'; comment on column note.id is 'secret'; comment on function t is 'secret'`;

/** Queries for the definitions of the schema `$1`, each with a column for each relation of the catalog with texts. */
const DEFINITIONS = [
  'select pg_get_functiondef(oid) from pg_proc where pronamespace = $1::regnamespace',
  'select pg_get_function_arguments(oid) from pg_proc where pronamespace = $1::regnamespace',
  'select pg_get_function_arg_default(oid, 1) from pg_proc where pronamespace = $1::regnamespace',
  'select pg_get_function_sqlbody(oid) from pg_proc where pronamespace = $1::regnamespace',
  'select pg_get_viewdef(oid) from pg_class where relnamespace = $1::regnamespace',
  'select pg_get_viewdef(oid, true) from pg_class where relnamespace = $1::regnamespace',
  'select pg_get_partkeydef(oid) from pg_class where relnamespace = $1::regnamespace',
  'select pg_get_partition_constraintdef(oid) from pg_class where relnamespace = $1::regnamespace',
  'select pg_get_indexdef(oid) from pg_class where relnamespace = $1::regnamespace',
  'select pg_get_indexdef(indexrelid, 1, true) from pg_index',
  'select pg_get_constraintdef(oid) from pg_constraint where connamespace = $1::regnamespace',
  'select pg_get_triggerdef(oid) from pg_trigger',
  'select pg_get_ruledef(oid) from pg_rewrite',
  'select pg_get_statisticsobjdef(oid) from pg_statistic_ext',
  'select pg_get_statisticsobjdef_expressions(oid) from pg_statistic_ext',
  'select pg_get_expr(adbin, adrelid) from pg_attrdef',
  'select pg_get_expr(conbin, conrelid) from pg_constraint',
  'select pg_get_expr(relpartbound, oid) from pg_class',
  `select obj_description(oid, 'pg_class') from pg_class where relnamespace = $1::regnamespace`,
  `select col_description(oid, 1) from pg_class where relnamespace = $1::regnamespace`,
  `select obj_description(oid, 'pg_proc') from pg_proc where pronamespace = $1::regnamespace`,
];

test('no app reads definitions of another: bodies, defaults, texts of views, conditions, comments', async () => {
  const [key, other] = [await own.create(), await own.create(SECRETS)];
  const owner = new pg.Client({ connectionString: appsUrl(own.database.url) });
  await owner.connect();
  await owner.query(`alter role ${schemaOf(other)} set application_name = 'secret'`);
  const relations = (
    await owner.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
      where relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and relkind in ('r', 'v')
        and relname not in ('pg_settings', 'pg_stat_activity')`,
    )
  ).rows;
  const found: string[] = [];
  for (const role of [schemaOf(key), `${schemaOf(key)}_owner`]) {
    await owner.query(`set session authorization ${role}`);
    const read = async (sql: string, params: unknown[] = []) => {
      const rows = await owner
        .query(`select from (${sql}) q (value) where value::text like '%secret%' limit 1`, params)
        .then(
          (result) => result.rows,
          () => [],
        );
      if (rows.length > 0) found.push(`${role}: ${sql}`);
    };
    for (const sql of DEFINITIONS) await read(sql, sql.includes('$1') ? [schemaOf(other)] : []);
    // Every column on its own: a refused column hides none of the others. Both roles have only rights that all roles have.
    for (const { name } of role === schemaOf(key) ? relations : []) {
      const { rows } = await owner.query<{ column: string }>(
        `select quote_ident(attname) as column from pg_attribute where attrelid = $1::regclass and attnum > 0`,
        [name],
      );
      for (const { column } of rows) await read(`select ${column}::text from ${name}`);
    }
    await owner.query('reset session authorization');
  }
  await owner.end();
  expect(found).toEqual([]);
});

test('a role sees the names and columns of its own app in the catalog', async () => {
  const key = await own.create(`create table note (id serial primary key, text text default 'a', unique (text));
    create function f() returns int language sql return 1`);
  expect(
    await own.run(
      key,
      `select column_name as name, column_default as value from information_schema.columns
      where table_schema = current_schema() and table_name = 'note' order by 1`,
    ),
  ).toEqual([
    { name: 'id', value: `nextval('note_id_seq'::regclass)` },
    { name: 'text', value: `'a'::text` },
  ]);
  // Conditions with which migrations are repeated.
  await own.migrate(key, {
    '001.sql': '',
    '002.sql': `do $$ begin
      if exists (select from pg_constraint where conname = 'note_text_key')
        and exists (select 1 from pg_proc where proname = 'f' and pronamespace = current_schema()::regnamespace)
        and exists (select 1 from pg_indexes where indexname = 'note_pkey')
        and to_regclass('note') is not null and pg_get_serial_sequence('note', 'id') is not null
        and not exists (select 1 from pg_type where typname = 'mood' and typnamespace = current_schema()::regnamespace)
      then create table repeated (like note including all); end if;
    end $$`,
  });
  expect(await own.run(key, 'select count(*) as n from repeated')).toEqual([{ n: 0 }]);
});

test('two installations provision concurrently, each with its own lock', async () => {
  // Statements that change the same privileges in one database.
  const { changePrivileges, hideDefinitions, openParts } =
    await import('../../src/adapters/app-workspace/catalog-privileges.ts');
  await own.workspaces.provision(newApp());
  const clients = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const client = new pg.Client({ connectionString: appsUrl(own.database.url) });
      await client.connect();
      return client;
    }),
  );
  const queries = clients.map(
    (client) => async (text: string, values?: unknown[]) => (await client.query(text, values)).rows,
  );
  await queries[0]!('grant select on pg_catalog.pg_attrdef, pg_catalog.pg_proc to public');
  await queries[0]!('grant execute on function pg_catalog.pg_get_functiondef(oid) to public');
  expect(await openParts(queries[0]!)).toEqual([
    'pg_catalog.pg_attrdef',
    'pg_catalog.pg_proc',
    'pg_get_functiondef(oid)',
  ]);
  await Promise.all(queries.map((query) => changePrivileges(query, () => hideDefinitions(query))));
  expect(await openParts(queries[0]!)).toEqual([]);
  for (const client of clients) await client.end();
});

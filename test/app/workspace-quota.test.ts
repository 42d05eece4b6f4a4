import pg from 'pg';
import { expect, test } from 'vitest';
import type { AppWorkspaces, WorkspaceKey } from '../../src/core/app-workspace.ts';
import { appsUrl, migrationFiles, never, outcomeOf, schemaOf, SECRET, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

const QUOTA_BYTES = 2_000_000;
const FILL = `insert into note select n, repeat('x', 1000) from generate_series(1, 4000) n`;
const FULL = `The app has more than ${QUOTA_BYTES} bytes of data: it only reads until a migration has deleted some`;

/** Opens the workspaces of a process that is new: it knows no size. */
const openLimited = () => own.open(SECRET, QUOTA_BYTES);

const migrate = (workspaces: AppWorkspaces, key: WorkspaceKey, files: Record<string, string>, dryRun = false) =>
  workspaces.migrate(key, migrationFiles({ '001.sql': '', ...files }), { dryRun, signal: never });

/** Returns an app with more data than its quota. */
async function createFull() {
  const key = await own.create('create table note (id int, text text); create sequence s');
  await own.run(key, FILL);
  return key;
}

test('the size of an app is the size of its tables with their indexes and long values', async () => {
  const key = await own.create('create table note (id int primary key, text text)');
  const sizeOf = () => own.workspaces.sizeOf(key, never);
  const empty = await sizeOf();
  // Text that cannot be compressed is stored outside of the row.
  await own.run(
    key,
    `insert into note select n, (select string_agg(md5(n::text || m::text), '') from generate_series(1, 1000) m)
      from generate_series(1, 100) n`,
  );
  const filled = await sizeOf();
  expect(filled - empty).toBeGreaterThan(3_200_000);
  const [{ bytes }] = (await own.sql(
    `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
      where relnamespace = $1::regnamespace and relkind = 'r'`,
    [schemaOf(key)],
  )) as [{ bytes: number }];
  expect(filled).toBe(bytes);
});

test('past its quota an app only reads, whatever it tries', async () => {
  const key = await createFull();
  const limited = openLimited();
  const query = (sql: string) => limited.query(key, sql, [], never);
  await expect(query(`insert into note values (0, 'a')`)).rejects.toMatchObject({ code: '53100', message: FULL });
  for (const sql of [`update note set text = ''`, 'delete from note', `select nextval('s')`])
    expect(await outcomeOf(query(sql)), sql).toBe('53100');
  expect(await query('select count(*) as n from note')).toEqual([{ n: 4000 }]);
  for (const sql of ['begin', 'commit', 'begin read write', 'rollback'])
    expect(await outcomeOf(query(sql)), sql).toBe('25001');
  for (const sql of [
    'set transaction read write',
    'set transaction_read_only = off',
    `select set_config('transaction_read_only', 'off', false)`,
    `do $$ begin perform set_config('transaction_read_only', 'off', true); insert into note values (0, 'a'); end $$`,
  ])
    expect(await outcomeOf(query(sql)), sql).toBe('25001');
  await query('set default_transaction_read_only = off');
  await query(`alter role ${schemaOf(key)} set default_transaction_read_only = off`).catch(() => {});
  expect(await outcomeOf(query(`insert into note values (0, 'a')`))).toBe('53100');
  expect(await query('select count(*) as n from note')).toEqual([{ n: 4000 }]);
});

test('a transaction past the quota only reads, also after a return to a savepoint', async () => {
  const key = await createFull();
  const limited = openLimited();
  await limited.transaction(
    key,
    async (query) => {
      const insert = () => outcomeOf(query(`insert into note values (0, 'a')`));
      expect(await query('select count(*) as n from note')).toEqual([{ n: 4000 }]);
      await query('savepoint a');
      expect(await insert()).toBe('53100');
      await query('rollback to savepoint a');
      // These are sent together.
      const sent = [query('savepoint b'), query('rollback to savepoint b'), insert()];
      expect((await Promise.all(sent)).at(-1)).toBe('53100');
      await query('rollback to savepoint a');
      for (const sql of ['set transaction read write', 'set transaction_read_only = off']) {
        expect(await outcomeOf(query(sql)), sql).toBe('25001');
        await query('rollback to savepoint a');
      }
      expect(await insert()).toBe('53100');
      await query('rollback to savepoint a');
    },
    never,
  );
  expect(await limited.query(key, 'select count(*) as n from note', [], never)).toEqual([{ n: 4000 }]);
});

test('a transaction that grows past the quota only reads from then on', async () => {
  const key = await own.create('create table note (id int, text text)');
  const limited = openLimited();
  const seen: unknown[] = [];
  await limited.transaction(
    key,
    async (query) => {
      await query(FILL);
      await query('savepoint a');
      for (;;) {
        const outcome = await outcomeOf(query(`insert into note values (0, 'a')`));
        if (outcome === '53100') break;
        seen.push(outcome);
      }
      await query('rollback to savepoint a');
    },
    never,
  );
  expect(seen.every((outcome) => typeof outcome === 'object')).toBe(true);
  expect(await outcomeOf(limited.query(key, `insert into note values (0, 'a')`, [], never))).toBe('53100');
});

test('a migration may not let an app grow past its quota, but may delete', async () => {
  // While Postgres analyses the table on its own, the space of deleted rows is not free.
  const key = await own.create('create table note (id int, text text) with (autovacuum_enabled = false)');
  const limited = openLimited();
  const grow = `-- too much\n${FILL};\ncreate table other (id int)`;
  for (const dryRun of [true, false])
    await expect(migrate(limited, key, { '002.sql': grow }, dryRun)).rejects.toMatchObject({
      status: 500,
      message: expect.stringMatching(
        /^migrations\/002\.sql:3: The app would have \d{7} bytes of data; its quota is 2000000$/,
      ),
    });
  expect(await limited.query(key, 'select count(*) as n from note', [], never)).toEqual([{ n: 0 }]);
  await limited.query(key, FILL, [], never);
  expect(await outcomeOf(openLimited().query(key, `insert into note values (0, 'a')`, [], never))).toBe('53100');
  // Small changes are possible.
  expect(await migrate(limited, key, { '002.sql': 'create index on note (id)' })).toEqual(['002.sql']);
  expect(await outcomeOf(limited.query(key, `insert into note values (0, 'a')`, [], never))).toBe('53100');
  const files = { '002.sql': '', '003.sql': 'delete from note where id > 100' };
  expect(await migrate(limited, key, files)).toEqual(['003.sql']);
  expect(await limited.query(key, `insert into note values (0, 'a') returning id`, [], never)).toEqual([{ id: 0 }]);
});

test.each([
  ['changes another database', (url: string) => url, 'begin; select pg_current_xact_id()'],
  ['reads the database of the apps', appsUrl, 'begin isolation level repeatable read read only; select 1'],
])('a migration that deletes waits for a transaction that %s to free the space', async (_, urlOf, begin) => {
  const key = await createFull();
  const limited = openLimited();
  const older = new pg.Client(urlOf(own.database.url));
  await older.connect();
  await older.query(begin);
  const migrated = migrate(limited, key, { '002.sql': 'delete from note where id > 100' });
  await expect.poll(() => own.run(key, 'select count(*) as n from note')).toEqual([{ n: 100 }]);
  await older.query('commit');
  await older.end();
  expect(await migrated).toEqual(['002.sql']);
  expect(await limited.query(key, `insert into note values (0, 'a') returning id`, [], never)).toEqual([{ id: 0 }]);
});

test('without a quota nothing is limited, and a role cannot lift the limit of temporary files', async () => {
  const key = await createFull();
  expect(await own.run(key, `insert into note values (0, 'a') returning id`)).toEqual([{ id: 0 }]);
  const limit = () => own.run(key, `select current_setting('temp_file_limit') as "limit"`);
  expect(await limit()).toEqual([{ limit: '1000000kB' }]);
  for (const sql of [
    'set temp_file_limit = -1',
    `alter role ${schemaOf(key)} set temp_file_limit = -1`,
    `alter role ${schemaOf(key)} reset temp_file_limit`,
  ])
    expect(await outcomeOf(own.run(key, sql)), sql).toBe('42501');
  await own.run(key, `alter role ${schemaOf(key)} reset all`);
  expect(await own.open().query(key, `select current_setting('temp_file_limit') as "limit"`, [], never)).toEqual([
    { limit: '1000000kB' },
  ]);
});

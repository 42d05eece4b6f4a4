import { expect, test } from 'vitest';
import { boundQuery, openSource } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { appsUrl, never, schemaOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

test.each(['rows', 'owner'] as const)(
  'a datasource of users does not connect with the login of an app: %s',
  async (kind) => {
    const key = await own.create();
    const role = kind === 'rows' ? schemaOf(key) : `${schemaOf(key)}_owner`;
    const change = `alter role ${role} password 'ofmyown'`;
    await (kind === 'rows' ? own.run(key, change) : own.migrate(key, { '001.sql': '', '002.sql': change }));
    const url = new URL(appsUrl(own.database.url));
    Object.assign(url, { username: role, password: 'ofmyown' });
    // The password belongs to the login.
    expect(await runSql(url.href, 'select session_user as login')).toEqual([{ login: role }]);
    // Tests of the demo close the databases of the shared server to other logins; this one lets the login in.
    const other = await createDatabase('template0');
    const otherName = new URL(other.url).pathname.slice(1);
    await runSql(own.database.url, `grant connect on database ${otherName} to ${role}`);
    for (const database of [url.pathname.slice(1), otherName]) {
      const source = openSource(url.href, { database });
      const refused = { code: 'BAD_USER_INPUT', message: expect.stringMatching(/^This is the login of an app/) };
      expect(await source.test(never)).toMatchObject({ ok: false, message: refused.message });
      await expect(source.query(boundQuery('select 1'), 10, never)).rejects.toMatchObject(refused);
      await expect(source.describe(boundQuery('select 1'), never)).rejects.toMatchObject(refused);
      await expect(source.schema(never)).rejects.toMatchObject(refused);
      const load = async () => {
        for await (const _segment of source.segments(boundQuery('select 1'), '/nowhere', never));
      };
      await expect(load()).rejects.toMatchObject(refused);
    }
    await other.drop();
  },
);

test('a datasource of an app reads, and writes nothing', async () => {
  const key = await own.create(`create table note (id integer primary key, text text);
    create function write_note() returns integer language plpgsql volatile as $$
      begin insert into note values (1, 'written'); return 1; end $$;
    create function relaxed() returns integer language plpgsql as $$
      begin perform set_config('transaction_read_only', 'off', false); insert into note values (2, 'x'); return 1; end $$`);
  const { createAppDriver } = await import('../../src/adapters/drivers/app/app-driver.ts');
  const driver = createAppDriver(own.workspaces);
  const { config, secrets } = await driver.locate!({ appId: key.appId }, key.tenantId);
  const connection = driver.connect(config, secrets, null);
  const query = (text: string) => connection.query({ text, parameters: [], timeout: 10_000 }, 10, never);
  expect((await query('select count(*) as notes from note')).rows).toEqual([{ notes: 0 }]);
  for (const sql of ['select write_note()', 'select relaxed()', `insert into note values (3, 'x') returning id`])
    await expect(query(sql), sql).rejects.toThrow(/read-only|read-write|Only one SELECT/);
  expect(await own.run(key, 'select * from note')).toEqual([]);
  expect(await connection.test(never)).toMatchObject({ ok: true, warnings: [] });
  expect((await connection.schema(never)).map(({ schema, name }) => `${schema}.${name}`)).toEqual([
    `${schemaOf(key)}._migrations`,
    `${schemaOf(key)}.note`,
  ]);
  await connection.close();
});

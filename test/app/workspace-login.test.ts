import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openAppWorkspaces } from '../../src/adapters/app-workspace/app-workspaces.ts';
import { SystemPool } from '../../src/adapters/database/system-pool.ts';
import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { appsUrl, migrationFiles, never, newApp, outcomeOf, schemaOf, SECRET } from './workspace-fixture.ts';

/** Opens workspaces for a login without the rights of a superuser, in a database of its own. */
async function openLimited(rights: string, appsDatabase?: (url: string, login: string) => Promise<string>) {
  const database = await createDatabase();
  const login = `limited_${randomBytes(4).toString('hex')}`;
  await runSql(database.url, `create role ${login} login ${rights} password 'limited'`);
  const url = new URL(database.url);
  Object.assign(url, { username: login, password: 'limited' });
  const system = new SystemPool(database.url, 2);
  const workspaces = openAppWorkspaces({
    databaseUrl: url.href,
    appsDatabaseUrl: await appsDatabase?.(database.url, login),
    system,
    secrets: createSecretBox(SECRET),
    installationId: 'tests',
    limitOf: async () => ({ quota: Infinity, others: 0, refusal: null }),
    memoryBytes: 0,
  });
  return {
    workspaces,
    login,
    name: url.pathname.slice(1),
    url: database.url,
    async close() {
      await workspaces.close();
      await system.close();
      await database.drop();
    },
  };
}

/** Uses a workspace from its creation to its end. */
async function expectWorkspace({ workspaces, url }: Awaited<ReturnType<typeof openLimited>>): Promise<void> {
  const key = newApp();
  await workspaces.provision(key);
  await workspaces.provision(key);
  const files = migrationFiles({
    '001.sql': `create table note (id int primary key); create sequence s;
      create table hidden (id int); insert into hidden values (7); create policy none on hidden using (false);
      alter table hidden enable row level security; alter table hidden force row level security`,
  });
  expect(await workspaces.migrate(key, files, { dryRun: false, signal: never })).toEqual(['001.sql']);
  const insert = `insert into note values (nextval('s')) returning id`;
  expect(await workspaces.query(key, insert, [], never)).toEqual([{ id: 1 }]);
  await workspaces.query(key, `alter role ${schemaOf(key)} password 'of my own'`, [], never);
  await workspaces.locate(key);
  const { state, rowsOf, close } = await workspaces.dump(key, never);
  expect(state.tables).toEqual(['hidden', 'note'].map((name) => ({ name, columns: ['id'] })));
  const rows: string[] = [];
  for (const table of state.tables) for await (const part of rowsOf(table)) rows.push(String(part));
  expect(rows).toEqual(['7\n', '1\n']);
  await close();
  // It sees no schema of another app, and none of the service.
  const other = newApp();
  await workspaces.provision(other);
  expect(await outcomeOf(workspaces.query(other, `select * from ${schemaOf(key)}.note`, [], never))).toBe('42501');
  await workspaces.remove(other);
  expect(await workspaces.sweep(async () => [])).toEqual([schemaOf(key)]);
  expect(await runSql(url, 'select from pg_roles where rolname like $1', [`${schemaOf(key)}%`])).toEqual([]);
}

test('a login that may create databases and roles needs no further rights', async () => {
  const limited = await openLimited('createdb createrole');
  await expectWorkspace(limited);
  await limited.close();
});

test('a database of an operator needs a login that may create roles', async () => {
  const limited = await openLimited('createrole', async (url, login) => {
    const target = new URL(appsUrl(url));
    await runSql(url, `create database ${target.pathname.slice(1)} owner ${login}`);
    return Object.assign(target, { username: login, password: 'limited' }).href;
  });
  await expectWorkspace(limited);
  await limited.close();
});

test('a login without rights gets the SQL for an administrator', async () => {
  const nothing = await openLimited('nocreatedb');
  await expect(nothing.workspaces.provision(newApp())).rejects.toMatchObject({
    status: 503,
    message:
      "The login of the service may not create the apps' database. An administrator must run: " +
      `create database "${nothing.name}_apps" owner "${nothing.login}";`,
  });
  expect(await outcomeOf(nothing.workspaces.query(newApp(), 'select 1', [], never))).toBe('3F000');
  await nothing.close();
  const noRoles = await openLimited('createdb');
  await expect(noRoles.workspaces.provision(newApp())).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining(`An administrator must run: alter role "${noRoles.login}" createrole;`),
  });
  await noRoles.close();
});

test('APPS_DATABASE_URL is a database of its own, which exists', async () => {
  const own = await openLimited('createrole', async (url) => url);
  await expect(own.workspaces.provision(newApp())).rejects.toMatchObject({
    status: 503,
    message: "APPS_DATABASE_URL must not name the service's own database",
  });
  await own.close();
  const missing = await openLimited('createrole', async (url) => appsUrl(url));
  await expect(missing.workspaces.provision(newApp())).rejects.toMatchObject({
    status: 503,
    message: `The database "${missing.name}_apps" of APPS_DATABASE_URL does not exist`,
  });
  await missing.close();
  const silent = await openLimited('createrole', async () => 'postgres://someone@127.0.0.1:1/apps');
  await expect(silent.workspaces.provision(newApp())).rejects.toMatchObject({ status: 503 });
  await silent.close();
});

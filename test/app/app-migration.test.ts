import { expect } from 'vitest';
import { schemaNameOf } from '../../src/core/app-workspace.ts';
import { sweepWorkspaces } from '../../src/operations/workspace-sweeper.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';
import { createApp, putFile } from './app-fixture.ts';
import { appsUrl } from './workspace-fixture.ts';

const ORDERS =
  "create table orders (id integer primary key, status text);\ninsert into orders values (1, 'new'), (2, 'paid');";

/** Returns the tenant of a service's clients, and the schema of an app. */
async function workspaceOf(service: Service, appId: string) {
  const [tenant] = await service.platform.system.query<{ id: string }>({
    text: 'select tenant_id as id from dws.app where id = $1',
    values: [appId],
  });
  const key = { tenantId: tenant!.id, appId };
  return { key, schema: schemaNameOf(key) };
}

test('migrations run once, and the first run creates schema and datasource', async ({ admin, service }) => {
  const id = await createApp(admin, 'Order inbox', {
    'migrations/notes.txt': 'x',
    'migrations/old/000.sql': 'nonsense',
  });
  await expectBody(admin.post(`/apps/${id}/_migrate`), 200, { migrated: [], total: 0 });
  expect((await admin.get(`/apps/${id}`)).body.schemaName).toBeNull();
  await putFile(admin, id, 'migrations/001-orders.sql', ORDERS);
  await putFile(admin, id, 'migrations/B.sql', 'select 1');
  await putFile(admin, id, 'migrations/a.sql', 'select 1');
  const pending = (await admin.get(`/apps/${id}/migrations`)).body;
  expect(pending._embedded['svc:migration']).toEqual([
    { filename: '001-orders.sql', status: 'pending', appliedAt: null },
    { filename: 'B.sql', status: 'pending', appliedAt: null },
    { filename: 'a.sql', status: 'pending', appliedAt: null },
  ]);
  const run = await admin.post(`/apps/${id}/_migrate`);
  expect(run).toMatchObject({ status: 200, body: { migrated: ['001-orders.sql', 'B.sql', 'a.sql'], total: 3 } });
  expect(Object.keys(run.body).toSorted()).toEqual(['migrated', 'total']);
  await expectBody(admin.post(`/apps/${id}/_migrate`), 200, { migrated: [], total: 3 });
  const { schema } = await workspaceOf(service, id);
  expect((await admin.get(`/apps/${id}`)).body.schemaName).toBe(schema);
  const done = (await admin.get(`/apps/${id}/migrations`)).body._embedded['svc:migration'];
  expect(done.map(({ status }: { status: string }) => status)).toEqual(['applied', 'applied', 'applied']);
  expect(done[0].appliedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const datasources = (await admin.get('/datasources?q=Order inbox')).body._embedded['svc:datasource'];
  expect(datasources).toHaveLength(1);
  expect(datasources[0]).toMatchObject({ type: 'app', config: { appId: id }, embedded: true, ownerId: admin.id });
});

test('GraphQL runs and lists migrations', async ({ admin }) => {
  const id = await createApp(admin, 'Graph', { 'migrations/1.sql': ORDERS });
  const mutation = `mutation ($id: ID!, $dryRun: Boolean, $wait: Boolean! = true) {
    migrateApp(id: $id, dryRun: $dryRun, progress: "mine", wait: $wait) {
      operation { operation status resource { kind id } } result { migrated total } } }`;
  expect((await admin.gql(mutation, { id, dryRun: true })).data).toEqual({
    migrateApp: {
      operation: { operation: 'APP_MIGRATE', status: 'SUCCEEDED', resource: { kind: 'APP', id } },
      result: { migrated: ['1.sql'], total: 1 },
    },
  });
  expect((await admin.get(`/apps/${id}`)).body.schemaName).toBeNull();
  const query = 'query ($id: ID!) { app(id: $id) { schemaName migrations { filename status appliedAt } } }';
  expect((await admin.gql(query, { id })).data).toEqual({
    app: { schemaName: null, migrations: [{ filename: '1.sql', status: 'PENDING', appliedAt: null }] },
  });
  expect((await admin.gql(mutation, { id })).data!['migrateApp']).toMatchObject({
    result: { migrated: ['1.sql'], total: 1 },
  });
  expect((await admin.gql(query, { id })).data).toMatchObject({ app: { migrations: [{ status: 'APPLIED' }] } });
});

test('a dry run by REST undoes all', async ({ admin, service }) => {
  const id = await createApp(admin, 'Dry', {
    'migrations/1.sql': ORDERS,
    'migrations/2.sql': 'alter table orders add total int',
  });
  await expectBody(admin.post(`/apps/${id}/_migrate?dryRun=true`), 200, { migrated: ['1.sql', '2.sql'], total: 2 });
  const { schema } = await workspaceOf(service, id);
  expect(
    await runSql(
      appsUrl(service.databaseUrl),
      `select from pg_class where relnamespace = $1::regnamespace and relname = 'orders'`,
      [schema],
    ),
  ).toEqual([]);
  expect((await admin.get(`/datasources?q=Dry`)).body.total).toBe(0);
  await expectError(admin.post(`/apps/${id}/_migrate?dryRun=maybe`), 400, /dryRun/);
  await expectBody(admin.post(`/apps/${id}/_migrate`, {}), 200, { migrated: ['1.sql', '2.sql'], total: 2 });
});

test('a failure names file and line, and keeps the files before it', async ({ admin }) => {
  const id = await createApp(admin, 'Failing', {
    'migrations/1.sql': ORDERS,
    'migrations/2.sql': 'select 1;\r\nselect 2;\r\nselect nothing;',
    'migrations/3.sql': 'select 3',
  });
  const failed = await admin.post(`/apps/${id}/_migrate`);
  await expectError(failed as never, 500, 'migrations/2.sql:3: column "nothing" does not exist');
  expect(failed.body.code).toBe('UPSTREAM_FAILED');
  expect(
    (await admin.get(`/apps/${id}/migrations`)).body._embedded['svc:migration'].map(
      ({ status }: { status: string }) => status,
    ),
  ).toEqual(['applied', 'pending', 'pending']);
  await putFile(admin, id, 'migrations/2.sql', 'commit;');
  await expectError(
    admin.post(`/apps/${id}/_migrate`),
    400,
    'migrations/2.sql:1: COMMIT is not possible: each file runs in one transaction',
  );
  await putFile(admin, id, 'migrations/2.sql', 'select 2');
  await expectBody(admin.post(`/apps/${id}/_migrate`), 200, { migrated: ['2.sql', '3.sql'], total: 3 });
});

test('a migration that has run cannot change or go', async ({ admin }) => {
  const id = await createApp(admin, 'Append-only', { 'migrations/1.sql': ORDERS });
  await admin.post(`/apps/${id}/_migrate`);
  const message = 'The migration migrations/1.sql has run: add another one instead';
  await expectError(putFile(admin, id, 'migrations/1.sql', `${ORDERS} `), 409, message);
  await expectError(admin.delete(`/apps/${id}/files/migrations/1.sql`), 409, message);
  await expectError(admin.delete(`/apps/${id}/files/migrations`), 409, message);
  expect((await putFile(admin, id, 'migrations/1.sql', ORDERS)).status).toBe(200);
  await putFile(admin, id, 'migrations/2.sql', 'select 1');
  expect((await admin.delete(`/apps/${id}/files/migrations/2.sql`)).status).toBe(204);
});

test('a caller that does not wait follows the run, and can cancel it', async ({ admin, service }) => {
  const id = await createApp(admin, 'Slow', { 'migrations/1.sql': `${ORDERS} select pg_sleep(600)` });
  const started = await admin.post(`/apps/${id}/_migrate`, { progress: 'slow' }, { prefer: 'respond-async' });
  await expectBody(started as never, 202, { operation: 'app.migrate', resource: { kind: 'app', id } });
  const { schema } = await workspaceOf(service, id);
  const sleeping = () =>
    runSql(service.databaseUrl, `select from pg_stat_activity where usename = $1 and query like '%pg_sleep%'`, [
      `${schema}_owner`,
    ]);
  while ((await sleeping()).length === 0);
  // Files stay as the run reads them.
  await expectError(putFile(admin, id, 'migrations/1.sql', 'select 1'), 409, 'The migrations of the app are running');
  expect((await putFile(admin, id, 'server/a.js', 'x')).status).toBe(201);
  expect((await admin.delete('/progress/slow')).status).toBe(202);
  let status = 'running';
  while (status === 'running') ({ status } = (await admin.get('/progress/slow')).body);
  expect(status).toBe('cancelled');
  await expect.poll(sleeping).toEqual([]);
  await putFile(admin, id, 'migrations/1.sql', ORDERS);
  await expectBody(admin.post(`/apps/${id}/_migrate`), 200, { migrated: ['1.sql'], total: 1 });
});

test('concurrent runs wait for each other', async ({ admin }) => {
  const id = await createApp(admin, 'Twice', {
    'migrations/1.sql': ORDERS,
    'migrations/2.sql': 'select pg_sleep(0.1)',
  });
  const runs = await Promise.all([1, 2, 3].map(() => admin.post(`/apps/${id}/_migrate`)));
  expect(runs.map(({ status, body }) => [status, body.total])).toEqual([
    [200, 2],
    [200, 2],
    [200, 2],
  ]);
  expect(runs.flatMap(({ body }) => body.migrated)).toEqual(expect.arrayContaining(['1.sql', '2.sql']));
  expect(runs.flatMap(({ body }) => body.migrated)).toHaveLength(2);
});

test('a deleted app leaves no workspace, even if it could not be deleted immediately', async ({ admin, service }) => {
  const count = async (schema: string) =>
    (await runSql(service.databaseUrl, 'select from pg_roles where rolname like $1', [`${schema}%`])).length;
  const id = await createApp(admin, 'Short-lived', { 'migrations/1.sql': ORDERS });
  await admin.post(`/apps/${id}/_migrate`);
  const { schema, key } = await workspaceOf(service, id);
  expect(await count(schema)).toBe(2);
  expect((await admin.delete(`/apps/${id}`)).status).toBe(204);
  expect(await count(schema)).toBe(0);
  expect((await admin.get('/datasources?q=Short-lived')).body.total).toBe(0);
  await service.platform.workspaces.provision(key);
  expect(await count(schema)).toBe(2);
  const kept = await createApp(admin, 'Kept', { 'migrations/1.sql': ORDERS });
  await admin.post(`/apps/${kept}/_migrate`);
  await sweepWorkspaces(service.platform);
  expect(await count(schema)).toBe(0);
  expect(await count((await workspaceOf(service, kept)).schema)).toBe(2);
});

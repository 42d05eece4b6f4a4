import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createApp, putFile } from './app-fixture.ts';

const ORDERS = `create table orders (id integer primary key, status text, total numeric(10, 2));
  insert into orders values (1, 'new', 9.99), (2, 'paid', 20)`;

/** Creates an app whose migration has run. Returns its id and the id of its datasource. */
async function createOrders(owner: Client, name: string): Promise<{ app: string; datasource: string }> {
  const app = await createApp(owner, name, { 'migrations/1.sql': ORDERS });
  await expectBody(owner.post(`/apps/${app}/_migrate`), 200, { migrated: ['1.sql'] });
  const { body } = await owner.get(`/datasources?q=${encodeURIComponent(name)}`);
  return { app, datasource: body._embedded['svc:datasource'][0].id };
}

test('datasets and queries read the tables of an app', async ({ admin }) => {
  const { app, datasource } = await createOrders(admin, 'Order desk');
  await expectBody(admin.post(`/datasources/${datasource}/_test`), 200, { ok: true, warnings: [] });
  const { body: schema } = await admin.get(`/datasources/${datasource}/schema`);
  expect(schema.tables.map(({ name }: { name: string }) => name)).toEqual(['_migrations', 'orders']);
  await expectBody(
    admin.post(`/datasources/${datasource}/_query`, {
      query: 'select status from orders where id = {{id}}',
      params: { id: 2 },
    }),
    200,
    { rows: [{ status: 'paid' }] },
  );
  await expectError(
    admin.post(`/datasources/${datasource}/_query`, { query: `delete from orders returning id` }),
    400,
    /Only one SELECT/,
  );
  const query = await admin.creates('/queries', {
    name: 'Paid orders',
    datasourceId: datasource,
    query: `select * from orders where status = 'paid'`,
  });
  await expectBody(admin.post(`/queries/${query.id}/_run`, {}), 200, { rows: [{ id: 2, status: 'paid', total: 20 }] });
  const dataset = await admin.creates('/datasets', {
    name: 'Orders',
    datasourceId: datasource,
    query: 'select * from orders order by id',
    refresh: true,
  });
  expect(dataset).toMatchObject({ records: 2 });
  await putFile(admin, app, 'migrations/2.sql', `insert into orders values (3, 'new', 1)`);
  await admin.post(`/apps/${app}/_migrate`);
  await expectBody(admin.post(`/datasets/${dataset.id}/_refresh`, {}), 200, { records: 3, previousRecordCount: 2 });
  await expectBody(admin.post(`/datasets/${dataset.id}/_run`, {}), 200, { records: 3 });
  // Resources that read the datasource use the app.
  const references = (await admin.get(`/apps/${app}/references`)).body._embedded['svc:reference'];
  expect(references.map(({ kind, name }: { kind: string; name: string }) => [kind, name])).toEqual([
    ['dataset', 'Orders'],
    ['query', 'Paid orders'],
  ]);
  await expectError(admin.delete(`/apps/${app}`), 409, 'The app is in use by dataset "Orders", query "Paid orders"');
  expect((await admin.get(`/apps/${app}/files`)).body.total).toBe(2);
  await admin.delete(`/datasets/${dataset.id}`);
  await admin.delete(`/queries/${query.id}`);
  expect((await admin.delete(`/apps/${app}`)).status).toBe(204);
  expect((await admin.get(`/datasources/${datasource}`)).status).toBe(404);
});

test('the datasource belongs to the app', async ({ admin, ann }) => {
  const { app, datasource } = await createOrders(admin, 'Owned');
  const path = `/datasources/${datasource}`;
  await expectError(admin.delete(path), 409, 'The datasource of an app is deleted with the app');
  await expectError(
    admin.put(path, { config: { appId: datasource } }),
    409,
    'The connection of the datasource of an app cannot change',
  );
  const owned = 'The datasource has the owner and the shares of its app: change them there';
  await expectError(admin.put(`${path}/owner`, { ownerId: ann.id }), 409, owned);
  await expectError(admin.put(`${path}/shares/${ann.id}`, { accessLevel: 1 }), 409, owned);
  await expectBody(admin.put(path, { name: 'Renamed' }), 200, { name: 'Renamed', config: { appId: app } });
  await expectError(
    admin.post('/datasources', { name: 'Mine', type: 'app', config: { appId: app } }),
    400,
    'type must not be "app": the first migration of an app creates its datasource',
  );
});

test('its rights follow the app', async ({ admin, ann, bob }) => {
  const { app, datasource } = await createOrders(admin, 'Shared app');
  const path = `/datasources/${datasource}`;
  const select = { query: 'select 1 as one' };
  const statuses = async (client: Client) => [
    (await client.get(path)).status,
    (await client.post(`${path}/_query`, select)).status,
  ];
  expect(await statuses(ann)).toEqual([404, 404]);
  await admin.put(`/apps/${app}/shares/${ann.id}`, { accessLevel: 1 });
  expect(await statuses(ann)).toEqual([200, 403]);
  await admin.put(`/apps/${app}/shares/${ann.id}`, { accessLevel: 2 });
  expect(await statuses(ann)).toEqual([200, 200]);
  await admin.delete(`/apps/${app}/shares/${ann.id}`);
  expect(await statuses(ann)).toEqual([404, 404]);
  // Shares from before the first migration count, too.
  const early = await createApp(admin, 'Shared early', { 'migrations/1.sql': ORDERS });
  await admin.put(`/apps/${early}/shares/${bob.id}`, { accessLevel: 2 });
  await admin.post(`/apps/${early}/_migrate`);
  const { body } = await bob.get('/datasources?q=Shared early');
  expect(body._embedded['svc:datasource']).toMatchObject([{ type: 'app', permissions: { run: true, share: false } }]);
  // A new owner of the app owns its datasource.
  await admin.put(`/apps/${app}/owner`, { ownerId: ann.id });
  expect((await ann.get(path)).body).toMatchObject({ ownerId: ann.id, permissions: { delete: true } });
  expect(await statuses(ann)).toEqual([200, 200]);
});

test('another tenant reads nothing of it', async ({ admin, stranger }) => {
  const { datasource } = await createOrders(admin, 'Private app');
  expect((await stranger.get(`/datasources/${datasource}`)).status).toBe(404);
  expect((await stranger.post(`/datasources/${datasource}/_query`, { query: 'select 1' })).status).toBe(404);
});

import { request } from 'node:http';
import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { createSource, test } from '../support/shop-fixture.ts';

const SECRET = 'a very secret word';
const ACTIVE_SLEEPS = `
  select pid
  from pg_stat_activity
  where datname = current_database() and state = 'active' and query like '%pg_sleep(61)%' and pid <> pg_backend_pid()`;

test('creating a datasource requires datasources:create', async ({ ann, shop }) => {
  const response = ann.post('/datasources', { name: 'Mine', type: 'postgres', config: shop.config });
  await expectError(response, 403, /datasources:create/);
});

test('a datasource shows its connection, but never its secrets, in both APIs', async ({ admin, shop }) => {
  const created = await createSource(admin, { ...shop, secrets: { password: SECRET } }, { name: 'Sales database' });
  expect(created).toMatchObject({
    slug: 'sales-database',
    naturalId: 'default:sales-database',
    tenant: 'default',
    type: 'postgres',
    ownerId: admin.id,
    embedded: false,
    config: { ...shop.config },
  });
  const read = await expectBody(admin.get(`/datasources/${created.slug}`), 200, {
    id: created.id,
    permissions: { read: true, write: true, delete: true },
  });
  const list = (await admin.get('/datasources')).body;
  expect(JSON.stringify([created, read, list])).not.toContain(SECRET);

  const query = admin.gql(`{ datasource(id: "${created.id}") { secrets } }`);
  expect((await query).errors[0].message).toContain('Cannot query field "secrets"');
});

test('a config that violates the driver’s JSON Schema is refused with the path', async ({ admin, shop }) => {
  const post = (input: object) => admin.post('/datasources', { name: 'X', type: 'postgres', ...input });
  const { status, body } = await post({ config: { ...shop.config, port: 'a', colour: 'red' } });
  expect(status).toBe(400);
  expect(body.validation.map(({ message }: { message: string }) => message).toSorted()).toEqual([
    'config.colour is unknown',
    'config.port must be integer',
  ]);
  await expectError(post({ config: { host: 'h' } }), 400, 'config.database is required');
  await expectError(post({ config: shop.config, secrets: { token: 'abc' } }), 400, 'secrets.token is unknown');
  await expectError(post({ config: shop.config, type: 'oracle' }), 400, /"oracle"/);
});

test('a connection test returns version, latency and a warning about a role that can write', async ({
  ann,
  source,
}) => {
  const result = await expectBody(ann.post(`/datasources/${source.id}/_test`), 200, {
    ok: true,
    message: null,
    latency: expect.any(Number),
    version: expect.stringMatching(/\d/),
  });
  expect(result.warnings.length).toBeGreaterThan(0);
});

test('a failed connection is a result of the test, without the password', async ({ admin, shop }) => {
  const password = 'wrong horse';
  const { id } = await createSource(admin, { ...shop, secrets: { password } });
  const result = await expectBody(admin.post(`/datasources/${id}/_test`), 200, {
    ok: false,
    message: expect.stringMatching(/password|secret/i),
  });
  expect(result.message).not.toContain(password);
});

test('the service’s own database cannot be a datasource', async ({ admin, service }) => {
  const { hostname, port, pathname, username, password } = new URL(service.databaseUrl);
  const { id } = await admin.creates('/datasources', {
    name: 'Own',
    type: 'postgres',
    config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
    secrets: { password },
  });
  await expectBody(admin.post(`/datasources/${id}/_test`), 200, { ok: false });
  await expectError(admin.post(`/datasources/${id}/_query`, { query: 'select * from dws.app_user' }), 400);
});

test('stored secrets survive an update, but are required again when the connection changes', async ({
  admin,
  shop,
}) => {
  const { id } = await createSource(admin, shop);
  const put = (input: object) => admin.put(`/datasources/${id}`, input);
  const otherDatabase = { ...shop.config, database: 'postgres' };
  await expectBody(put({ name: 'Renamed', config: otherDatabase }), 200, { name: 'Renamed' });
  await expectBody(admin.post(`/datasources/${id}/_test`), 200, { ok: true });

  for (const change of [{ host: 'evil.example' }, { port: 5 }, { user: 'other' }, { ssl: 'disable' }]) {
    await expectError(put({ config: { ...shop.config, ...change } }), 400, /^secrets is required/);
  }
  const localhost = { ...shop.config, host: 'localhost' };
  await expectBody(put({ config: localhost, secrets: shop.secrets }), 200, { config: { host: 'localhost' } });
  await expectError(put({ type: 'mysql' }), 400, /type/);
});

test('an owner without datasources:create can rename a datasource, but not change its connection', async ({
  ann,
  source,
}) => {
  const put = (input: object) => ann.put(`/datasources/${source.id}`, input);
  const { body } = await ann.get(`/datasources/${source.id}`);
  await expectBody(put({ ...body, description: 'Orders' }), 200, { description: 'Orders' });
  await expectError(put({ config: { ...body.config, database: 'postgres' } }), 403, /datasources:create/);
  await expectError(put({ secrets: { password: 'x' } }), 403);
});

test('the schema of a datasource lists tables with columns and keys', async ({ ann, source }) => {
  const { tables } = (await ann.get(`/datasources/${source.id}/schema`)).body;
  const orders = tables.find(({ name }: { name: string }) => name === 'orders');
  expect(orders).toMatchObject({ schema: 'public', type: 'table' });
  expect(orders.columns[0]).toMatchObject({ name: 'id', nullable: false, primaryKey: true });
});

test('a query runs with bound values and returns fields and rows', async ({ ann, source }) => {
  const query = (input: object) => ann.post(`/datasources/${source.id}/_query`, input);
  const result = await expectBody(
    query({
      query: 'select id, region from orders where region = {{region}} order by id',
      params: { region: 'EU' },
      limit: 2,
    }),
    200,
    { truncated: true, duration: expect.any(Number) },
  );
  expect(result.rows).toMatchObject([
    { id: 4, region: 'EU' },
    { id: 8, region: 'EU' },
  ]);
  expect(result.fields).toMatchObject([
    { name: 'id', type: 'integer' },
    { name: 'region', type: 'string' },
  ]);

  const word = `'; drop table orders; --`;
  const injected = await query({ query: 'select {{word}}::text as word', params: { word } });
  expect(injected.body.rows).toEqual([{ word }]);
});

test('an invalid query is 400 with the source’s message, and a query cannot write', async ({ ann, source, shop }) => {
  const query = (input: object) => ann.post(`/datasources/${source.id}/_query`, input);
  await expectError(query({ query: 'select nothing from orders' }), 400, /"nothing"/);
  await expectError(query({ query: 'select {{x}}' }), 400, 'params.x is required');
  await expectError(query({ query: 'select 1', params: { x: 1 } }), 400, /"x"/);
  await expectError(query({ query: 'select 1', limit: 1001 }), 400);
  await expectError(query({ query: 'delete from orders' }), 400);
  await expectError(query({ query: 'select 1; delete from orders' }), 400);
  expect(await shop.sql('select count(*)::int as n from orders')).toMatchObject([{ n: 20 }]);
});

test('a query is cancelled in the source when its client disconnects', async ({ ann, source, shop }) => {
  const countActive = async () => (await shop.sql(ACTIVE_SLEEPS)).length;
  const call = request(`${ann.url}/api/datasources/${source.id}/_query`, {
    method: 'POST',
    headers: { ...ann.headers, 'content-type': 'application/json' },
    agent: false,
  });
  call.on('error', () => {});
  call.end(JSON.stringify({ query: 'select pg_sleep(61)' }));
  await expect.poll(countActive).toBe(1);
  call.destroy();
  await expect.poll(countActive).toBe(0);
});

test('an unreachable source is 500', async ({ admin, shop }) => {
  const { id } = await createSource(admin, { ...shop, config: { ...shop.config, port: 1 } });
  const response = admin.post(`/datasources/${id}/_query`, { query: 'select 1' });
  await expectBody(response, 500, { code: 'UPSTREAM_FAILED' });
});

test('a query that takes longer than QUERY_TIMEOUT_MS is 500', async ({ shop }) => {
  const service = await startService({ QUERY_TIMEOUT_MS: '300' });
  try {
    const admin = await service.user('admin', { superuser: true });
    const { id } = await createSource(admin, shop);
    const response = admin.post(`/datasources/${id}/_query`, { query: 'select pg_sleep(30)' });
    await expectBody(response, 500, { code: 'UPSTREAM_FAILED', message: 'query timeout after 300 ms' });
  } finally {
    await service.close();
  }
});

test('team members see a datasource without its connection and cannot query it; others get 404', async ({
  admin,
  ann,
  bob,
  shop,
}) => {
  const team = await admin.creates('/teams', { name: 'Readers' });
  const { id } = await createSource(admin, shop, { ownerId: `team:${team.id}` });
  await admin.put(`/teams/${team.id}/members/${ann.username}`, { role: 'member' });
  await expectBody(ann.get(`/datasources/${id}`), 200, {
    ownerId: `team:${team.id}`,
    config: {},
    permissions: { read: true, write: false },
  });
  await expectError(ann.post(`/datasources/${id}/_query`, { query: 'select 1' }), 403, /datasource:write/);
  await expectError(ann.get(`/datasources/${id}/schema`), 403);

  await expectError(bob.get(`/datasources/${id}`), 404);
  await expectError(bob.post(`/datasources/${id}/_test`), 404);
  const listed = (await bob.get('/datasources')).body._embedded['svc:datasource'];
  expect(listed.map((datasource: { id: string }) => datasource.id)).not.toContain(id);
});

test('a datasource in use cannot be deleted, and the error names its users', async ({ admin, ann, shop }) => {
  const { id } = await createSource(admin, shop, { ownerId: ann.id });
  const query = await ann.creates('/queries', { name: 'All orders', datasourceId: id, query: 'select * from orders' });
  await expectBody(ann.delete(`/datasources/${id}`), 409, {
    code: 'CONFLICT',
    message: 'The datasource is in use by query "All orders"',
  });
  await ann.delete(`/queries/${query.id}`);
  expect((await ann.delete(`/datasources/${id}`)).status).toBe(204);
  await expectError(ann.get(`/datasources/${id}`), 404);
});

test('drivers include the JSON Schema of their config', async ({ ann }) => {
  const { body } = await ann.get('/datasource-drivers');
  expect(body._embedded['svc:datasource-driver']).toContainEqual(
    expect.objectContaining({
      id: 'postgres',
      defaultPort: 5432,
      configSchema: expect.objectContaining({ type: 'object' }),
    }),
  );
});

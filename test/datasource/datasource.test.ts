import { request } from 'node:http';
import { expect } from 'vitest';
import { startService } from '../support/service.ts';
import { makeSource, test } from '../support/shop-fixture.ts';

const PASSWORD_WORD = /password|secret/i;

test('only who may create datasources makes one', async ({ ann, shop }) => {
  expect(await ann.post('/datasources', { name: 'Mine', type: 'postgres', config: shop.config })).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining('datasources:create') },
  });
});

test('a datasource answers where it is and never its secrets, in neither channel', async ({ admin, shop }) => {
  const made = await makeSource(
    admin,
    { ...shop, secrets: { password: 'a very secret word' } },
    { name: 'Sales database' },
  );
  expect(made).toMatchObject({
    slug: 'sales-database',
    naturalId: 'default:sales-database',
    tenant: 'default',
    type: 'postgres',
    ownerId: admin.id,
    embedded: false,
    config: { ...shop.config },
  });
  const read = await admin.get(`/datasources/${made.slug}`);
  expect(read.body).toMatchObject({ id: made.id, permissions: { read: true, write: true, delete: true } });
  expect(JSON.stringify([made, read.body, (await admin.get('/datasources')).body])).not.toContain('a very secret word');
  const { errors } = await admin.gql(`{ datasource(id: "${made.id}") { secrets } }`);
  expect(errors[0].message).toContain('Cannot query field "secrets"');
});

test('a config that breaks the driver’s JSON Schema is refused, naming the path', async ({ admin, shop }) => {
  const broken = { name: 'X', type: 'postgres', config: { ...shop.config, port: 'a', colour: 'red' } };
  const { status, body } = await admin.post('/datasources', broken);
  expect(status).toBe(400);
  expect(body.validation.map(({ message }: { message: string }) => message).toSorted()).toEqual([
    'config.colour is unknown',
    'config.port must be integer',
  ]);
  expect(await admin.post('/datasources', { ...broken, config: { host: 'h' } })).toMatchObject({
    status: 400,
    body: { message: 'config.database is required' },
  });
  expect(await admin.post('/datasources', { ...broken, config: shop.config, secrets: { token: 'abc' } })).toMatchObject(
    { status: 400, body: { message: 'secrets.token is unknown' } },
  );
  expect(await admin.post('/datasources', { ...broken, type: 'oracle' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"oracle"') },
  });
});

test('a connection test says version, latency and that the role can write', async ({ ann, source }) => {
  const { status, body } = await ann.post(`/datasources/${source.id}/_test`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ok: true,
    message: null,
    latency: expect.any(Number),
    version: expect.stringMatching(/\d/),
  });
  expect(body.warnings.length).toBeGreaterThan(0);
});

test('a source that cannot be used is an answer of the test, without the password', async ({ admin, shop }) => {
  const { id } = await makeSource(admin, { ...shop, secrets: { password: 'wrong horse' } });
  const { status, body } = await admin.post(`/datasources/${id}/_test`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: false, message: expect.stringMatching(PASSWORD_WORD) });
  expect(body.message).not.toContain('wrong horse');
});

test('the service’s own database is no datasource', async ({ admin, service }) => {
  const { hostname, port, pathname, username, password } = new URL(service.databaseUrl);
  const own = await admin.creates('/datasources', {
    name: 'Own',
    type: 'postgres',
    config: { host: hostname, port: Number(port), database: pathname.slice(1), user: username },
    secrets: { password },
  });
  expect((await admin.post(`/datasources/${own.id}/_test`)).body).toMatchObject({ ok: false });
  expect(await admin.post(`/datasources/${own.id}/_query`, { query: 'select * from dws.app_user' })).toMatchObject({
    status: 400,
  });
});

test('secrets that an update does not name stay, and move nowhere without being named again', async ({
  admin,
  shop,
}) => {
  const { id } = await makeSource(admin, shop);
  expect(
    await admin.put(`/datasources/${id}`, { name: 'Renamed', config: { ...shop.config, database: 'postgres' } }),
  ).toMatchObject({ status: 200, body: { name: 'Renamed' } });
  expect((await admin.post(`/datasources/${id}/_test`)).body).toMatchObject({ ok: true });
  for (const change of [{ host: 'evil.example' }, { port: 5 }, { user: 'other' }, { ssl: 'disable' }]) {
    expect(
      await admin.put(`/datasources/${id}`, { config: { ...shop.config, ...change } }),
      JSON.stringify(change),
    ).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^secrets is required/) } });
  }
  expect(
    await admin.put(`/datasources/${id}`, { config: { ...shop.config, host: 'localhost' }, secrets: shop.secrets }),
  ).toMatchObject({ status: 200, body: { config: { host: 'localhost' } } });
  expect(await admin.put(`/datasources/${id}`, { type: 'mysql' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('type') },
  });
});

test('an owner who may not create datasources renames, but does not reconnect', async ({ ann, source }) => {
  const { body } = await ann.get(`/datasources/${source.id}`);
  expect(await ann.put(`/datasources/${source.id}`, { ...body, description: 'Orders' })).toMatchObject({
    status: 200,
    body: { description: 'Orders' },
  });
  expect(
    await ann.put(`/datasources/${source.id}`, { config: { ...body.config, database: 'postgres' } }),
  ).toMatchObject({ status: 403, body: { message: expect.stringContaining('datasources:create') } });
  expect(await ann.put(`/datasources/${source.id}`, { secrets: { password: 'x' } })).toMatchObject({ status: 403 });
});

test('its schema lists tables with columns and keys', async ({ ann, source }) => {
  const { tables } = (await ann.get(`/datasources/${source.id}/schema`)).body;
  const orders = tables.find(({ name }: { name: string }) => name === 'orders');
  expect(orders).toMatchObject({ schema: 'public', type: 'table' });
  expect(orders.columns[0]).toMatchObject({ name: 'id', nullable: false, primaryKey: true });
});

test('a query runs with bound values and answers fields and rows', async ({ ann, source }) => {
  const { status, body } = await ann.post(`/datasources/${source.id}/_query`, {
    query: 'select id, region from orders where region = {{region}} order by id',
    params: { region: 'EU' },
    limit: 2,
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    truncated: true,
    duration: expect.any(Number),
    rows: [
      { id: 4, region: 'EU' },
      { id: 8, region: 'EU' },
    ],
  });
  expect(body.fields).toMatchObject([
    { name: 'id', type: 'integer' },
    { name: 'region', type: 'string' },
  ]);
  const injected = await ann.post(`/datasources/${source.id}/_query`, {
    query: 'select {{word}}::text as word',
    params: { word: `'; drop table orders; --` },
  });
  expect(injected.body.rows).toEqual([{ word: `'; drop table orders; --` }]);
});

test('a query’s mistakes are 400 with the source’s words, and it cannot write', async ({ ann, source, shop }) => {
  const ask = (body: object) => ann.post(`/datasources/${source.id}/_query`, body);
  expect(await ask({ query: 'select nothing from orders' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"nothing"') },
  });
  expect(await ask({ query: 'select {{x}}' })).toMatchObject({
    status: 400,
    body: { message: 'params.x is required' },
  });
  expect(await ask({ query: 'select 1', params: { x: 1 } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"x"') },
  });
  expect(await ask({ query: 'select 1', limit: 1001 })).toMatchObject({ status: 400 });
  expect(await ask({ query: 'delete from orders' })).toMatchObject({ status: 400 });
  expect(await ask({ query: 'select 1; delete from orders' })).toMatchObject({ status: 400 });
  expect(await shop.sql('select count(*)::int as n from orders')).toMatchObject([{ n: 20 }]);
});

test('a query ends in the source when its client leaves', async ({ ann, source, shop }) => {
  const asleep = async () =>
    (
      await shop.sql(
        `select pid from pg_stat_activity where datname = current_database() and state = 'active' and query like '%pg_sleep(61)%' and pid <> pg_backend_pid()`,
      )
    ).length;
  const leaving = request(`${ann.url}/api/datasources/${source.id}/_query`, {
    method: 'POST',
    headers: { ...ann.headers, 'content-type': 'application/json' },
    agent: false,
  });
  leaving.on('error', () => {});
  leaving.end(JSON.stringify({ query: 'select pg_sleep(61)' }));
  await expect.poll(asleep, { timeout: 20_000 }).toBe(1);
  leaving.destroy();
  await expect.poll(asleep, { timeout: 20_000 }).toBe(0);
});

test('a query that takes longer than QUERY_TIMEOUT_MS is 500', async ({ shop }) => {
  const service = await startService({ QUERY_TIMEOUT_MS: '300' });
  try {
    const admin = await service.user('admin', { superuser: true });
    const { id } = await makeSource(admin, shop);
    expect(await admin.post(`/datasources/${id}/_query`, { query: 'select pg_sleep(30)' })).toMatchObject({
      status: 500,
      body: { code: 'UPSTREAM_FAILED', message: 'query timeout after 300 ms' },
    });
  } finally {
    await service.close();
  }
});

test('an unreachable source is 500', async ({ admin, shop }) => {
  const { id } = await makeSource(admin, { ...shop, config: { ...shop.config, port: 1 } });
  expect(await admin.post(`/datasources/${id}/_query`, { query: 'select 1' })).toMatchObject({
    status: 500,
    body: { code: 'UPSTREAM_FAILED' },
  });
});

test('members of the owning team see a datasource without its connection and do not query it; others do not see it', async ({
  admin,
  ann,
  bob,
  shop,
}) => {
  const team = await admin.creates('/teams', { name: 'Readers' });
  const { id } = await makeSource(admin, shop, { ownerId: `team:${team.id}` });
  await admin.put(`/teams/${team.id}/members/${ann.username}`, { role: 'member' });
  expect(await ann.get(`/datasources/${id}`)).toMatchObject({
    status: 200,
    body: { ownerId: `team:${team.id}`, config: {}, permissions: { read: true, write: false } },
  });
  expect(await ann.post(`/datasources/${id}/_query`, { query: 'select 1' })).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining('datasource:write') },
  });
  expect(await ann.get(`/datasources/${id}/schema`)).toMatchObject({ status: 403 });
  expect(await bob.get(`/datasources/${id}`)).toMatchObject({ status: 404 });
  expect(await bob.post(`/datasources/${id}/_test`)).toMatchObject({ status: 404 });
  expect(
    (await bob.get('/datasources')).body._embedded['svc:datasource'].map((one: { id: string }) => one.id),
  ).not.toContain(id);
});

test('what is used is not deleted, and the answer names its users', async ({ admin, ann, shop }) => {
  const { id } = await makeSource(admin, shop, { ownerId: ann.id });
  const query = await ann.creates('/queries', { name: 'All orders', datasourceId: id, query: 'select * from orders' });
  expect(await ann.delete(`/datasources/${id}`)).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', message: 'The datasource is in use by query "All orders"' },
  });
  await ann.delete(`/queries/${query.id}`);
  expect(await ann.delete(`/datasources/${id}`)).toMatchObject({ status: 204 });
  expect(await ann.get(`/datasources/${id}`)).toMatchObject({ status: 404 });
});

test('drivers tell the JSON Schema of their config', async ({ ann }) => {
  const { body } = await ann.get('/datasource-drivers');
  expect(body._embedded['svc:datasource-driver']).toContainEqual(
    expect.objectContaining({
      id: 'postgres',
      defaultPort: 5432,
      configSchema: expect.objectContaining({ type: 'object' }),
    }),
  );
});

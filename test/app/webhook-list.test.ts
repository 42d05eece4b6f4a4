import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { createApp } from './app-fixture.ts';
import { appOf, callOf, recordInOrder, requestOf } from './record-fixture.ts';

/** Returns the UTC day that was some days ago. */
const dayBefore = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

test('webhooks are empty before a deployment, then the webhooks of the active release', async ({ admin }) => {
  const id = await createApp(admin, 'Routes', {
    'webhooks/orders/[id].ts': `export const config = { timeout: 5000 };
      export const post = () => 1, put = () => 2;`,
  });
  await expectBody(admin.get(`/apps/${id}/webhooks`), 200, { routes: [], stats: [] });
  expect((await admin.post(`/apps/${id}/_deploy`)).status).toBe(200);
  const route = (method: string) => ({
    method,
    path: '/orders/:id',
    handlerPath: 'webhooks/orders/[id].ts',
    config: { timeout: 5000, public: true },
  });
  await expectBody(admin.get(`/apps/${id}/webhooks`), 200, { routes: [route('post'), route('put')], stats: [] });
  const { app } = await admin.data(`{ app(id: "${id}") { webhooks {
    routes { method path handlerPath config } stats { method path date count avgDuration errorCount }
  } } }`);
  expect(app.webhooks).toEqual({ routes: [route('post'), route('put')], stats: [] });
});

test('statistics have the last 30 days in UTC by method and route, errors from 400 on', async ({ admin, service }) => {
  const id = await createApp(admin, 'Days');
  const app = await appOf(service, id);
  const at = (route: string | null, durationMs: number) => ({ route, durationMs });
  await recordInOrder(service, [
    callOf(app, { status: 399 }, at('/a', 1)),
    callOf(app, { status: 400 }, at('/a', 2)),
    callOf(app, { method: 'get', status: 200 }, at('/a', 7)),
    callOf(app, { status: 404 }, at(null, 0)),
    callOf(app, { status: 503 }, at('/b', 10)),
  ]);
  for (const days of [29, 30])
    await runSql(
      service.databaseUrl,
      `insert into dws.webhook_day (tenant_id, app_id, day, method, route, calls, duration, errors)
      values ($1, $2, $3, 'post', '/old', 3, 10, 1)`,
      [app.tenantId, id, dayBefore(days)],
    );
  const today = dayBefore(0);
  await expectBody(admin.get(`/apps/${id}/webhooks`), 200, {
    routes: [],
    stats: [
      { method: 'get', path: '/a', date: today, count: 1, avgDuration: 7, errorCount: 0 },
      { method: 'post', path: '/a', date: today, count: 2, avgDuration: 1.5, errorCount: 1 },
      { method: 'post', path: '/b', date: today, count: 1, avgDuration: 10, errorCount: 1 },
      { method: 'post', path: '/old', date: dayBefore(29), count: 3, avgDuration: 3.333, errorCount: 1 },
    ],
  });
});

test('a call is replayed as it was, unless its request is not kept', async ({ admin, service }) => {
  const id = await createApp(admin, 'Replays', {
    'webhooks/echo.ts': `export const config = { verify: { scheme: 'hmac', secret: 'SECRET' } };
      export const post = ({ request, log }) => { log.info(request.body + request.query.a + request.headers.b) }`,
  });
  await admin.put(`/apps/${id}`, { env: { SECRET: 'unknown to those who replay' } });
  await admin.post(`/apps/${id}/_deploy`);
  const app = await appOf(service, id);
  const request = requestOf('text\u{1f600}', { path: '/echo', query: { a: '1' }, headers: { b: '2' } });
  await recordInOrder(service, [
    callOf(app, { path: '/echo', request }, { route: '/echo' }),
    callOf(app, { request: requestOf('x'.repeat(300_000)) }),
  ]);
  const [large, kept] = (await admin.get(`/apps/${id}/webhooks/calls`)).body._embedded['svc:webhook-call'];
  await expectError(admin.post(`/apps/${id}/webhooks/calls/${large.id}/_replay`), 409, /not kept/);
  const { status, body } = await admin.post(`/apps/${id}/webhooks/calls/${kept.id}/_replay`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ method: 'post', path: '/echo', route: '/echo', replayOf: kept.id });
  expect(body._links['svc:replay-of']).toEqual({ href: `/api/apps/${id}/webhooks/calls/${kept.id}` });
  const again = await admin.data(
    `mutation { replayWebhookCall(appId: "${id}", callId: "${body.id}") { id replayOf { id replayOf { id } } } }`,
  );
  expect(again.replayWebhookCall.replayOf).toEqual({ id: body.id, replayOf: { id: kept.id } });
  expect((await admin.get(`/apps/${id}/webhooks/calls`)).body.total).toBe(4);
  const lines = (await admin.get(`/apps/${id}/logs`)).body._embedded['svc:app-log'];
  expect(lines.map(({ message }: { message: string }) => message)).toEqual(['text\u{1f600}12', 'text\u{1f600}12']);
});

test('calls from outside are recorded before the response, including calls that no handler gets', async ({
  admin,
  anonymous,
  service,
}) => {
  const id = await createApp(admin, 'Outside', {
    'webhooks/hello.ts': `export const get = () => ({ status: 202, body: 'Hello' });
      export const post = () => { throw new Error('Not now') };`,
    'server/lines.ts': `export const get = ({ log }) => { log.warn('viewed'); return [] }`,
  });
  await admin.post(`/apps/${id}/_deploy`);
  const newest = async () =>
    (await admin.get(`/apps/${id}/webhooks/calls?limit=1`)).body._embedded['svc:webhook-call'][0];
  const call = async (method: string, path: string) => {
    await anonymous.request(method, `/api/apps/${id}/_hook${path}`);
    return newest();
  };
  const ran = { route: '/hello', duration: expect.toSatisfy((ms: number) => ms > 0), replayable: true };
  expect(await call('GET', '/hello')).toMatchObject({
    ...ran,
    method: 'get',
    path: '/hello',
    status: 202,
    error: null,
  });
  expect((await newest()).peakMemory).toBeGreaterThan(100_000);
  expect(await call('POST', '/hello')).toMatchObject({
    ...ran,
    status: 500,
    error: 'webhooks/hello.ts:2: Not now',
  });
  const none = { peakMemory: 0, replayable: false };
  expect(await call('PUT', '/hello')).toMatchObject({ ...none, method: 'put', status: 405 });
  expect(await call('GET', '/none')).toMatchObject({ ...none, route: null, path: '/none', status: 404 });
  // Calls without a route are not counted.
  const { stats } = (await admin.get(`/apps/${id}/webhooks`)).body;
  expect(stats).toMatchObject([
    { method: 'get', path: '/hello', count: 1, errorCount: 0 },
    { method: 'post', path: '/hello', count: 1, errorCount: 1 },
  ]);
  await admin.get(`/apps/${id}/view/lines`);
  const lines = (await admin.get(`/apps/${id}/logs`)).body._embedded['svc:app-log'];
  expect(lines).toMatchObject([
    { level: 'warn', message: 'viewed', route: '/lines' },
    { level: 'error', message: 'webhooks/hello.ts:2: Not now', route: '/hello' },
  ]);
  const events = await runSql(
    service.databaseUrl,
    `select metadata ->> 'trigger' as trigger, actor from dws.usage_event where entity_id = $1 order by occurred_at, id`,
    [id],
  );
  const actor = `user:${admin.id}`;
  expect(events).toEqual(['webhook', 'webhook', 'view'].map((trigger) => ({ trigger, actor })));
});

test('a call of an app that is not deployed cannot be replayed', async ({ admin, service }) => {
  const id = await createApp(admin, 'Undeployed');
  await recordInOrder(service, [callOf(await appOf(service, id))]);
  const [call] = (await admin.get(`/apps/${id}/webhooks/calls`)).body._embedded['svc:webhook-call'];
  await expectError(admin.post(`/apps/${id}/webhooks/calls/${call.id}/_replay`), 409, 'The app is not deployed');
  expect((await admin.get(`/apps/${id}/webhooks/calls`)).body.count).toBe(1);
  const replay = `mutation { replayWebhookCall(appId: "${id}", callId: "${call.id}") { id } }`;
  await expectGraphqlError(admin.gql(replay), 'CONFLICT', /The app is not deployed/);
});

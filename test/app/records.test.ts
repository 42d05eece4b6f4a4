import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createApp } from './app-fixture.ts';
import { appOf, callOf, recordInOrder, runOf } from './record-fixture.ts';

/** Time of any record, which the tests do not set. */
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);

test('lines of the log are listed newest first, with the failure, in both APIs', async ({ admin, service }) => {
  const id = await createApp(admin, 'Logs');
  const app = await appOf(service, id);
  await recordInOrder(service, [
    runOf(app, {
      requestId: 'first',
      logs: [
        { level: 'debug', text: 'a' },
        { level: 'info', text: 'b' },
      ],
    }),
    runOf(app, {
      requestId: 'second',
      route: null,
      logs: [{ level: 'warn', text: 'c' }],
      error: 'server/a.ts:3: no',
    }),
  ]);
  const line = (level: string, message: string, requestId: string, route: string | null) => ({
    id: ID,
    at: TIME,
    level,
    message,
    route,
    requestId,
    _links: { 'svc:app': { href: `/api/apps/${id}` } },
  });
  const lines = [
    line('error', 'server/a.ts:3: no', 'second', null),
    line('warn', 'c', 'second', null),
    line('info', 'b', 'first', '/orders/:id'),
    line('debug', 'a', 'first', '/orders/:id'),
  ];
  const { body } = await admin.get(`/apps/${id}/logs`);
  expect(body).toMatchObject({ start: 0, count: 4, total: 4 });
  expect(body._embedded['svc:app-log']).toEqual(lines);
  const filtered = async (query: string) =>
    (await admin.get(`/apps/${id}/logs?${query}`)).body._embedded['svc:app-log'];
  expect(await filtered('requestId=first')).toEqual(lines.slice(2));
  expect(await filtered('level=error')).toEqual([lines[0]]);
  expect(await filtered('limit=2&start=1')).toEqual(lines.slice(1, 3));
  await expectError(admin.get(`/apps/${id}/logs?level=loud`), 400, /level/);
  const { app: found } = await admin.data(
    `{ app(id: "${id}") { logs(level: WARN) { total items { level message app { id } } } } }`,
  );
  expect(found.logs).toEqual({ total: 1, items: [{ level: 'WARN', message: 'c', app: { id } }] });
});

test('calls of webhooks are listed newest first, in both APIs', async ({ admin, service }) => {
  const id = await createApp(admin, 'Calls');
  const app = await appOf(service, id);
  await recordInOrder(service, [
    callOf(app, { status: 201 }, { requestId: 'first' }),
    callOf(
      app,
      { method: 'get', path: '/none', status: 404 },
      { requestId: 'second', route: null, durationMs: 0, memoryBytes: 0 },
    ),
    callOf(app, { status: 500 }, { requestId: 'third', error: 'webhooks/orders/[id].ts:3: no' }),
  ]);
  const calls = (await admin.get(`/apps/${id}/webhooks/calls`)).body._embedded['svc:webhook-call'];
  const call = (values: object) => ({
    id: ID,
    at: TIME,
    method: 'post',
    path: '/orders/7',
    route: '/orders/:id',
    duration: 1500,
    peakMemory: 2_000_000,
    error: null,
    replayOf: null,
    replayable: true,
    _links: expect.objectContaining({ 'svc:app': { href: `/api/apps/${id}` } }),
    ...values,
  });
  const notFound = { method: 'get', path: '/none', route: null, status: 404, duration: 0, peakMemory: 0 };
  expect(calls).toEqual([
    call({ status: 500, requestId: 'third', error: 'webhooks/orders/[id].ts:3: no' }),
    call({ ...notFound, requestId: 'second' }),
    call({ status: 201, requestId: 'first' }),
  ]);
  const statuses = async (query: string) =>
    (await admin.get(`/apps/${id}/webhooks/calls?${query}`)).body._embedded['svc:webhook-call'].map(
      ({ status }: { status: number }) => status,
    );
  expect(await statuses('status=404')).toEqual([404]);
  expect(await statuses('method=post')).toEqual([500, 201]);
  expect(await statuses('method=POST')).toEqual([500, 201]);
  await expectError(admin.get(`/apps/${id}/webhooks/calls?method=patch`), 400, 'method must be get, post or put');
  expect(await statuses('route=/orders/:id&limit=1&start=1')).toEqual([201]);
  const [newest] = calls;
  await expectBody(admin.get(`/apps/${id}/webhooks/calls/${newest.id}`), 200, {
    ...newest,
    _links: expect.objectContaining({
      self: { href: `/api/apps/${id}/webhooks/calls/${newest.id}` },
      'svc:app': { href: `/api/apps/${id}` },
    }),
  });
  const { app: found, node } = await admin.data(`{
    app(id: "${id}") { webhookCalls(status: 500) { total items { id status app { id } replayOf { id } } } }
    node(id: "${newest.id}") { ... on WebhookCall { requestId } }
  }`);
  expect(found.webhookCalls).toEqual({
    total: 1,
    items: [{ id: newest.id, status: 500, app: { id }, replayOf: null }],
  });
  expect(node).toEqual({ requestId: 'third' });
});

test('records are for those who may write the app', async ({ admin, ann, bob, stranger, anonymous, service }) => {
  const id = await createApp(admin, 'Private');
  await admin.put(`/apps/${id}/shares/ann`, { accessLevel: 1 });
  const app = await appOf(service, id);
  await recordInOrder(service, [callOf(app, {}, { logs: [{ level: 'info', text: 'secret' }] })]);
  const [call] = (await admin.get(`/apps/${id}/webhooks/calls`)).body._embedded['svc:webhook-call'];
  const [line] = (await admin.get(`/apps/${id}/logs`)).body._embedded['svc:app-log'];
  const paths = ['webhooks', 'webhooks/calls', `webhooks/calls/${call.id}`, 'logs'];
  for (const path of paths) {
    await expectError(ann.get(`/apps/${id}/${path}`), 403, /app:write/);
    await expectError(bob.get(`/apps/${id}/${path}`), 404, /app/);
    await expectError(stranger.get(`/apps/${id}/${path}`), 404, /app/);
    await expectError(anonymous.get(`/apps/${id}/${path}`), 401, /authentication/);
  }
  const replay = `/apps/${id}/webhooks/calls/${call.id}/_replay`;
  await expectError(ann.post(replay), 403, /app:write/);
  await expectError(bob.post(replay), 404, /app/);
  await expectError(stranger.post(replay), 404, /app/);
  await expectError(anonymous.post(replay), 401, /authentication/);
  for (const field of ['webhooks { stats { date } }', 'webhookCalls { total }', 'logs { total }'])
    await expectGraphqlError(ann.gql(`{ app(id: "${id}") { ${field} } }`), 'FORBIDDEN', /app:write/);
  for (const record of [call, line])
    for (const client of [ann, bob, stranger])
      await expectGraphqlError(client.gql(`{ node(id: "${record.id}") { id } }`), 'NOT_FOUND', /no resource/);
  const other = await createApp(admin, 'Other');
  await expectError(admin.get(`/apps/${other}/webhooks/calls/${call.id}`), 404, /call of a webhook/);
  await expectError(admin.post(`/apps/${other}/webhooks/calls/${call.id}/_replay`), 404, /call of a webhook/);
  await expectError(admin.get(`/apps/${id}/webhooks/calls/none`), 404, /call of a webhook/);
});

import { expect, vi } from 'vitest';
import { recordEvents } from '../support/audit-fixture.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { createForm, ORDERS } from '../support/upload-form.ts';
import { createRenderable } from '../template/render-fixture.ts';
import { createApp } from './app-fixture.ts';
import { callApi, OUTER, parse, servicesFor } from './handler-services-fixture.ts';

const NEVER = new AbortController().signal;

test('a path calls the API as the caller of the handler', async ({ service, admin, ann, bob }) => {
  const appId = await createApp(admin, 'Caller');
  const services = await servicesFor(service, ann, appId);
  await expectBody(callApi(services, 'GET', '/api/session') as never, 200, {
    user: { id: ann.id },
    tenant: 'default',
    authMethod: 'app',
    expiresAt: null,
  });
  const created = await callApi(services, 'POST', '/api/reports', { name: 'By the app' });
  expect(created).toMatchObject({ status: 201, body: { name: 'By the app', ownerId: ann.id } });
  const { id: othersId } = await bob.creates('/reports', { name: 'Of bob' });
  await expectError(callApi(services, 'GET', `/api/reports/${othersId}`) as never, 404);
  await expectStatus(callApi(services, 'DELETE', `/api/reports/${created.body.id}`), 204);
  await expectStatus(ann.get(`/reports/${created.body.id}`), 404);
});

test('the scopes of the caller apply', async ({ service, admin, ann }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Reader'), {
    viewer: { scopes: new Set(['read']) },
  });
  await expectStatus(callApi(services, 'GET', '/api/reports'), 200);
  await expectError(callApi(services, 'POST', '/api/reports', { name: 'No' }) as never, 403, /lacks the scope write/);
});

test('responses have status and headers, and errors are responses', async ({ service, admin, ann }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Headers'));
  const { status, headers } = await callApi(services, 'GET', '/api/reports?limit=1');
  expect(status).toBe(200);
  expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': OUTER.id });
  const { headers: record } = await callApi(services, 'GET', '/api/me');
  const unchanged = await callApi(services, 'GET', '/api/me', undefined, {
    headers: { 'If-None-Match': record['etag'] },
  });
  expect(unchanged).toMatchObject({ status: 304, body: '' });
  await expectError(callApi(services, 'GET', '/api/nowhere') as never, 404, 'There is no route GET /api/nowhere');
  await expectStatus(callApi(services, 'PATCH', '/api/me'), 405);
  const invalid = await callApi(services, 'POST', '/api/reports', { name: '' });
  await expectError(invalid as never, 400, 'name must not be empty');
  const head = await callApi(services, 'head', '/api/me');
  expect(head).toMatchObject({ status: 200, body: '' });
});

test('the audit log has the caller, and the address of the request to the app', async ({ service, admin, ann }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Audited'));
  const headers = { 'X-Forwarded-For': '198.51.100.1', 'X-Request-Id': 'invented', 'X-Real-IP': '198.51.100.1' };
  const events = await recordEvents(service, () =>
    callApi(services, 'POST', '/api/reports', { name: 'Audited' }, { headers }),
  );
  expect(events).toMatchObject([
    {
      action: 'createReport',
      outcome: 'succeeded',
      userId: ann.id,
      username: 'ann',
      channel: 'app',
      address: OUTER.address,
      requestId: OUTER.id,
      tokenId: null,
      sessionId: null,
    },
  ]);
  const audit = await admin.get('/audit?channel=app&limit=1');
  expect(audit.body._embedded['svc:audit-event']).toMatchObject([{ action: 'createReport', channel: 'app' }]);
  const { auditEvents } = await admin.data('{ auditEvents(channel: APP, limit: 1) { items { action channel } } }');
  expect(auditEvents.items).toEqual([{ action: 'createReport', channel: 'APP' }]);
});

test('credentials and cookies of a handler have no effect, and it gets no cookies', async ({
  service,
  admin,
  ann,
  anonymous,
}) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Cookies'));
  const session = await service.login('admin');
  for (const headers of [
    { Authorization: admin.headers['authorization'] },
    { cookie: session.headers['cookie'] },
    { host: 'evil.example', 'sec-fetch-site': 'same-origin', Origin: 'http://evil.example' },
    { 'DWS-Internal-Call': 'x' },
    { Connection: 'upgrade', Upgrade: 'websocket', 'transfer-encoding': 'chunked', 'content-length': '5' },
  ])
    await expectBody(callApi(services, 'GET', '/api/session', undefined, { headers }) as never, 200, {
      user: { id: ann.id },
      authMethod: 'app',
    });
  const ended = await callApi(services, 'POST', '/api/logout');
  expect(ended.status).toBe(204);
  expect(Object.keys(ended.headers)).not.toContain('set-cookie');
  expect((await anonymous.post('/logout')).headers.getSetCookie()).toHaveLength(1);
  await expectStatus(session.get('/session'), 200);
});

test('nothing from outside can pretend to be a handler', async ({ service, admin, ann, anonymous }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Forged'));
  await expectStatus(callApi(services, 'GET', '/api/session'), 200);
  for (const key of ['', 'x', '__proto__', ann.id, 'a'.repeat(43)]) {
    const headers = { 'dws-internal-call': key };
    await expectError(anonymous.get('/session', headers), 401, 'Missing authentication');
    await expectBody(ann.get('/session', headers), 200, { authMethod: 'token' });
  }
});

test('only paths below /api are reached', async ({ service, admin, ann }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Paths'));
  const refused = [
    '/graphql',
    '/api',
    '/apis/me',
    '/',
    '//evil.example/api/me',
    '/\\evil.example/api/me',
    '\\\\evil.example/api/me',
    '/api/../graphql',
    '/api/%2e%2e/graphql',
    '/api/.%2E/graphql',
    '/api\\..\\graphql',
    '/api/x/../../graphql',
    '/\t/evil.example/api/me',
  ];
  for (const path of refused)
    await expect(callApi(services, 'POST', path, { query: '{ me { id } }' }), path).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^A path must start with \/api\//),
    });
  // Encoded slashes are part of a name.
  for (const path of ['/api/..%2fgraphql', '/api/%2e%2e%2fgraphql', '/api//graphql', '/api/;/graphql'])
    expect((await callApi(services, 'POST', path, { query: '{ me { id } }' })).status, path).toBe(404);
  for (const path of ['/api/x/../me', '/api/./me', '\\api\\me', '/api/me#x', '/x/../api/me'])
    await expectBody(callApi(services, 'GET', path) as never, 200, { id: ann.id });
});

test('a request that is not valid is refused before it is sent', async ({ service, admin, ann }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Invalid'));
  const send = (request: object) =>
    services.fetch({ method: 'GET', url: '/api/me', headers: {}, body: null, ...request }, NEVER);
  for (const [request, message] of [
    [{ method: 'CONNECT' }, 'fetch does not support the method CONNECT'],
    [{ method: 'GET / HTTP/1.1\r\nx: y' }, /^fetch does not support/],
    [{ body: Buffer.from('x') }, 'A request with GET has no body'],
    [{ headers: { 'x y': '1' } }, 'The header "x y" has a name that HTTP does not allow'],
    [{ headers: { x: '1\r\nauthorization: y' } }, 'The header "x" has a value that HTTP does not allow'],
    [{ headers: { x: '✓' } }, 'The header "x" has a value that HTTP does not allow'],
  ] as const)
    await expect(send(request)).rejects.toMatchObject({
      status: 400,
      message: message instanceof RegExp ? expect.stringMatching(message) : message,
    });
});

test('files are uploaded as bytes and as forms', async ({ service, admin }) => {
  const { path } = await createRenderable(admin, { assets: { 'a b.png': 'old' } });
  const url = `/api${path}/files/a%20b.png/contents`;
  const services = await servicesFor(service, admin, await createApp(admin, 'Uploads'));
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256));
  const put = { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: bytes };
  expect((await services.fetch({ ...put, url }, NEVER)).status).toBe(200);
  const stored = await fetch(`${admin.url}${url}`, { headers: admin.headers });
  expect(Buffer.from(await stored.arrayBuffer())).toEqual(bytes);
  const read = await services.fetch({ method: 'GET', url, headers: {}, body: null }, NEVER);
  expect(Buffer.from(read.body)).toEqual(bytes);

  const form = new Request('http://x', { method: 'POST', body: createForm(ORDERS) });
  const upload = await services.fetch(
    {
      method: 'POST',
      url: '/api/datasets/_upload',
      headers: { 'content-type': form.headers.get('content-type')! },
      body: Buffer.from(await form.arrayBuffer()),
    },
    NEVER,
  );
  const { id } = parse(upload).body;
  await expectBody(admin.get(`/datasets/${id}/data`), 200, { total: 3 });
});

test('a response may have 10 MB', async ({ service, admin }) => {
  const services = await servicesFor(service, admin, await createApp(admin, 'Large'));
  const line = `${'x'.repeat(9999)}\n`;
  const datasetOf = async (lines: number): Promise<string> => {
    const { body } = await admin.request('POST', '/api/datasets/_upload', createForm(`text\n${line.repeat(lines)}`));
    return body.id;
  };
  const url = async (lines: number) => `/api/datasets/${await datasetOf(lines)}/export?format=csv`;
  const { status, body } = await callApi(services, 'GET', await url(900));
  expect(status).toBe(200);
  expect(body.length).toBeGreaterThan(9_000_000);
  await expect(callApi(services, 'GET', await url(1001))).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    message: 'The response has more than 10000000 bytes',
  });
});

test('calls count for the limit of the caller', async () => {
  const service = await startService({ RATE_LIMIT_API: '5' });
  try {
    const ann = await service.user('ann', { permissions: ['apps:create'] });
    const services = await servicesFor(service, ann, await createApp(ann, 'Limited'));
    const statuses = [];
    for (let call = 0; call < 6; call++) statuses.push((await callApi(services, 'GET', '/api/me')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    await expectStatus(ann.get('/me'), 429);
  } finally {
    await service.close();
  }
});

test('a stream ends with the run, and so does the work for it', async () => {
  const service = await startService({ ROLE: 'web' });
  try {
    const ann = await service.user('ann', { permissions: ['apps:create'] });
    const appId = await createApp(ann, 'Streams', { 'server/x.ts': 'export const get = () => 1;' });
    const queued = await ann.post(`/apps/${appId}/_deploy`, undefined, { prefer: 'respond-async' });
    expect(queued.status).toBe(202);
    let listeners = 0;
    const on = service.platform.notifications.on.bind(service.platform.notifications);
    const subscribed = Promise.withResolvers<void>();
    vi.spyOn(service.platform.notifications, 'on').mockImplementation((channel, listener) => {
      const stop = on(channel, listener);
      listeners += 1;
      subscribed.resolve();
      return () => {
        listeners -= 1;
        stop();
      };
    });
    const services = await servicesFor(service, ann, appId);
    const run = new AbortController();
    const events = callApi(services, 'GET', `/api/progress/${queued.body.id}/events`, undefined, {
      signal: run.signal,
    });
    await subscribed.promise;
    expect(listeners).toBeGreaterThan(0);
    run.abort(new Error('The run has ended'));
    await expect(events).rejects.toThrow('The run has ended');
    await expect.poll(() => listeners).toBe(0);
    await expect(callApi(services, 'GET', '/api/me', undefined, { signal: run.signal })).rejects.toThrow(
      'The run has ended',
    );
  } finally {
    await service.close();
  }
});

test('handlers call each other at most 3 deep', async ({ service, admin }) => {
  const appId = await createApp(admin, 'Deep');
  const { id: template } = await admin.creates('/templates', { name: 'Deep', handler: 'html' });
  const deepest = await servicesFor(service, admin, appId, { depth: 2 });
  for (const path of [`/api/templates/${template}/_render`, `/api/templates/${template}/%5frender`])
    await expectError(
      callApi(deepest, 'POST', path, {}) as never,
      503,
      'Handlers call view, _hook and _render at most 3 deep',
    );
  await expectStatus(callApi(deepest, 'GET', '/api/me'), 200);
  const above = await servicesFor(service, admin, appId, { depth: 1 });
  expect((await callApi(above, 'POST', `/api/templates/${template}/_render`, {})).status).not.toBe(503);
});

test('a process without the API says so', async ({ service, admin, ann }) => {
  const services = await servicesFor(service, ann, await createApp(admin, 'Worker'), {
    platform: { internalApi: null },
  });
  await expect(callApi(services, 'GET', '/api/me')).rejects.toMatchObject({ status: 503, code: 'UNAVAILABLE' });
});

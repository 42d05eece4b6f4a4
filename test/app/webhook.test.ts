import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createApp } from './app-fixture.ts';
import { deployApp, echo, sendRaw, startSecond, WEBHOOK_METHODS } from './echo-app.ts';
import { recordedCalls } from './webhook-calls.ts';

const UNKNOWN = '019a0000-0000-7000-8000-000000000000';
const NO_OWNER = 'The app has no owner who can act';
const ROUTES = {
  'webhooks/index.js': echo(WEBHOOK_METHODS),
  'webhooks/orders/[id].js': echo(['post']),
  'webhooks/small.js': echo(['post'], { maxBody: 10 }),
};

describe('who may call a webhook', () => {
  test('is anyone; the handler sees the owner, whatever credentials are sent', async ({
    admin,
    anonymous,
    ann,
    stranger,
    service,
  }) => {
    const owner = await service.user('owner', { permissions: ['apps:create'] });
    const app = await deployApp(owner, 'Public', ROUTES);
    const session = await service.login(admin.username);
    const callers = {
      anonymous,
      owner,
      admin,
      ann,
      stranger,
      session: new Client(service.url, { cookie: session.headers['cookie']!, 'sec-fetch-site': 'cross-site' }),
      'invalid token': new Client(service.url, { authorization: `Bearer dws_${'x'.repeat(43)}` }),
      'invalid session': new Client(service.url, { cookie: `dws_session=${'x'.repeat(43)}` }),
      'other credentials': new Client(service.url, { authorization: 'Basic eDp5' }),
    };
    for (const [name, caller] of Object.entries(callers))
      for (const method of ['GET', 'POST', 'PUT']) {
        const { status, body } = await caller.request(method, `/api/apps/${app}/_hook`);
        expect({ name, status, method: body.method, user: body.user, roles: body.roles }).toEqual({
          name,
          status: 200,
          method,
          user: { id: owner.id, name: 'owner', type: 'user', username: 'owner' },
          roles: [],
        });
        for (const hidden of ['authorization', 'cookie']) expect(body.headers).not.toHaveProperty(hidden);
      }
  });

  test('is not counted as a guess of credentials, and limited per app; an address has half of it', async () => {
    const limits = { RATE_LIMIT_API: '50', RATE_LIMIT_WEBHOOK: '20', TRUST_PROXY: 'loopback' };
    const service = await startService(limits);
    const admin = await service.user('admin', { superuser: true });
    const apps = [await deployApp(admin, 'One', ROUTES), await deployApp(admin, 'Two', ROUTES)];
    const guessing = new Client(service.url, { authorization: `Bearer dws_${'x'.repeat(43)}` });
    const call = (id: string, address: string) =>
      guessing.post(`/apps/${id}/_hook`, undefined, { 'x-forwarded-for': address });
    const responses = await Promise.all(Array.from({ length: 60 }, () => call(apps[0]!, '203.0.113.1')));
    let passed = responses.filter(({ status }) => status === 200).length;
    // The minute may end in between.
    expect(passed).toBeGreaterThanOrEqual(10);
    expect(passed).toBeLessThanOrEqual(20);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(60 - passed);
    const policies = responses.map(({ headers }) => headers.get('ratelimit-policy')).filter(Boolean);
    expect(new Set(policies)).toEqual(new Set(['"webhook";q=10;w=60']));
    expect((await call(apps[1]!, '203.0.113.1')).status).toBe(200);
    await expectStatus(admin.get('/me'), 200);
    let last = await call(apps[0]!, '203.0.113.2');
    expect(last.status).toBe(200);
    for (let n = 3; last.status === 200; passed += 1, n += 1) last = await call(apps[0]!, `203.0.113.${n}`);
    expect([last.status, last.headers.get('ratelimit-policy')]).toEqual([429, '"webhook";q=20;w=60']);
    // Calls above a limit are not recorded one by one.
    expect(await recordedCalls(admin, apps[0]!)).toHaveLength(passed);
    await service.close();
  });
});

describe('a webhook', () => {
  test('is found by UUID and natural id; all else is the same 404', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Named', ROUTES);
    const draft = await createApp(admin, 'Undeployed', ROUTES);
    const post = async (id: string, path = '/orders/7') => {
      const { status, body } = await anonymous.post(`/apps/${id}/_hook${path}`);
      return { status, body };
    };
    for (const id of [app, app.toUpperCase(), 'default:named', 'default%3Anamed'])
      expect(await post(id), id).toMatchObject({ status: 200, body: { path: '/orders/7', params: { id: '7' } } });
    const unknown = await post(UNKNOWN);
    expect(unknown).toEqual({
      status: 404,
      body: { statusCode: 404, error: 'Not Found', message: 'There is no route POST /orders/7', code: 'NOT_FOUND' },
    });
    for (const id of [draft, 'named', 'other:named', 'default:no-such', 'default:', ':', 'a%00b', `${app}%20`])
      expect(await post(id), id).toEqual(unknown);
    const message = 'There is no route POST /orders';
    expect(await post(app, '/orders')).toEqual({ ...unknown, body: { ...unknown.body, message } });
    expect(await anonymous.get(`/apps/${app}/view`)).toMatchObject({ status: 401 });
  });

  test('has another status for a wrong method and for a body that is too large', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Limits', ROUTES);
    const { status, headers } = await anonymous.put(`/apps/${app}/_hook/orders/7`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    for (const method of ['PATCH', 'DELETE', 'HEAD']) {
      const response = await sendRaw(anonymous, method, `/apps/${app}/_hook/orders/7`);
      expect([method, response.status, response.headers.allow]).toEqual([method, 405, 'POST, OPTIONS']);
      expect((await sendRaw(anonymous, method, `/apps/${app}/_hook/nowhere`)).status).toBe(404);
    }
    const options = await sendRaw(anonymous, 'OPTIONS', `/apps/${app}/_hook/orders/7`);
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, POST, PUT, OPTIONS']);
    for (const headers of [{}, { 'content-length': '11' }] as Record<string, string>[]) {
      const large = await sendRaw(anonymous, 'POST', `/apps/${app}/_hook/small`, {
        headers,
        body: '0123456789' + ('content-length' in headers ? '' : '0'),
        unfinished: true,
      });
      expect(large.status).toBe(413);
    }
    await expectStatus(anonymous.request('POST', `/api/apps/${app}/_hook/small`, '0123456789'), 200);
    await expectStatus(sendRaw(anonymous, 'POST', `/apps/${app}/_hook/orders/%ff`), 400);
  });

  test('is recorded with its route, status and message for authors', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Recorded', ROUTES);
    await anonymous.post(`/apps/${app}/_hook/orders/7?a=1`, { order: 7 });
    await anonymous.post(`/apps/${app}/_hook/orders/7`, 'x', { 'x-respond': '{"status":422}' });
    const failed = await anonymous.post(`/apps/${app}/_hook/orders/7?fail=boom`);
    expect(failed).toMatchObject({ status: 500, body: { code: 'UPSTREAM_FAILED', message: 'The handler failed' } });
    // Not even authors get the message of a public route.
    await expectError(admin.post(`/apps/${app}/_hook/orders/7?fail=boom`), 500, 'The handler failed');
    await anonymous.get(`/apps/${app}/_hook/orders/7`);
    await anonymous.post(`/apps/${app}/_hook/no/route`);
    await anonymous.post(`/apps/${app}/_hook/small`, 'more than ten');
    const order = { method: 'post', path: '/orders/7', route: '/orders/:id', error: null, replayable: true };
    const unread = { ...order, route: null, replayable: false };
    expect(await recordedCalls(admin, app)).toEqual([
      { ...order, status: 200 },
      { ...order, status: 422 },
      { ...order, status: 500, error: 'webhooks/orders/[id].js:4: boom' },
      { ...order, status: 500, error: 'webhooks/orders/[id].js:4: boom' },
      { ...unread, method: 'get', status: 405, error: '/orders/7 does not support GET' },
      { ...unread, path: '/no/route', status: 404, error: 'There is no route POST /no/route' },
      {
        ...unread,
        path: '/small',
        route: '/small',
        status: 413,
        error: 'The body is larger than the maximum of 10 bytes',
      },
    ]);
  });
});

describe('the owner of an app', () => {
  const userOf = async (app: string, client: Client) => {
    const { status, body } = await client.post(`/apps/${app}/_hook`);
    return status === 200 ? body.user : { status, message: body.message };
  };
  const NOBODY = { status: 503, message: NO_OWNER };

  test('counts immediately: disabled, locked, enabled, replaced', async ({ admin, anonymous, service }) => {
    const [cara, dora] = [await service.user('cara', { permissions: ['apps:create'] }), await service.user('dora')];
    await expectStatus(cara.put('/me', { displayName: 'Cara C.' }), 200);
    const app = await deployApp(cara, 'Owned', ROUTES);
    const second = await startSecond(service);
    const elsewhere = new Client(second.url);
    const expectUser = async (user: object) => {
      for (const client of [anonymous, elsewhere]) expect(await userOf(app, client)).toEqual(user);
    };
    const CARA = { id: cara.id, name: 'Cara C.', type: 'user', username: 'cara' };
    await expectUser(CARA);
    await admin.put('/users/cara', { enabled: false });
    await expectUser(NOBODY);
    await admin.put('/users/cara', { enabled: true });
    await expectUser(CARA);
    await admin.put('/users/cara', { locked: true });
    await expectUser(NOBODY);
    await admin.put('/users/cara', { locked: false });
    await expectUser(CARA);
    await expectStatus(admin.put(`/apps/${app}/owner`, { ownerId: dora.id }), 200);
    await expectUser(NOBODY);
    await expectStatus(dora.post(`/apps/${app}/_deploy`), 200);
    await expectUser({ id: dora.id, name: 'dora', type: 'user', username: 'dora' });
    expect((await recordedCalls(admin, app)).filter(({ status }) => status === 503)).toEqual(
      [1, 2, 3, 4, 5, 6].map(() => ({
        method: 'post',
        path: '/',
        route: '/',
        status: 503,
        error: NO_OWNER,
        replayable: true,
      })),
    );
    await second.close();
  });

  test('may be a team', async ({ admin, anonymous }) => {
    const { id } = await admin.creates('/teams', { name: 'Shop' });
    const app = await deployApp(admin, 'Of a team', ROUTES);
    await expectStatus(admin.put(`/apps/${app}/owner`, { ownerId: `team:${id}` }), 200);
    expect(await userOf(app, anonymous)).toEqual({ id: `team:${id}`, name: 'Shop', type: 'team', username: null });
  });

  test('who was deleted cannot act', async ({ admin, anonymous, service }) => {
    const owner = await service.user('leaving', { permissions: ['apps:create'] });
    const app = await deployApp(owner, 'Left behind', ROUTES);
    await expectBody(anonymous.post(`/apps/${app}/_hook`), 200, { user: { id: owner.id } });
    await service.platform.system.query({
      text: `update dws.app set owner_id = $2 where id = $1`,
      values: [app, `user:${UNKNOWN}`],
    });
    expect(await userOf(app, anonymous)).toEqual(NOBODY);
    await admin.delete(`/apps/${app}`);
    expect(await userOf(app, anonymous)).toMatchObject({ status: 404 });
  });
});

describe('a webhook with config.verify', () => {
  const SECRET = 'shop secret';
  const VERIFY = { verify: { scheme: 'hmac', secret: 'SHOP_SECRET' } };
  const sign = (text: string, secret = SECRET) => createHmac('sha256', secret).update(text).digest('hex');

  test('runs no code for a wrong signature', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Verified', { 'webhooks/index.js': echo(['post'], VERIFY) });
    await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: SECRET } });
    const body = '{"order": 7}';
    const post = (signature: string, sent = body) =>
      anonymous.request('POST', `/api/apps/${app}/_hook?fail=ran`, sent, { 'x-signature': signature });
    for (const signature of [sign('other'), sign(body, 'other'), '', 'x'])
      await expectError(post(signature), 401, 'The signature is wrong');
    await expectError(post(sign(body), `${body} `), 401, 'The signature is wrong');
    const right = { 'x-signature': sign(body) };
    await expectBody(anonymous.request('POST', `/api/apps/${app}/_hook`, body, right), 200, { rawBody: body });
    await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: 'new' } });
    await expectError(post(sign(body)), 401, 'The signature is wrong');
    expect(
      (await recordedCalls(admin, app)).map(({ status, error, replayable }) => [status, error, replayable]),
    ).toEqual([
      ...[1, 2, 3, 4, 5].map(() => [401, 'The signature is wrong', false]),
      [200, null, true],
      [401, 'The signature is wrong', false],
    ]);
  });

  test('is repeated without a check of signature and key', async ({ admin, anonymous }) => {
    const config = { ...VERIFY, idempotency: { header: 'x-key' } };
    const app = await deployApp(admin, 'Repeated', { 'webhooks/[id].js': echo(['post'], config) });
    await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: SECRET } });
    const headers = { 'x-signature': sign('body'), 'x-key': 'k' };
    const path = 'a%2Fb%25?c=1&c=2';
    const sent = await anonymous.request('POST', `/api/apps/${app}/_hook/${path}`, 'body', headers);
    await expectBody(sent, 200, { params: { id: 'a/b%' }, query: { c: ['1', '2'] }, rawBody: 'body' });
    await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: 'replaced' } });
    const [call] = (await admin.get(`/apps/${app}/webhooks/calls`)).body._embedded['svc:webhook-call'];
    const replayed = await expectBody(admin.post(`/apps/${app}/webhooks/calls/${call.id}/_replay`), 200, {
      replayOf: call.id,
      status: 200,
      route: '/:id',
    });
    // The handler ran: the response of the key was not repeated.
    expect(replayed.peakMemory).toBeGreaterThan(0);
  });

  test('fails without its variable, which only authors learn', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Unset', { 'webhooks/index.js': echo(['post'], VERIFY) });
    await expectError(anonymous.post(`/apps/${app}/_hook`), 500, 'The handler failed');
    const error = 'The environment variable SHOP_SECRET of config.verify is missing';
    expect(await recordedCalls(admin, app)).toEqual([
      { method: 'post', path: '/', route: '/', status: 500, error, replayable: false },
    ]);
  });
});

describe('a call of a webhook', () => {
  const FILES = {
    'webhooks/slow.js': `
      export const post = async ({ request, emit }) => {
        if (!request.query.hang) return 1;
        await emit('started');
        await new Promise(() => setTimeout(() => {}, 60_000));
      };
      export const config = { timeout: 60_000, idempotency: { header: 'x-key' } };`,
  };

  const waitForStart = (service: Service, app: string) =>
    expect
      .poll(() => systemQuery(service, `select from dws.app_event where app_id = $1 and name = 'started'`, app))
      .toHaveLength(1);

  test('ends when its caller disconnects, and releases its key', async ({ admin, anonymous, service }) => {
    const app = await deployApp(admin, 'Slow', FILES);
    const path = `/api/apps/${app}/_hook/slow`;
    const headers = { 'x-key': 'k' };
    const leaving = new AbortController();
    const left = fetch(`${anonymous.url}${path}?hang=1`, { method: 'POST', headers, signal: leaving.signal });
    await waitForStart(service, app);
    await expectStatus(anonymous.request('POST', `${path}?hang=1`, undefined, headers), 409);
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/);
    const ended = async () => (await recordedCalls(admin, app)).find(({ status }) => status === 499);
    await expect.poll(ended).toMatchObject({ route: '/slow', error: 'The caller disconnected' });
    await expectBody(anonymous.request('POST', path, undefined, headers), 200, {});
  });

  test('is 404 when its app is deleted while it runs', async ({ admin, anonymous, service }) => {
    const app = await deployApp(admin, 'Deleted', FILES);
    const running = anonymous.post(`/apps/${app}/_hook/slow?hang=1`, undefined, { 'x-key': 'k' });
    await waitForStart(service, app);
    await expectStatus(admin.delete(`/apps/${app}`), 204);
    await expectError(running, 404, 'There is no route POST /slow');
    const charged = `
      select resource_type as resource, actor, quantity > 0 as "isPositive" from dws.usage_event
      where entity_id = $1`;
    expect(await systemQuery(service, charged, app)).toEqual([
      { resource: 'app_compute', actor: `user:${admin.id}`, isPositive: true },
    ]);
  });
});

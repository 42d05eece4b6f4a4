import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { fillHookTokens } from '../../src/services/app/hook-token.ts';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createApp } from './app-fixture.ts';
import { deployApp, echo, openBodies, startSecond } from './echo-app.ts';
import { recordedCalls } from './webhook-calls.ts';

const VERIFY = { verify: { scheme: 'hmac', secret: 'SHOP_SECRET' } };
const ROUTES = {
  'webhooks/index.js': echo(['get', 'post', 'put']),
  'webhooks/orders/[id].js': echo(['post']),
  'webhooks/private.js': echo(['post'], { token: true }),
  'webhooks/signed.js': echo(['post'], VERIFY),
  'webhooks/large.js': echo(['post'], { maxBody: 10_000_000 }),
};

const tokenOf = async (client: Client, app: string) => (await client.get(`/apps/${app}/webhooks`)).body.hookToken;
const rotate = (client: Client, app: string, input: object = {}) =>
  client.post(`/apps/${app}/_rotate-hook-token`, input);

describe('the hook token of an app', () => {
  test('calls its webhooks as their id does', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'By token', ROUTES);
    const { token, url, formerUntil } = await tokenOf(admin, app);
    expect(token).toMatch(/^[\w-]{22}$/);
    expect([url, formerUntil]).toEqual([`http://127.0.0.1/api/hooks/${token}`, null]);
    for (const method of ['GET', 'POST', 'PUT'])
      await expectBody(anonymous.request(method, `/api/hooks/${token}`), 200, {
        method,
        path: '/',
      });
    await expectBody(anonymous.post(`/hooks/${token}/orders/7%2F8?a=1`), 200, {
      path: '/orders/7%2F8',
      params: { id: '7/8' },
      query: { a: '1' },
      user: { id: admin.id },
    });
    await expectError(anonymous.post(`/hooks/${token}/none`), 404, 'There is no route POST /none');
    for (const wrong of [`${token}x`, token.slice(1), app, 'x'])
      await expectError(anonymous.post(`/hooks/${wrong}`), 404, 'There is no route POST /');
    // It is not in the records.
    expect(JSON.stringify((await admin.get(`/apps/${app}/webhooks/calls`)).body)).not.toContain(token);
    expect((await recordedCalls(admin, app)).map(({ path }) => path)).toContain('/orders/7%2F8');
  });

  test('is required by a route with config.token', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Private', ROUTES);
    const { token } = await tokenOf(admin, app);
    await expectStatus(anonymous.post(`/hooks/${token}/private`), 200);
    const body = 'x'.repeat(100);
    await expectError(
      anonymous.request('POST', `/api/apps/${app}/_hook/private`, body),
      401,
      'The route requires the hook token of the app',
    );
    const stats = async () => (await admin.get(`/apps/${app}/webhooks`)).body.stats;
    await expect.poll(stats).toEqual([expect.objectContaining({ refused: [{ reason: 'token', count: 1 }] })]);
    const wrong = await createApp(admin, 'Wrong', { 'webhooks/x.js': echo(['post'], { token: 1 }) });
    const { status, body: mistake } = await admin.post(`/apps/${wrong}/_deploy`);
    expect([status, mistake.validation[0].message]).toEqual([400, expect.stringContaining('config.token must be')]);
  });

  test('is replaced, in both APIs and in every process', async ({ admin, anonymous, service }) => {
    const app = await deployApp(admin, 'Rotated', ROUTES);
    const second = await startSecond(service);
    const elsewhere = new Client(second.url);
    // With the right token it is 405, without a run in the second process.
    const statusOf = async (token: string) => {
      const statuses = await Promise.all(
        [anonymous, elsewhere].map((client) => client.get(`/hooks/${token}/orders/7`)),
      );
      return statuses.map(({ status }) => status);
    };
    const first = (await tokenOf(admin, app)).token;
    const before = Date.now();
    const kept = await expectBody(rotate(admin, app, { keepOldSeconds: 604_800 }), 200, {});
    expect(kept.token).not.toBe(first);
    expect(Math.abs(Date.parse(kept.formerUntil) - before - 604_800_000)).toBeLessThan(600_000);
    expect(await tokenOf(admin, app)).toMatchObject({ token: kept.token, formerUntil: kept.formerUntil });
    expect([await statusOf(first), await statusOf(kept.token)]).toEqual([
      [405, 405],
      [405, 405],
    ]);
    const past = `update dws.app_hook_token set former_until = now() where app_id = $1`;
    await systemQuery(service, past, app);
    expect(await statusOf(first)).toEqual([404, 404]);
    const { rotateHookToken } = await admin.data(
      `mutation { rotateHookToken(id: "${app}") { token url formerUntil } }`,
    );
    expect(rotateHookToken).toEqual({
      token: rotateHookToken.token,
      url: `http://127.0.0.1/api/hooks/${rotateHookToken.token}`,
      formerUntil: null,
    });
    expect([await statusOf(kept.token), await statusOf(rotateHookToken.token)]).toEqual([
      [404, 404],
      [405, 405],
    ]);
    for (const keepOldSeconds of [-1, 604_801]) {
      await expectError(rotate(admin, app, { keepOldSeconds }), 400);
      await expectGraphqlError(
        admin.gql(`mutation { rotateHookToken(id: "${app}", keepOldSeconds: ${keepOldSeconds}) { token } }`),
        'BAD_USER_INPUT',
      );
    }
    await second.close();
  });

  test('is seen with app:write and the scope write, stored encrypted', async ({ admin, ann, service }) => {
    const app = await deployApp(admin, 'Hidden', {
      'server/read.js': `export const get = async ({ fetch, context }) =>
        (await fetch('/api/apps/' + context.app.id + '/webhooks')).json();
        export const post = async ({ fetch, context }) =>
          (await fetch('/api/apps/' + context.app.id + '/_rotate-hook-token', { method: 'POST' })).status;`,
    });
    const { token } = await tokenOf(admin, app);
    const reader = await service.user('reading', { superuser: true, scopes: ['read'] });
    expect(await tokenOf(reader, app)).toBeNull();
    await expectStatus(rotate(reader, app), 403);
    await expectStatus(ann.get(`/apps/${app}/webhooks`), 404);
    await admin.put(`/apps/${app}/shares/${ann.id}`, { accessLevel: 1 });
    await expectStatus(ann.get(`/apps/${app}/webhooks`), 403);
    await expectStatus(rotate(ann, app), 403);
    // Nor do handlers get it, or another one.
    await expectBody(admin.get(`/apps/${app}/view/read`), 200, { hookToken: null });
    expect((await admin.post(`/apps/${app}/view/read`)).body).toBe(403);
    const [row] = await systemQuery(service, `select k::text as text from dws.app_hook_token k where app_id = $1`, app);
    expect(row!['text']).not.toContain(token);
  });

  test('is given to apps without one', async ({ admin, service }) => {
    const app = await createApp(admin, 'Older');
    await systemQuery(service, `delete from dws.app_hook_token where app_id = $1`, app);
    expect(await tokenOf(admin, app)).toBeNull();
    await service.platform.system.transaction((query) => fillHookTokens(query, service.platform.secrets));
    const { token } = await tokenOf(admin, app);
    expect(token).toMatch(/^[\w-]{22}$/);
    await service.platform.system.transaction((query) => fillHookTokens(query, service.platform.secrets));
    expect((await tokenOf(admin, app)).token).toBe(token);
  });
});

test('calls by token have limits of their own', async () => {
  const lines: string[] = [];
  const service = await startService(
    { RATE_LIMIT_WEBHOOK: '4', LOG_LEVEL: 'trace' },
    { log: { write: (line) => void lines.push(line) } },
  );
  const admin = await service.user('admin', { superuser: true });
  const app = await deployApp(admin, 'Limited', ROUTES);
  await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: 'secret' } });
  const { token } = await tokenOf(admin, app);
  const anyone = new Client(service.url);
  const statusOf = async (path: string, headers = {}) =>
    (await anyone.request('POST', `/api${path}`, 'x', headers)).status;
  // Past the refused calls of the address, its calls by token pass.
  for (let n = 0; n < 61; n++) await statusOf(`/apps/${app}/_hook/signed`, { 'x-signature': 'x' });
  const bodies = openBodies(anyone, `/apps/${app}/_hook/large`, { count: 3, bytes: 4_000_000 });
  expect(await statusOf(`/hooks/${token}/signed`, { 'x-signature': 'x' })).toBe(401);
  const signature = createHmac('sha256', 'secret').update('x').digest('hex');
  expect(await statusOf(`/hooks/${token}/signed`, { 'x-signature': signature })).toBe(200);
  const statuses: number[] = [];
  while (!statuses.includes(429) && statuses.length < 20) statuses.push(await statusOf(`/hooks/${token}`));
  expect(statuses.at(-1)).toBe(429);
  bodies.close();
  expect(lines.join('')).toContain('/api/hooks/:token');
  expect(lines.join('')).not.toContain(token);
  await service.close();
});

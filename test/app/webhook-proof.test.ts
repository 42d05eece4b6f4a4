import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { deployApp, echo, openBodies, poolsOf, sendRaw, startSecond } from './echo-app.ts';
import { recordedCalls } from './webhook-calls.ts';

const SECRET = 'shop secret';
const VERIFY = { verify: { scheme: 'hmac', secret: 'SHOP_SECRET' } };
const LARGE = `export const post = () => 1; export const config = { maxBody: 10_000_000 };`;
const ROUTES = { 'webhooks/signed.js': echo(['post'], VERIFY), 'webhooks/open.js': echo(['post', 'get']) };
const sign = (text: string) => ({ 'x-signature': createHmac('sha256', SECRET).update(text).digest('hex') });
const from = (address: string) => ({ 'x-forwarded-for': address });

/** Deploys an app whose secret is set. Returns its id. */
async function deploySigned(admin: Client, name: string): Promise<string> {
  const app = await deployApp(admin, name, ROUTES);
  await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: SECRET } });
  return app;
}

const refusedOf = async (admin: Client, app: string) => {
  const { stats } = (await admin.get(`/apps/${app}/webhooks`)).body;
  return (stats as { method: string; path: string; count: number; refused: object[] }[])
    .filter(({ refused }) => refused.length > 0)
    .map(({ method, path, count, refused }) => ({ method, path, count, refused }));
};

/** Starts a service behind a proxy, so that calls may come from any address. */
const startBehindProxy = async (variables: Record<string, string> = {}) => {
  const service = await startService({ TRUST_PROXY: 'loopback', ...variables });
  const admin = await service.user('admin', { superuser: true });
  return { service, admin, anyone: new Client(service.url) };
};

const callerOf = (client: Client, app: string) => ({
  forge: async (address: string) =>
    (await client.request('POST', `/api/apps/${app}/_hook/signed`, '{}', { 'x-signature': 'x', ...from(address) }))
      .status,
  send: async (address: string) =>
    (await client.request('POST', `/api/apps/${app}/_hook/signed`, '{}', { ...sign('{}'), ...from(address) })).status,
});

describe('wrong signatures of one address', () => {
  test('do not stop right ones of others, in each process', async () => {
    const { service, admin, anyone } = await startBehindProxy({ RATE_LIMIT_WEBHOOK: '20' });
    const app = await deploySigned(admin, 'Attacked');
    const { forge, send } = callerOf(anyone, app);
    const statuses: number[] = [];
    // The minute may end in between.
    while (!statuses.includes(429) && statuses.length < 200) statuses.push(await forge('203.0.113.1'));
    const refused = statuses.filter((status) => status === 401).length;
    expect(refused).toBeGreaterThanOrEqual(60);
    expect(statuses).toHaveLength(refused + 1);
    // Only the address is refused.
    expect(await send('203.0.113.2')).toBe(200);
    const second = await startSecond(service);
    const elsewhere = callerOf(new Client(second.url, {}), app);
    expect(await elsewhere.forge('203.0.113.2')).toBe(401);
    await second.close();
    expect((await admin.get(`/apps/${app}/webhooks/calls?limit=1`)).body.total).toBe(refused + 2);
    // The address is refused before a route is looked for.
    const reasons = async () =>
      new Map((await refusedOf(admin, app)).map(({ path, refused: ofPath }) => [path, ofPath]));
    await expect.poll(reasons).toEqual(
      new Map([
        ['/signed', [{ reason: 'signature', count: refused + 1 }]],
        ['*', [{ reason: 'address', count: 1 }]],
      ]),
    );
    await service.close();
  });

  test('are counted by all processes, and by network for IPv6', async () => {
    const { service, admin, anyone } = await startBehindProxy();
    const app = await deploySigned(admin, 'Shared');
    const second = await startService(
      { ROLE: 'web', DATA_DIR: service.platform.config.DATA_DIR, TRUST_PROXY: 'loopback' },
      { databaseUrl: service.databaseUrl },
    );
    const [here, there] = [callerOf(anyone, app), callerOf(new Client(second.url), app)];
    let n = 0;
    const next = () => `2001:db8:1:2::${(n++).toString(16)}`;
    await expect
      .poll(
        async () => {
          for (let calls = 0; calls < 30; calls++) await here.forge(next());
          return there.forge(next());
        },
        { interval: 1100, timeout: 15_000 },
      )
      .toBe(429);
    expect(await there.forge('2001:db8:1:3::1')).toBe(401);
    await second.close();
    await service.close();
  });
});

describe('bodies that do not arrive', () => {
  test('occupy no memory of the app', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Flooded', { 'webhooks/large.js': LARGE });
    const path = `/apps/${app}/_hook/large`;
    const bodies = openBodies(anonymous, path, { count: 40 });
    const { status } = await sendRaw(anonymous, 'POST', path, { body: Buffer.alloc(8_000_000) });
    expect(status).toBe(200);
    bodies.close();
  });

  test('of one address occupy a quarter of it, however many there are', async () => {
    const { service, admin, anyone } = await startBehindProxy();
    const app = await deployApp(admin, 'Occupied', { 'webhooks/large.js': LARGE });
    const path = `/apps/${app}/_hook/large`;
    const bodies = openBodies(anyone, path, {
      count: 20,
      bytes: 3_000_000,
      headersOf: () => from('203.0.113.1'),
    });
    expect(await bodies.firstStatus).toBe(503);
    const send = (address: string) =>
      sendRaw(anyone, 'POST', path, { headers: from(address), body: Buffer.alloc(8_000_000) });
    expect((await send('203.0.113.1')).status).toBe(503);
    for (const address of ['203.0.113.2', '203.0.113.3']) expect((await send(address)).status).toBe(200);
    bodies.close();
    await service.close();
  });

  test('at most 64 calls of an address and route are open concurrently', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Open', { 'webhooks/large.js': LARGE, 'webhooks/open.js': echo(['post']) });
    const path = `/apps/${app}/_hook/large`;
    const bodies = openBodies(anonymous, path, { count: 65 });
    expect(await bodies.firstStatus).toBe(429);
    await expectStatus(anonymous.post(`/apps/${app}/_hook/open`), 200);
    bodies.close();
    await expect
      .poll(() => refusedOf(admin, app))
      .toContainEqual(
        expect.objectContaining({ path: '/large', refused: expect.arrayContaining([{ reason: 'address', count: 1 }]) }),
      );
  });

  test('end with 408, and their connections are destroyed', async () => {
    const service = await startService({}, { bodyLimits: { idleMs: 50, checkMs: 10, closeMs: 50 } });
    const admin = await service.user('admin', { superuser: true });
    const app = await deployApp(admin, 'Slow', { 'webhooks/large.js': LARGE, 'server/large.js': LARGE });
    for (const [client, path] of [
      [new Client(service.url), `/apps/${app}/_hook/large`],
      [admin, `/apps/${app}/view/large`],
    ] as const) {
      const bodies = openBodies(client, path, { count: 3 });
      expect(await bodies.firstStatus).toBe(408);
      await bodies.closed;
    }
    expect((await recordedCalls(admin, app)).map(({ status }) => status)).toEqual([408, 408, 408]);
    await expect
      .poll(() => refusedOf(admin, app))
      .toEqual([{ method: 'post', path: '/large', count: 3, refused: [{ reason: 'timeout', count: 3 }] }]);
    await service.close();
  });
});

test('callers without proof take neither memory, places nor calls from proven ones and views', async () => {
  const service = await startService(
    { TRUST_PROXY: 'loopback', RATE_LIMIT_WEBHOOK: '10' },
    { bodyLimits: { poolBytes: poolsOf(400) } },
  );
  const admin = await service.user('admin', { superuser: true });
  const anyone = new Client(service.url);
  const files = {
    ...ROUTES,
    'webhooks/waiting.js': `export const config = { timeout: 120_000 };
      export const post = () => new Promise((resolve) => setTimeout(resolve, 110_000));`,
    'server/open.js': echo(['post']),
  };
  const [limited, full] = [await deployApp(admin, 'Limited', files), await deployApp(admin, 'Full', files)];
  const body = 'x'.repeat(100);
  /** Returns the status of a call, and the error of one that failed. */
  const statusOf = async (path: string, headers: Record<string, string>, client = anyone) => {
    const { status, body: received } = await client.request('POST', `/api${path}`, body, headers);
    return status === 500 ? received : status;
  };
  const provenStatuses = async (app: string) => {
    await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: SECRET } });
    const { token } = (await admin.get(`/apps/${app}/webhooks`)).body.hookToken;
    return [
      await statusOf(`/apps/${app}/_hook/signed`, sign(body)),
      await statusOf(`/hooks/${token}/open`, {}),
      await statusOf(`/apps/${app}/view/open`, {}, admin),
    ];
  };
  let n = 0;
  const next = () => from(`203.0.113.${++n}`);
  const statuses: unknown[] = [];
  while (!statuses.includes(429) && statuses.length < 60)
    statuses.push(await statusOf(`/apps/${limited}/_hook/open`, next()));
  expect(statuses.at(-1)).toBe(429);
  expect(await provenStatuses(limited)).toEqual([200, 200, 200]);
  // Four callers with a quarter of the memory each, whose calls run or wait for a place. The fifth finds no memory.
  const waiting = Array.from({ length: 5 }, () => statusOf(`/apps/${full}/_hook/waiting`, next()));
  expect(await Promise.race(waiting)).toBe(503);
  // On a busy machine a process for another handler may not start in time.
  await expect.poll(() => provenStatuses(full), { timeout: 60_000 }).toEqual([200, 200, 200]);
  await Promise.all([service.close(), Promise.allSettled(waiting)]);
});

test('failures that are not of the caller do not count to its address', async () => {
  const service = await startService({}, { bodyLimits: { poolBytes: poolsOf(100) } });
  const admin = await service.user('admin', { superuser: true });
  const app = await deployApp(admin, 'Incomplete', ROUTES);
  const anyone = new Client(service.url);
  const statusesOf = async (path: string, body: string) => {
    const call = async () => (await anyone.request('POST', `/api/apps/${app}/_hook${path}`, body)).status;
    const statuses = await Promise.all(Array.from({ length: 61 }, call));
    return [...new Set([...statuses, await call()])];
  };
  // Its variable is missing.
  expect(await statusesOf('/signed', '')).toEqual([500]);
  // The memory of the app is too small.
  expect(await statusesOf('/open', 'x'.repeat(120))).toEqual([503]);
  await service.close();
});

test('refused calls are counted by day, route and reason, in both APIs', async ({ admin, anonymous }) => {
  const app = await deploySigned(admin, 'Counted');
  const call = (method: string, path: string, body?: string) =>
    anonymous.request(method, `/api/apps/${app}/_hook${path}`, body, { 'x-signature': 'x' });
  await expectStatus(call('POST', '/no/route'), 404);
  await expectStatus(call('POST', '/guess'), 404);
  await expectStatus(call('PUT', '/open'), 405);
  await expectStatus(call('POST', '/open', 'x'.repeat(1_000_001)), 413);
  await expectStatus(call('POST', '/signed', '{}'), 401);
  await expectStatus(call('POST', '/open', '{}'), 200);
  const date = new Date().toISOString().slice(0, 10);
  const none = { date, count: 0, avgDuration: 0, errorCount: 0 };
  const ran = { date, avgDuration: expect.any(Number), method: 'post' };
  const stats = (reasonOf: (reason: string) => string) => {
    const refused = (reason: string, count = 1) => [{ reason: reasonOf(reason), count }];
    return [
      { ...none, method: 'post', path: '*', refused: refused('route', 2) },
      { ...none, method: 'put', path: '*', refused: refused('method') },
      { ...ran, path: '/open', count: 2, errorCount: 1, refused: refused('size') },
      { ...ran, path: '/signed', count: 1, errorCount: 1, refused: refused('signature') },
    ];
  };
  const statsOf = async () => (await admin.get(`/apps/${app}/webhooks`)).body.stats;
  await expect.poll(statsOf).toEqual(stats((reason) => reason));
  const data = await admin.data(`{ app(id: "${app}") { webhooks {
    stats { method path date count avgDuration errorCount refused { reason count } }
  } } }`);
  expect(data.app.webhooks.stats).toEqual(stats((reason) => reason.toUpperCase()));
});

import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test as pure, vi } from 'vitest';
import { createLicenseManager } from '../../src/adapters/license-manager/license-manager.ts';
import { openOutboundClient } from '../../src/adapters/outbound/outbound-client.ts';
import { readConfig } from '../../src/core/config.ts';
import { stalenessOf } from '../../src/core/license-manager.ts';
import { syncCredits } from '../../src/operations/credit-sync.ts';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { respondWith, startLicenseManager, type FakeLicenseManager } from '../support/license-manager.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { meterIn, tenantOf, usageOf } from '../support/usage-fixture.ts';

interface SyncWorld {
  manager: FakeLicenseManager;
  service: Service;
  billing: Client;
}

const never = new AbortController().signal;
const HOUR_MS = 3_600_000;

const test = base.extend<SyncWorld>({
  manager: [
    async ({}, use) => {
      const manager = await startLicenseManager();
      await use(manager);
      await manager.close();
    },
    { scope: 'file' },
  ],
  service: [
    async ({ manager }, use) => {
      // Without a worker, whose own sync would be one more.
      const service = await startService({
        LICENSE_MANAGER_URL: `${manager.url}/`,
        CREDITS_INCLUDED: '70',
        ROLE: 'web',
      });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  billing: [
    async ({ service }, use) => use(await service.user('billing', { permissions: ['billing:manage'] })),
    { scope: 'file' },
  ],
});

/** The hours of the tests, each once. */
let hour = Date.UTC(2027, 4, 1);
const nextHour = () => new Date((hour += HOUR_MS));

/** Returns the pool and the sync as they are reported at a time. */
async function reportAt(billing: Client, time: Date): Promise<Record<string, unknown>> {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
  const { creditPool, sync } = (await billing.get('/usage').finally(() => vi.useRealTimers())).body;
  return { included: creditPool.included, ...sync };
}
afterEach(() => void vi.useRealTimers());

const stateOf = async (service: Service, slug = 'default') => {
  const [state] = await systemQuery(
    service,
    `select included::float8, synced_at, failed_at, failure_code from dws.credit_sync where tenant_id = $1`,
    await tenantOf(service, slug),
  );
  return state;
};

describe('the sync of credits', () => {
  test('reports every tenant, and stores the included credits', async ({ service, manager, billing }) => {
    const now = new Date('2027-05-01T00:30:00.000Z');
    expect(await reportAt(billing, now)).toEqual({
      included: 70,
      syncedAt: null,
      lastSyncFailedAt: null,
      lastSyncFailureCode: null,
      stalenessLevel: 'expired',
    });
    await meterIn(service, await tenantOf(service), [
      usageOf('1', { quantity: '1234.5', occurredAt: new Date('2027-05-01T00:00:00Z') }),
      usageOf('2', { quantity: '1000', occurredAt: new Date('2027-04-30T23:59:59.999Z') }),
    ]);
    manager.respond = (report, response) =>
      respondWith(200, { included: report.tenant === 'default' ? 5000.25 : 10 })(report, response);
    await syncCredits(service.platform, now, never);
    expect(manager.reports.toSorted((one, other) => (one.tenant < other.tenant ? -1 : 1))).toEqual([
      { tenant: 'default', month: '2027-05', used: 12.345 },
      { tenant: 'other', month: '2027-05', used: 0 },
    ]);
    const report = await reportAt(billing, now);
    expect(report).toMatchObject({ included: 5000.25, lastSyncFailedAt: null, stalenessLevel: 'fresh' });
    expect(Date.parse(String(report['syncedAt']))).toBeGreaterThanOrEqual(now.getTime());
    expect(await stateOf(service, 'other')).toMatchObject({ included: 10 });
  });

  test('runs once an hour, with two processes', async ({ service, manager }) => {
    const other = await startService(
      { LICENSE_MANAGER_URL: manager.url, ROLE: 'web' },
      { databaseUrl: service.databaseUrl },
    );
    manager.respond = respondWith(200, { included: 1 });
    const before = manager.reports.length;
    const now = nextHour();
    await Promise.all([service, other, service, other].map(({ platform }) => syncCredits(platform, now, never)));
    await syncCredits(other.platform, new Date(now.getTime() + HOUR_MS - 1), never);
    // A clock that is set back.
    await syncCredits(service.platform, new Date(now.getTime() - 1), never);
    expect(manager.reports.length - before).toBe(2);
    await syncCredits(service.platform, nextHour(), never);
    expect(manager.reports.length - before).toBe(4);
    await other.close();
  });

  test.for([
    [429, {}, 'lm_unavailable'],
    [500, {}, 'lm_unavailable'],
    [503, {}, 'lm_unavailable'],
    [401, {}, 'license_not_recognized'],
    [403, {}, 'license_not_recognized'],
    [404, {}, 'license_not_recognized'],
    [400, {}, 'lm_error'],
    [302, {}, 'lm_error'],
    [200, 'Welcome', 'lm_error'],
    [200, {}, 'lm_error'],
    [200, [], 'lm_error'],
    [200, 'null', 'lm_error'],
    [200, { included: '5000' }, 'lm_error'],
    [200, { included: -1 }, 'lm_error'],
    [200, { included: 1e9 }, 'lm_error'],
    [200, { included: 1, padding: 'x'.repeat(70_000) }, 'lm_error'],
  ] as const)(
    'has for a response of %i %o the failure %s',
    async ([status, body, code], { service, manager, billing }) => {
      manager.respond = respondWith(200, { included: 800 });
      await syncCredits(service.platform, nextHour(), never);
      const { syncedAt } = await reportAt(billing, new Date(hour));
      manager.respond = respondWith(status, body);
      const failed = nextHour();
      await syncCredits(service.platform, failed, never);
      const report = await reportAt(billing, failed);
      // The figures of the last successful sync stay.
      expect(report).toMatchObject({ included: 800, syncedAt, lastSyncFailureCode: code, stalenessLevel: 'fresh' });
      expect(Date.parse(String(report['lastSyncFailedAt'])) - failed.getTime()).toBeLessThan(60_000);
      manager.respond = respondWith(200, { included: 801 });
      await syncCredits(service.platform, nextHour(), never);
      expect(await reportAt(billing, new Date(hour))).toMatchObject({
        included: 801,
        lastSyncFailedAt: null,
        lastSyncFailureCode: null,
      });
    },
  );

  test('that fails is repeated by one process, at its start or after five minutes', async ({
    service,
    manager,
    billing,
  }) => {
    const other = await startService(
      { LICENSE_MANAGER_URL: manager.url, ROLE: 'web' },
      { databaseUrl: service.databaseUrl },
    );
    const platforms = [service, other].map(({ platform }) => platform);
    const reportsOf = async (minutes: number, retryAfter?: number) => {
      const before = manager.reports.length;
      const now = new Date(hour + minutes * 60_000);
      await Promise.all(platforms.map((platform) => syncCredits(platform, now, never, retryAfter)));
      return manager.reports.length - before;
    };
    manager.respond = respondWith(401, {});
    nextHour();
    expect(await reportsOf(0)).toBe(2);
    expect(await reportsOf(4)).toBe(0);
    // A failure has the time at which the license manager responded.
    expect(await reportsOf(6)).toBe(2);
    expect(await reportAt(billing, new Date(hour))).toMatchObject({ lastSyncFailureCode: 'license_not_recognized' });
    expect(await reportsOf(10)).toBe(0);
    manager.respond = respondWith(200, { included: 7777 });
    expect(await reportsOf(10, 0)).toBe(2);
    expect(await reportAt(billing, new Date(hour))).toMatchObject({ included: 7777, lastSyncFailedAt: null });
    expect(await reportsOf(20, 0)).toBe(0);
    await other.close();
  });

  test('of a tenant that fails does not stop the others', async ({ service, manager }) => {
    manager.respond = (report, response: ServerResponse) =>
      report.tenant === 'default' ? void response.destroy() : respondWith(200, { included: 31 })(report, response);
    await syncCredits(service.platform, nextHour(), never);
    expect(await stateOf(service)).toMatchObject({ failure_code: 'lm_unreachable' });
    expect(await stateOf(service, 'other')).toMatchObject({ included: 31, failure_code: null });
  });
});

describe('a license manager', () => {
  const report = { tenant: 'default', month: '2027-05', used: 1 };
  const clientOf = (url: string) =>
    createLicenseManager({ url, client: openOutboundClient({ allowed: ['127.0.0.1'] }), timeoutMs: 300 });

  pure('that does not listen is not reachable', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const client = clientOf(`http://127.0.0.1:${port}`);
    await expect(client.report(report, never)).rejects.toMatchObject({ code: 'lm_unreachable' });
    await client.close();
  });

  pure.each([
    ['sends nothing', ''],
    ['sends a part of the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'],
  ])('that %s in time is not reachable', async (_, sent) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(sent));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const client = clientOf(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
    await expect(client.report(report, never)).rejects.toMatchObject({ code: 'lm_unreachable' });
    await client.close();
    server.close();
  });

  pure('that does not respond with HTTP fails', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const client = clientOf(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
    await expect(client.report(report, never)).rejects.toMatchObject({ code: 'lm_error' });
    await client.close();
    server.close();
  });
});

describe('the age of the figures', () => {
  const synced = new Date('2027-05-01T00:00:00.000Z');
  pure.each([
    [0, 'fresh'],
    [24 * HOUR_MS - 1, 'fresh'],
    [24 * HOUR_MS, 'aging'],
    [72 * HOUR_MS - 1, 'aging'],
    [72 * HOUR_MS, 'stale'],
    [14 * 24 * HOUR_MS - 1, 'stale'],
    [14 * 24 * HOUR_MS, 'expired'],
  ])('is after %i ms %s', (age, level) => {
    expect(stalenessOf(synced, new Date(synced.getTime() + age))).toBe(level);
  });

  test('is in the report', async ({ service, manager, billing }) => {
    manager.respond = respondWith(200, { included: 5000 });
    const now = nextHour();
    await syncCredits(service.platform, now, never);
    const levels = [];
    for (const hours of [23, 25, 71, 73, 14 * 24 - 1, 14 * 24 + 1])
      levels.push((await reportAt(billing, new Date(now.getTime() + hours * HOUR_MS)))['stalenessLevel']);
    expect(levels).toEqual(['fresh', 'aging', 'aging', 'stale', 'stale', 'expired']);
  });
});

test('a worker repeats failed reports at its start', async ({ manager }) => {
  const first = await startService({ LICENSE_MANAGER_URL: manager.url, ROLE: 'web' });
  manager.respond = respondWith(401, {});
  await syncCredits(first.platform, new Date(Date.now() - 1000), never);
  expect(await stateOf(first)).toMatchObject({ failure_code: 'license_not_recognized' });
  manager.respond = respondWith(200, { included: 78 });
  const second = await startService({ LICENSE_MANAGER_URL: manager.url }, { databaseUrl: first.databaseUrl });
  await expect.poll(() => stateOf(first)).toMatchObject({ included: 78, failure_code: null });
  await second.close();
  await first.close();
});

test('a worker syncs at its start', async ({ manager }) => {
  manager.respond = respondWith(200, { included: 77 });
  const before = manager.reports.length;
  const service = await startService({ LICENSE_MANAGER_URL: manager.url });
  // The tenants of a test are created after the start of its worker.
  await service.close();
  const first = await startService({ LICENSE_MANAGER_URL: manager.url, ROLE: 'web' });
  const second = await startService({ LICENSE_MANAGER_URL: manager.url }, { databaseUrl: first.databaseUrl });
  await expect.poll(() => stateOf(first)).toMatchObject({ included: 77 });
  await expect.poll(() => manager.reports.length - before).toBe(2);
  await second.close();
  await first.close();
});

describe('the configuration', () => {
  pure.each([
    ['LICENSE_MANAGER_URL', 'licenses', /^LICENSE_MANAGER_URL must be a URL that starts with http:\/\/ or https:\/\/$/],
    ['LICENSE_MANAGER_URL', 'ftp://licenses', /^LICENSE_MANAGER_URL must be/],
    ['LICENSE_MANAGER_URL', 'https://a:b@licenses', /^LICENSE_MANAGER_URL must be a URL without username/],
    ['LICENSE_MANAGER_URL', 'https://licenses/?key=1', /^LICENSE_MANAGER_URL must be a URL without/],
    ['CREDITS_INCLUDED', '-1', /^CREDITS_INCLUDED must be a whole number from 0 to 999999999$/],
    ['CREDITS_INCLUDED', 'many', /^CREDITS_INCLUDED must be a whole number/],
  ])('refuses %s=%s', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(message);
  });

  pure('includes 1000 credits by default', () => {
    expect(readConfig({}).CREDITS_INCLUDED).toBe(1000);
    expect(readConfig({ CREDITS_INCLUDED: '0', LICENSE_MANAGER_URL: 'https://licenses.example/v1/' })).toMatchObject({
      CREDITS_INCLUDED: 0,
      LICENSE_MANAGER_URL: 'https://licenses.example/v1/',
    });
  });
});

test('the sync is the same in GraphQL', async ({ service, manager, billing }) => {
  manager.respond = respondWith(200, { included: 5000 });
  await syncCredits(service.platform, nextHour(), never);
  manager.respond = respondWith(503, {});
  await syncCredits(service.platform, nextHour(), never);
  const { usageReport } = await billing.data(
    '{ usageReport { creditPool { included } sync { syncedAt lastSyncFailureCode stalenessLevel } } }',
  );
  expect(usageReport).toMatchObject({
    creditPool: { included: 5000 },
    sync: { lastSyncFailureCode: 'LM_UNAVAILABLE' },
  });
  await expectBody(billing.get('/usage/monthly'), 200, { creditPool: { included: 5000 } });
});

import { expect, test as base } from 'vitest';
import { BrowserSession } from './browser-session.ts';
import { Client } from './client.ts';
import { startForgingProvider, type ForgingProvider } from './forging-provider.ts';
import { CLIENT } from './identity-provider-server.ts';
import { startService, type Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** Starts a service that may call loopback, and whose links name the port at which it listens. */
async function startLoopbackService(): Promise<Service> {
  const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
  service.platform.publicUrl = service.url;
  return service;
}

interface ProviderLoginWorld {
  service: Service;
  /** Session of a superuser. */
  admin: Client;
  provider: ForgingProvider;
  /** Registers the provider in the tenant `default`, for a domain of this name. Returns the record. */
  register: (domain: string, more?: Record<string, unknown>) => Promise<{ id: string } & Record<string, unknown>>;
}

/** The service with a provider that the test controls. */
export const test = base.extend<ProviderLoginWorld>({
  service: [
    async ({}, use) => {
      const service = await startLoopbackService();
      await service.user('admin', { superuser: true });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  admin: [async ({ service }, use) => use(await service.login('admin')), { scope: 'file' }],
  provider: async ({}, use) => {
    const provider = await startForgingProvider();
    await use(provider);
    await provider.close();
  },
  register: async ({ admin, provider }, use) =>
    use((domain, more = {}) =>
      admin.creates('/identity-providers', { domain, name: domain, issuer: provider.url, ...CLIENT, ...more }),
    ),
});

/** Logs in at the provider of a domain and follows the redirects up to the end. */
export const logInByProvider = (service: Service, domain: string, browser = new BrowserSession(), query = '') =>
  browser.open(`${service.url}/api/login/${domain}${query}`);

/** Starts a login and returns the URL of the callback, which the browser does not open. */
export async function stopAtCallback(service: Service, domain: string, browser: BrowserSession): Promise<string> {
  const { url } = await browser.open(`${service.url}/api/login/${domain}`, (next) => next.includes('/callback?'));
  expect(url).toContain(`${service.url}/api/login/${domain}/callback?`);
  return url;
}

/** Returns the user of the session that a browser has, null without one. */
export async function userOf(service: Service, browser: BrowserSession): Promise<Record<string, unknown> | null> {
  const cookie = browser.cookie(service.url, 'dws_session');
  if (!cookie) return null;
  const { status, body } = await new Client(service.url, { cookie: `dws_session=${cookie.value}` }).get('/session');
  return status === 200 ? body.user : null;
}

/** Expects that a browser is not logged in and sees a page with this status and sentence. */
export async function expectNotLoggedIn(
  service: Service,
  browser: BrowserSession,
  shown: { status: number; headers: Headers; text: string },
  status: number,
  sentence: string | RegExp,
): Promise<void> {
  expect([shown.status, shown.headers.get('content-type')], shown.text).toEqual([status, 'text/html; charset=utf-8']);
  expect(shown.text).toMatch(sentence);
  expect(shown.text).toContain('<a href="/">');
  expect(browser.cookie(service.url, 'dws_session')).toBeUndefined();
}

/** Creates a user of a domain, by default enabled and without a password. Returns the id. */
export async function createDomainUser(
  service: Service,
  username: string,
  domain: string,
  assignments = 'enabled = true',
): Promise<string> {
  const { id } = await service.user(username);
  await systemQuery(service, `update dws.app_user set domain = $2, ${assignments} where id = $1`, id, domain);
  return id;
}

/** Runs `work` and returns the log of the service during it with the level `info`: objects and messages. */
export async function recordLog(
  { platform: { log } }: Service,
  work: () => Promise<unknown>,
): Promise<[Record<string, unknown>, string][]> {
  const { info } = log;
  const lines: [Record<string, unknown>, string][] = [];
  log.info = (...line: unknown[]) => void lines.push(line as (typeof lines)[number]);
  try {
    await work();
    return lines;
  } finally {
    log.info = info;
  }
}

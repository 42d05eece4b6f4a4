import { describe, expect } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { Client } from '../support/client.ts';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { startForgingProvider } from '../support/forging-provider.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import {
  createDomainUser,
  expectNotLoggedIn,
  logInByProvider,
  recordLog,
  stopAtCallback,
  test,
  userOf,
} from '../support/provider-login-fixture.ts';
import { systemQuery } from '../support/system-query.ts';

const GONE = 'not started in this browser, took more than ten minutes or was already used';
const NOT_VALID = 'not valid for this login';
const DANA = { sub: 'sub-of-dana', preferred_username: 'dana' };
const REFUSED_LOGIN = 'A login with an identity provider was refused';

describe('a callback', () => {
  test('works once: not for a second time, nor for another browser', async ({ service, provider, register }) => {
    await register('once', { createUsers: true });
    provider.account = { ...DANA, preferred_username: 'dana-once' };
    const browser = new BrowserSession();
    const url = await stopAtCallback(service, 'once', browser);
    const cookie = browser.cookie(service.url, 'dws_login')!.value;
    const stranger = new BrowserSession();
    await expectNotLoggedIn(service, stranger, await stranger.open(url), 401, GONE);

    expect((await browser.open(url)).url).toBe(`${service.url}/`);
    expect(await userOf(service, browser)).toMatchObject({ username: 'dana-once' });
    const again = new Client(service.url, { cookie: `dws_login=${cookie}` });
    await expectError(again.request('GET', url.slice(service.url.length)), 401, new RegExp(GONE));
    expect(provider.requests.filter(({ path }) => path === '/token')).toHaveLength(1);
  });

  test('without the cookie, which an attacker cannot set for a victim, logs no one in', async ({
    service,
    provider,
    register,
  }) => {
    await register('csrf', { createUsers: true });
    provider.account = { ...DANA, sub: 'attacker', preferred_username: 'attacker' };
    const url = await stopAtCallback(service, 'csrf', new BrowserSession());
    const victim = new BrowserSession();
    await expectNotLoggedIn(service, victim, await victim.open(url), 401, GONE);
    await stopAtCallback(service, 'csrf', victim);
    await expectNotLoggedIn(service, victim, await victim.open(url), 401, GONE);
    expect(provider.requests.some(({ path }) => path === '/token')).toBe(false);
  });

  test('with another state, none, or a forged cookie logs no one in', async ({ service, provider, register }) => {
    await register('state', { createUsers: true });
    provider.account = DANA;
    for (const change of [
      (url: URL) => url.searchParams.set('state', 'x'.repeat(43)),
      (url: URL) => url.searchParams.delete('state'),
      (url: URL) => url.searchParams.set('state', ''),
    ]) {
      const browser = new BrowserSession();
      const url = new URL(await stopAtCallback(service, 'state', browser));
      change(url);
      await expectNotLoggedIn(service, browser, await browser.open(url.href), 401, GONE);
    }
    for (const forged of ['nonsense', 'v1.a.b.c.d', service.platform.secrets.seal('{"purpose":"mail"}')]) {
      const browser = new BrowserSession();
      const url = await stopAtCallback(service, 'state', browser);
      browser.setCookie(service.url, 'dws_login', forged);
      await expectNotLoggedIn(service, browser, await browser.open(url), 401, GONE);
    }
    expect(provider.requests.some(({ path }) => path === '/token')).toBe(false);
  });

  test('with a state given twice logs no one in', async ({ service, provider, register }) => {
    await register('twice', { createUsers: true });
    provider.account = DANA;
    const browser = new BrowserSession();
    const url = await stopAtCallback(service, 'twice', browser);
    await expectNotLoggedIn(service, browser, await browser.open(`${url}&state=other`), 401, NOT_VALID);
  });

  test('after more than ten minutes logs no one in', async ({ service, provider, register }) => {
    await register('late', { createUsers: true });
    provider.account = { ...DANA, sub: 'late', preferred_username: 'dana-late' };
    const { secrets } = service.platform;
    /** Moves the start of the login into the past. */
    const age = (browser: BrowserSession, milliseconds: number) => {
      const state = JSON.parse(secrets.open(browser.cookie(service.url, 'dws_login')!.value, 'a test'));
      state.startedAt -= milliseconds;
      browser.setCookie(service.url, 'dws_login', secrets.seal(JSON.stringify(state)));
    };
    const late = new BrowserSession();
    const lateUrl = await stopAtCallback(service, 'late', late);
    age(late, 600_001);
    await expectNotLoggedIn(service, late, await late.open(lateUrl), 401, GONE);
    const browser = new BrowserSession();
    const url = await stopAtCallback(service, 'late', browser);
    age(browser, 500_000);
    await browser.open(url);
    expect(await userOf(service, browser)).toMatchObject({ username: 'dana-late' });
  });

  test('at the path of another domain logs no one in, and is logged as such', async ({
    service,
    provider,
    register,
  }) => {
    await register('first', { createUsers: true });
    await register('second', { createUsers: true });
    provider.account = DANA;
    const browser = new BrowserSession();
    const url = (await stopAtCallback(service, 'first', browser)).replace('/login/first/', '/login/second/');
    const lines = await recordLog(service, async () =>
      expectNotLoggedIn(service, browser, await browser.open(url), 401, 'You cannot log in here'),
    );
    expect(lines).toMatchObject([[{ reason: 'The callback belongs to another domain or tenant' }, REFUSED_LOGIN]]);
  });

  test('after a change of the issuer sends the code to no one', async ({ service, provider, register, admin }) => {
    const { id } = await register('handover', { createUsers: true });
    provider.account = DANA;
    const next = await startForgingProvider();
    const browser = new BrowserSession();
    const url = await stopAtCallback(service, 'handover', browser);
    await admin.put(`/identity-providers/${id}`, { issuer: next.url, clientSecret: 'x' });
    await expectNotLoggedIn(service, browser, await browser.open(url), 401, 'You cannot log in here');
    expect(next.requests).toEqual([]);
    await next.close();
  });

  /** Changes by a superuser while the service waits for the provider. */
  const CHANGES: Record<string, (admin: Client, providerId: string, userId: string) => Promise<unknown>> = {
    'the provider is disabled': (admin, id) => admin.put(`/identity-providers/${id}`, { enabled: false }),
    'the provider is deleted': (admin, id) => admin.delete(`/identity-providers/${id}`),
    'the provider gets another domain': (admin, id) => admin.put(`/identity-providers/${id}`, { domain: `d${id}` }),
    'the provider gets another issuer': (admin, id) =>
      admin.put(`/identity-providers/${id}`, { issuer: 'https://other.example', clientSecret: 'x' }),
    'an administrator locks the user': (admin, _, id) => admin.put(`/users/${id}`, { locked: true }),
    'the user is disabled': (admin, _, id) => admin.put(`/users/${id}`, { enabled: false }),
    'the user is deleted': (admin, _, id) => admin.delete(`/users/${id}`),
  };
  for (const [what, change] of Object.entries(CHANGES))
    test(`during which ${what} logs no one in`, async ({ service, provider, register, admin }) => {
      const name = what.replaceAll(' ', '-');
      const { id } = await register(name);
      const userId = await createDomainUser(service, name, name);
      provider.account = { sub: name, preferred_username: name };
      provider.forgery.before = async (path) => {
        if (path === '/jwks')
          expect(await change(admin, id, userId)).toMatchObject({ status: expect.toBeOneOf([200, 204]) });
      };
      const browser = new BrowserSession();
      await expectNotLoggedIn(
        service,
        browser,
        await logInByProvider(service, name, browser),
        401,
        'You cannot log in here',
      );
      expect(await systemQuery(service, 'select from dws.user_identity where user_id = $1', userId)).toEqual([]);
      expect(await systemQuery(service, 'select from dws.session where user_id = $1', userId)).toEqual([]);
    });

  test.for([
    ['becomes a superuser', 'superuser = true'],
    ['is locked', 'locked_at = now()'],
    ['is locked by an administrator', `admin_locked_at = now() - interval '1 day'`],
    ['moves to another domain', `domain = 'elsewhere'`],
    ['is disabled', 'enabled = false'],
  ])(
    'whose user %s before the session is opened logs no one in',
    async ([what, assignment], { service, provider, register }) => {
      const name = what!.replaceAll(' ', '-');
      await register(name);
      const userId = await createDomainUser(service, name, name);
      provider.account = { sub: name, preferred_username: name };
      await logInByProvider(service, name);
      await systemQuery(service, 'delete from dws.session where user_id = $1', userId);
      const browser = new BrowserSession();
      const url = await stopAtCallback(service, name, browser);
      let shown: ReturnType<BrowserSession['open']>;
      await service.platform.system.transaction(async (query) => {
        await query({ text: `update dws.app_user set ${assignment} where id = $1`, values: [userId] });
        shown = browser.open(url);
        const countWaiting = async () =>
          (
            await query<{ count: number }>({
              text: `
              select count(*)::int from pg_locks l
              join pg_stat_activity a on a.pid = l.pid
              where not l.granted and a.datname = current_database()`,
            })
          )[0]!.count;
        await expect.poll(countWaiting).toBe(1);
      });
      await expectNotLoggedIn(service, browser, await shown!, 401, 'You cannot log in here');
      expect(await systemQuery(service, 'select from dws.session where user_id = $1', userId)).toEqual([]);
    },
  );

  test('at the path of another tenant logs no one in, and its code goes to no provider', async ({
    service,
    provider,
    register,
  }) => {
    await service.user('hostile', { tenant: 'other', superuser: true });
    const hostile = await service.login('hostile', { tenant: 'other' });
    const evil = await startForgingProvider();
    evil.forgery.configuration = {
      authorization_endpoint: `${provider.url}/authorize`,
      authorization_response_iss_parameter_supported: false,
    };
    provider.forgery.callback = { iss: null };
    provider.account = { ...DANA, preferred_username: 'dana-mixed-up' };
    try {
      await register('mixed', { createUsers: true });
      const input = { domain: 'mixed', name: 'Evil', issuer: evil.url, ...CLIENT };
      await hostile.creates('/identity-providers', input);
      const browser = new BrowserSession();
      const isCallback = (next: string) => next.includes('/callback');
      const { url } = await browser.open(`${service.url}/api/login/mixed?tenant=other`, isCallback);
      const ofOther = `${service.url}/api/login/mixed/callback/other`;
      expect(url.split('?')[0], 'which the provider of the tenant `default` would refuse').toBe(ofOther);
      for (const path of ['/callback', '/callback/default', '/callback/unknown']) {
        const victim = new BrowserSession();
        const started = await victim.open(`${service.url}/api/login/mixed?tenant=other`, isCallback);
        const forged = started.url.replace('/callback/other', path);
        await expectNotLoggedIn(service, victim, await victim.open(forged), 401, 'You cannot log in here');
      }
      expect(evil.requests.filter((request) => request.path === '/token')).toEqual([]);

      const inDefault = await stopAtCallback(service, 'mixed', browser);
      const elsewhere = inDefault.replace('/callback?', '/callback/other?');
      await expectNotLoggedIn(service, browser, await browser.open(elsewhere), 401, 'You cannot log in here');
      provider.forgery.callback = {};
      const victim = new BrowserSession();
      await victim.open((await stopAtCallback(service, 'mixed', victim)).replace('/callback?', '/callback/default?'));
      expect(await userOf(service, victim), 'the tenant by its name').toMatchObject({ username: 'dana-mixed-up' });
    } finally {
      await evil.close();
    }
  });

  test('in GraphQL is bound to the tenant likewise', async ({ service, register, provider }) => {
    await register('bound', { createUsers: true });
    provider.account = { sub: 'bound', preferred_username: 'bound' };
    const finish = async (tenant: string) => {
      const browser = new BrowserSession();
      const parameters = (await stopAtCallback(service, 'bound', browser)).split('?')[1]!;
      const cookie = `dws_login=${browser.cookie(service.url, 'dws_login')!.value}`;
      return new Client(service.url, { cookie }).gql(
        'mutation ($parameters: String!, $tenant: String) { finishLogin(domain: "bound", parameters: $parameters, tenant: $tenant) }',
        { parameters, tenant },
      );
    };
    await expectGraphqlError(finish('other'), 'UNAUTHENTICATED', /^You cannot log in here/);
    expect((await finish('default')).data).toEqual({ finishLogin: '/' });
  });

  test('for a provider that was disabled since the start logs no one in', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    const { id } = await register('closing', { createUsers: true });
    provider.account = DANA;
    const browser = new BrowserSession();
    const url = await stopAtCallback(service, 'closing', browser);
    await admin.put(`/identity-providers/${id}`, { enabled: false });
    const lines = await recordLog(service, async () =>
      expectNotLoggedIn(service, browser, await browser.open(url), 401, 'You cannot log in here'),
    );
    const reason = 'The provider was changed or deleted during the login';
    expect(lines).toMatchObject([[{ reason }, REFUSED_LOGIN]]);
  });
});

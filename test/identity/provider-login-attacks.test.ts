import pino from 'pino';
import { describe, expect } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { Client } from '../support/client.ts';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { startForgingProvider, type Forgery } from '../support/forging-provider.ts';
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
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const GONE = 'not started in this browser, took more than ten minutes or was already used';
const NOT_VALID = 'not valid for this login';
const DANA = { sub: 'sub-of-dana', preferred_username: 'dana' };
const REFUSED_LOGIN = 'A login with an identity provider was refused';
const hour = 3600;
const now = (): number => Math.floor(Date.now() / 1000);

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
      const state = JSON.parse(secrets.open(browser.cookie(service.url, 'dws_login')!.value));
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
    expect(lines).toMatchObject([[{ reason: 'The callback is that of another domain or tenant' }, REFUSED_LOGIN]]);
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
        await expect.poll(countWaiting, { timeout: 15_000 }).toBe(1);
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

  test('for a provider that was disabled meanwhile logs no one in', async ({ service, provider, register, admin }) => {
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

describe('a response of the provider', () => {
  const FORGERIES: Record<string, Forgery> = {
    'another nonce': { claims: { nonce: 'x'.repeat(43) } },
    'no nonce': { claims: { nonce: undefined } },
    'another issuer in the ID token': { claims: { iss: 'https://attacker.example' } },
    'another issuer in the callback': { callback: { iss: 'https://attacker.example' } },
    'no issuer in the callback': { callback: { iss: null } },
    'another audience': { claims: { aud: 'another-client' } },
    'several audiences for another party': { claims: { aud: [CLIENT.clientId, 'other'], azp: 'other' } },
    'a key that the provider does not publish': { foreignKey: true },
    'a key with another id': { foreignKey: true, header: { kid: 'other' } },
    'no signature': { header: { alg: 'none' } },
    'a signature by the client secret': { header: { alg: 'HS256' } },
    'an ID token that has expired': { claims: { iat: now() - 2 * hour, exp: now() - hour } },
    'an ID token without a time of expiry': { claims: { exp: undefined } },
    'no user': { claims: { sub: undefined } },
    'an empty user': { claims: { sub: '' } },
    'a user of too many characters': { claims: { sub: 'x'.repeat(256) } },
  };

  test.for(Object.entries(FORGERIES))(
    'with %s logs no one in',
    async ([name, forgery], { service, provider, register }) => {
      const domain = name.replaceAll(' ', '-').toLowerCase();
      await register(domain, { createUsers: true });
      provider.account = { sub: domain, preferred_username: domain };
      provider.forgery = forgery;
      const browser = new BrowserSession();
      await expectNotLoggedIn(service, browser, await logInByProvider(service, domain, browser), 401, NOT_VALID);
      expect(await systemQuery(service, 'select id from dws.app_user where username = $1', domain)).toEqual([]);
      const [event] = await systemQuery(
        service,
        `select action, outcome from dws.audit_event order by created_at desc limit 1`,
      );
      expect(event).toEqual({ action: 'finishLogin', outcome: 'denied' });

      provider.forgery = {};
      const honest = new BrowserSession();
      await logInByProvider(service, domain, honest);
      expect(await userOf(service, honest), 'without the forgery').toMatchObject({ username: domain });
    },
  );

  test('that is refused is logged with its cause and provider, without secrets', async ({
    service,
    provider,
    register,
  }) => {
    const { id: providerId } = await register('skewed', { createUsers: true });
    provider.account = { sub: 'skewed', preferred_username: 'skewed', email: 'private@x.example' };
    provider.forgery = { claims: { iat: now() - 2 * hour, exp: now() - hour } };
    const browser = new BrowserSession();
    const url = new URL(await stopAtCallback(service, 'skewed', browser));
    let requestId: string | null = null;
    const lines = await recordLog(service, async () => {
      const { headers, text } = await browser.open(url.href);
      expect(text).toMatch(NOT_VALID);
      requestId = headers.get('x-request-id');
    });
    expect(lines).toEqual([
      [{ requestId, providerId, err: expect.any(Error) }, 'The response of an identity provider was refused'],
    ]);
    const printed = JSON.stringify(pino.stdSerializers.err(lines[0]![0]['err'] as Error));
    expect(printed).toMatch(/JWT \\"exp\\" .* past current timestamp/);
    for (const secret of [CLIENT.clientSecret, url.searchParams.get('code')!, 'private@x.example', 'eyJ'])
      expect(printed).not.toContain(secret);
  });

  test('with the user info of another user logs no one in', async ({ service, provider, register }) => {
    await register('userinfo', { createUsers: true });
    provider.account = { sub: 'own' };
    const userInfo = { sub: 'own', preferred_username: 'from-user-info', email: 'u@x.example', email_verified: true };
    const respondWith = (body: object): Forgery => ({
      configuration: { userinfo_endpoint: `${provider.url}/userinfo` },
      paths: {
        '/userinfo': (_, response) =>
          void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      },
    });
    provider.forgery = respondWith({ ...userInfo, sub: 'another' });
    const browser = new BrowserSession();
    await expectNotLoggedIn(service, browser, await logInByProvider(service, 'userinfo', browser), 401, NOT_VALID);
    provider.forgery = respondWith(userInfo);
    const honest = new BrowserSession();
    await logInByProvider(service, 'userinfo', honest);
    expect(await userOf(service, honest)).toMatchObject({ username: 'from-user-info', email: 'u@x.example' });
  });

  test('for a code of another login, with another PKCE verifier, logs no one in', async ({
    service,
    provider,
    register,
  }) => {
    await register('pkce', { createUsers: true });
    provider.account = DANA;
    const [one, other] = [new BrowserSession(), new BrowserSession()];
    const stolen = new URL(await stopAtCallback(service, 'pkce', one)).searchParams.get('code')!;
    const url = new URL(await stopAtCallback(service, 'pkce', other));
    url.searchParams.set('code', stolen);
    await expectNotLoggedIn(service, other, await other.open(url.href), 401, 'invalid_grant');
  });
});

describe('a provider', () => {
  test('that is down is a page with 503, and JSON for other clients', async ({ service, provider, register }) => {
    await register('down');
    const browser = new BrowserSession();
    const url = await stopAtCallback(service, 'down', browser);
    await provider.close();
    await expectNotLoggedIn(
      service,
      browser,
      await browser.open(url),
      503,
      'The host &quot;127.0.0.1&quot; does not respond',
    );
    const gone = await startForgingProvider();
    await register('gone', { issuer: gone.url });
    await gone.close();
    const other = new BrowserSession();
    await expectNotLoggedIn(service, other, await logInByProvider(service, 'gone', other), 503, /does not respond/);
    const client = new Client(service.url);
    const { status, body, headers } = await client.get('/login/gone');
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '5']);
  });

  test('at a private address that the operator does not allow is 400, and is not called', async ({
    service,
    provider,
    register,
  }) => {
    await register('inside');
    const strict = await startService({ ROLE: 'web' }, service);
    try {
      const { status, body } = await new Client(strict.url).get('/login/inside');
      expect([status, body.message]).toEqual([400, expect.stringContaining('"127.0.0.1"')]);
      expect(provider.requests).toEqual([]);
    } finally {
      await strict.close();
    }
  });

  test.for<[name: string, Forgery, message: RegExp]>([
    [
      'another issuer',
      { configuration: { issuer: 'https://attacker.example' } },
      /^The identity provider names the issuer "https:\/\/attacker.example", not "http:\/\/127.0.0.1:\d+"$/,
    ],
    [
      'no configuration',
      { paths: { '/.well-known/openid-configuration': (_, response) => void response.writeHead(404).end('gone') } },
      /not usable: unexpected HTTP response status code: 404 gone$/,
    ],
    [
      'a redirect to a page',
      {
        paths: {
          '/.well-known/openid-configuration': (_, response) =>
            void response.writeHead(302, { location: '/nowhere' }).end(),
        },
      },
      /not usable: unexpected HTTP response status code: 404/,
    ],
    [
      'no JSON',
      { paths: { '/.well-known/openid-configuration': (_, response) => void response.end('<html>') } },
      /not usable: unexpected response content-type: 200$/,
    ],
    [
      'a script as login page',
      { configuration: { authorization_endpoint: 'javascript:alert(1)' } },
      /^The authorization endpoint "javascript:alert\(1\)" of the identity provider is not an https: URL$/,
    ],
    [
      'a login page of ftp',
      { configuration: { authorization_endpoint: 'ftp://attacker.example/' } },
      /^The authorization endpoint "ftp:\/\/attacker.example\/" of the identity provider is not an https: URL$/,
    ],
    [
      'no login page',
      { configuration: { authorization_endpoint: undefined } },
      /^The identity provider has no authorization endpoint$/,
    ],
    [
      'a token endpoint of ftp',
      { configuration: { token_endpoint: 'ftp://attacker.example/' } },
      /^The token endpoint "ftp:\/\/attacker.example\/" of the identity provider is not an https: URL$/,
    ],
    [
      'no token endpoint',
      { configuration: { token_endpoint: undefined } },
      /^The identity provider has no token endpoint$/,
    ],
    [
      'an endless configuration',
      {
        paths: {
          '/.well-known/openid-configuration': (_, response) =>
            void response.setHeader('content-type', 'application/json').end('x'.repeat(2_000_000)),
        },
      },
      /^The response of the host "127.0.0.1" has more than 1000000 bytes$/,
    ],
  ])('with %s is 500 with its words', async ([name, forgery, message], { service, provider, register }) => {
    const domain = `broken-${name.replaceAll(' ', '-')}`;
    await register(domain);
    provider.forgery = forgery;
    const { status, body, headers } = await new Client(service.url).get(`/login/${domain}`);
    expect([status, body.code], body.message).toEqual([500, 'UPSTREAM_FAILED']);
    expect(body.message).toMatch(message);
    expect(headers.getSetCookie()).toEqual([]);
  });

  test('is quoted with at most 300 characters and without secrets', async ({ service, provider, register }) => {
    await register('chatty');
    const browser = new BrowserSession();
    const url = await stopAtCallback(service, 'chatty', browser);
    provider.forgery.paths = {
      '/token': (_, response) =>
        void response.writeHead(401, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            error: 'invalid_client',
            error_description: `wrong: ${CLIENT.clientSecret} ${new URL(url).searchParams.get('code')} <script> ${'y'.repeat(500)}`,
          }),
        ),
    };
    const shown = await browser.open(url);
    await expectNotLoggedIn(service, browser, shown, 500, /invalid_client: wrong: … … &lt;script> y+…/);
    expect(shown.text.match(/y+/g)!.every((word) => word.length <= 300)).toBe(true);
    expect(shown.text).not.toContain(CLIENT.clientSecret);
  });

  test('is asked for its configuration once a minute, however many logins start', async ({
    service,
    provider,
    register,
  }) => {
    for (const domain of ['cached', 'cached-too']) await register(domain, { createUsers: true });
    provider.account = { sub: 'cached', preferred_username: 'cached' };
    for (let count = 0; count < 3; count += 1)
      for (const domain of ['cached', 'cached-too']) await stopAtCallback(service, domain, new BrowserSession());
    const browser = new BrowserSession();
    await logInByProvider(service, 'cached', browser);
    expect(await userOf(service, browser)).toMatchObject({ username: 'cached' });
    expect(provider.requests.filter(({ path }) => path === '/.well-known/openid-configuration')).toHaveLength(1);
  });

  test('that does not respond delays no logins of other tenants', async ({ service, provider, register }) => {
    await service.user('slow', { tenant: 'other', superuser: true });
    const foreigner = await service.login('slow', { tenant: 'other' });
    const stuck = await startForgingProvider();
    const released = Promise.withResolvers<void>();
    stuck.forgery.before = () => released.promise;
    try {
      await foreigner.creates('/identity-providers', { domain: 'stuck', name: 'Stuck', issuer: stuck.url, ...CLIENT });
      await register('prompt', { createUsers: true });
      provider.account = { sub: 'prompt', preferred_username: 'prompt' };
      const client = new Client(service.url);
      const waiting = Array.from({ length: 20 }, () => client.get('/login/stuck?tenant=other'));
      await expect.poll(() => stuck.requests.length, { timeout: 15_000 }).toBe(8);
      const browser = new BrowserSession();
      await logInByProvider(service, 'prompt', browser);
      expect(await userOf(service, browser)).toMatchObject({ username: 'prompt' });
      expect(stuck.requests).toHaveLength(8);
      released.resolve();
      await Promise.all(waiting);
    } finally {
      released.resolve();
      await stuck.close();
    }
  });

  test('gets the secret in the form that it supports, and no redirect of its token endpoint is followed', async ({
    service,
    provider,
    register,
  }) => {
    await register('basic', { createUsers: true });
    provider.account = { sub: 'basic', preferred_username: 'basic' };
    await logInByProvider(service, 'basic');
    const posted = await startForgingProvider();
    posted.account = { sub: 'post', preferred_username: 'post' };
    posted.forgery.configuration = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    await register('post', { createUsers: true, issuer: posted.url });
    await logInByProvider(service, 'post');
    await posted.close();
    const [basic, post] = [provider, posted].map(({ requests }) => requests.find(({ path }) => path === '/token'));
    expect(basic!.headers.authorization).toMatch(/^Basic /);
    expect(basic!.body.has('client_secret')).toBe(false);
    expect(post!.headers.authorization).toBeUndefined();
    expect(post!.body.get('client_secret')).toBe(CLIENT.clientSecret);

    provider.forgery.paths = {
      '/token': (_, response) => void response.writeHead(307, { location: `${provider.url}/stolen` }).end(),
    };
    const browser = new BrowserSession();
    await expectNotLoggedIn(service, browser, await logInByProvider(service, 'basic', browser), 500, 'not usable');
    expect(provider.requests.some(({ path }) => path === '/stolen')).toBe(false);
  });

  test('without a client secret is called with PKCE alone', async ({ service, provider, register }) => {
    await register('public', { createUsers: true, clientSecret: null });
    provider.account = { sub: 'public', preferred_username: 'public-user' };
    const browser = new BrowserSession();
    await logInByProvider(service, 'public', browser);
    expect(await userOf(service, browser)).toMatchObject({ username: 'public-user' });
    const { headers, body } = provider.requests.find(({ path }) => path === '/token')!;
    expect([headers.authorization, body.get('client_id'), body.has('client_secret')]).toEqual([
      undefined,
      CLIENT.clientId,
      false,
    ]);
  });
});

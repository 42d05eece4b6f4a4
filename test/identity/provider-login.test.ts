import { describe, expect } from 'vitest';
import { recordEvents } from '../support/audit-fixture.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { Client } from '../support/client.ts';
import { expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { CLIENT, startOidcProvider, type LoopbackServer } from '../support/identity-provider-server.ts';
import { expectNotLoggedIn, logInByProvider, test as base, userOf } from '../support/provider-login-fixture.ts';
import { startService } from '../support/service.ts';

const ACCOUNTS = {
  'sub-of-carol': {
    preferred_username: 'carol',
    name: 'Carol C.',
    given_name: 'Carol',
    family_name: 'C.',
    email: 'carol@corp.example',
    email_verified: true,
  },
};

const test = base.extend<{ corp: LoopbackServer }>({
  corp: [
    async ({ service, admin }, use) => {
      const server = await startOidcProvider(ACCOUNTS, `${service.url}/api/login/corp/callback`);
      const input = { domain: 'corp', name: 'Corp', issuer: server.url, ...CLIENT, createUsers: true };
      await admin.creates('/identity-providers', input);
      await use(server);
      await server.close();
    },
    { scope: 'file', auto: true },
  ],
});

describe('a login at a real OpenID Connect provider', () => {
  test('opens a session, and returns to the path that was asked for', async ({ service, corp }) => {
    const browser = new BrowserSession();
    const loginPage = await logInByProvider(service, 'corp', browser, '?returnTo=/graphiql%3Fa%3Db');
    expect(loginPage.url, loginPage.text).toContain(corp.url);
    const state = browser.cookie(service.url, 'dws_login')!;
    expect(state.path).toBe('/api/login');
    expect(state.attributes).toMatch(/; HttpOnly/);
    expect(state.attributes).toMatch(/; SameSite=Lax/);
    expect(state.attributes).toMatch(/; Max-Age=600/);
    expect(state.attributes).not.toMatch(/Secure/);

    const consent = await browser.submit(loginPage, { login: 'sub-of-carol', password: 'any' });
    const events = await recordEvents(service, async () => {
      const shown = await browser.submit(consent, {}, (next) => next.startsWith(`${service.url}/graphiql`));
      expect(shown.url).toBe(`${service.url}/graphiql?a=b`);
    });
    const user = (await userOf(service, browser))!;
    expect(user).toMatchObject({
      username: 'carol',
      domain: 'corp',
      displayName: 'Carol C.',
      givenName: 'Carol',
      familyName: 'C.',
      email: 'carol@corp.example',
      enabled: true,
      superuser: false,
    });
    expect(events).toMatchObject([
      {
        action: 'finishLogin',
        outcome: 'succeeded',
        kind: 'user',
        resourceId: user['id'],
        userId: user['id'],
        username: 'carol',
        channel: 'rest',
        tenant: 'default',
      },
    ]);
    expect(browser.cookie(service.url, 'dws_login')).toBeUndefined();
    expect(browser.cookie(service.url, 'dws_session')!.attributes).toMatch(/Path=\/; HttpOnly; SameSite=Lax/);

    const again = new BrowserSession();
    const page = await logInByProvider(service, 'corp', again);
    const second = await again.submit(page, { login: 'sub-of-carol', password: 'any' });
    await again.submit(second, {});
    expect((await userOf(service, again))!['id']).toBe(user['id']);
  });

  test('sends state, nonce and a PKCE challenge, and the redirect URI of PUBLIC_URL', async ({ service, corp }) => {
    const browser = new BrowserSession();
    const url = `${service.url}/api/login/corp`;
    const { status, headers } = await browser.request(url, undefined, { host: 'attacker.example' });
    const location = new URL(headers.get('location')!);
    expect([status, location.origin, headers.get('cache-control')]).toEqual([302, corp.url, 'no-store']);
    const query = Object.fromEntries(location.searchParams);
    expect(query).toEqual({
      client_id: CLIENT.clientId,
      response_type: 'code',
      redirect_uri: `${service.url}/api/login/corp/callback`,
      scope: 'openid profile email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const stored = decodeURIComponent(browser.cookie(service.url, 'dws_login')!.value);
    for (const secret of [query['state']!, query['nonce']!]) expect(stored).not.toContain(secret);
    const other = new URL((await new BrowserSession().request(url)).headers.get('location')!).searchParams;
    for (const name of ['state', 'nonce', 'code_challenge']) expect(other.get(name)).not.toBe(query[name]);
  });

  test('starts in GraphQL likewise: URL and cookie', async ({ service, corp }) => {
    const response = await new Client(service.url).request('POST', '/graphql', {
      query: 'mutation { startLogin(domain: "corp", returnTo: "/api/docs") }',
    });
    expect(response.body.data.startLogin).toContain(`${corp.url}/auth?`);
    expect(response.headers.getSetCookie()[0]).toMatch(/^dws_login=[^;]+;.*Path=\/api\/login; HttpOnly/);
  });

  test('that the user aborts there ends on a page with the way back', async ({ service, corp }) => {
    const browser = new BrowserSession();
    const page = await logInByProvider(service, 'corp', browser);
    const abort = /href="([^"]*abort)"/.exec(page.text)![1]!;
    expect(abort).toContain(corp.url);
    await expectNotLoggedIn(
      service,
      browser,
      await browser.open(abort),
      401,
      'refused the login: access_denied: End-User aborted interaction',
    );
  });
});

describe('the start of a login', () => {
  test('is 404 for a domain without an enabled provider, as JSON or as a page', async ({ service, register }) => {
    await register('asleep', { enabled: false });
    const client = new Client(service.url);
    for (const name of ['asleep', 'local', 'unknown', 'no%20domain', '%00']) {
      await expectError(client.get(`/login/${name}`), 404, /^There is no identity provider of the domain /);
      const browser = new BrowserSession();
      await expectNotLoggedIn(
        service,
        browser,
        await logInByProvider(service, name, browser),
        404,
        'no identity provider',
      );
    }
    for (const tenant of ['other', 'unknown', 'No Slug'])
      await expectError(client.get(`/login/corp?tenant=${encodeURIComponent(tenant)}`), 404);
    await expectGraphqlError(client.gql('mutation { startLogin(domain: "local") }'), 'NOT_FOUND');
    await expectError(client.get('/login/corp?surprise=1'), 400, /surprise/);
  });

  test.for([
    'https://attacker.example/',
    'http:attacker.example',
    '//attacker.example',
    '///attacker.example',
    '/\\attacker.example',
    '\\\\attacker.example',
    '/%09/attacker.example\t',
    '/\t/attacker.example',
    '/\n/attacker.example',
    ' //attacker.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'attacker.example',
    '@attacker.example',
    '?x=//attacker.example',
    '.',
    '/.//attacker.example',
    '/x/..//attacker.example',
    '/%2e//attacker.example',
    '/ü',
    '/日本語',
    '/\u{1F600}',
    '/\u00a0',
    '/\u007f',
    `/${'x'.repeat(2000)}`,
  ])('refuses to return to %j', async (returnTo, { service }) => {
    const path = `/login/corp?returnTo=${encodeURIComponent(returnTo)}`;
    const { status, body, headers } = await new Client(service.url).get(path);
    expect([status, body.validation[0].path]).toEqual([400, ['returnTo']]);
    expect(headers.getSetCookie()).toEqual([]);
    const variables = { returnTo };
    await expectGraphqlError(
      new Client(service.url).gql(
        'mutation ($returnTo: String) { startLogin(domain: "corp", returnTo: $returnTo) }',
        variables,
      ),
      'BAD_USER_INPUT',
    );
  });

  test('is limited by address, in both APIs', async ({ service }) => {
    const limited = await startService({ RATE_LIMIT_LOGIN: '1', ROLE: 'web' }, service);
    try {
      const client = new Client(limited.url);
      const start = () => client.gql('mutation { startLogin(domain: "unknown") }');
      for (let count = 0; count < 5; count += 1) {
        await expectGraphqlError(start(), 'NOT_FOUND');
        await expectStatus(client.get('/login/unknown'), 404);
      }
      await expectGraphqlError(start(), 'RATE_LIMITED');
      const { status, headers } = await client.get('/login/unknown');
      expect([status, headers.get('retry-after')]).toEqual([429, '60']);
      const page = await new BrowserSession().open(`${limited.url}/api/login/unknown`);
      expect([page.status, page.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    } finally {
      await limited.close();
    }
  });

  test('under https sets a cookie for https only', async ({ service }) => {
    const secure = await startService(
      { OUTBOUND_ALLOW: '127.0.0.1', PUBLIC_URL: 'https://data.example.com', ROLE: 'web' },
      service,
    );
    try {
      const { headers } = await new Client(secure.url).get('/login/corp');
      expect(headers.getSetCookie()[0]).toMatch(/; Secure/);
      expect(headers.get('location')).toContain(encodeURIComponent('https://data.example.com/api/login/corp/callback'));
    } finally {
      await secure.close();
    }
  });
});

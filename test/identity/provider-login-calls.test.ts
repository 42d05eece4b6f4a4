import { describe, expect } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { Client } from '../support/client.ts';
import { startForgingProvider, type Forgery } from '../support/forging-provider.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import { expectNotLoggedIn, logInByProvider, stopAtCallback, test, userOf } from '../support/provider-login-fixture.ts';
import { startService } from '../support/service.ts';

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
      await expect.poll(() => stuck.requests.length).toBe(8);
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

import pino from 'pino';
import { describe, expect } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { type Forgery } from '../support/forging-provider.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import {
  expectNotLoggedIn,
  logInByProvider,
  recordLog,
  stopAtCallback,
  test,
  userOf,
} from '../support/provider-login-fixture.ts';
import { systemQuery } from '../support/system-query.ts';

const NOT_VALID = 'not valid for this login';
const DANA = { sub: 'sub-of-dana', preferred_username: 'dana' };
const hour = 3600;
const now = (): number => Math.floor(Date.now() / 1000);

describe('a response of the provider', () => {
  const FORGERIES: Record<string, Forgery> = {
    'another nonce': { claims: { nonce: 'x'.repeat(43) } },
    'no nonce': { claims: { nonce: undefined } },
    'another issuer in the ID token': { claims: { iss: 'https://attacker.example' } },
    'another issuer in the callback': { callback: { iss: 'https://attacker.example' } },
    'no issuer in the callback': { callback: { iss: null } },
    'another audience': { claims: { aud: 'another-client' } },
    'another authorized party': { claims: { azp: 'other' } },
    'a time of the future': { claims: { iat: now() + hour } },
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

import { describe, expect } from 'vitest';
import { Client, type ApiResponse } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const WRONG_CREDENTIALS = {
  statusCode: 401,
  error: 'Unauthorized',
  message: 'Invalid username or password',
  code: 'UNAUTHENTICATED',
};
const HOUR_MS = 3_600_000;

const login = (client: Client, username: string, password = PASSWORD, more = {}) =>
  client.post('/login', { username, password, ...more });

const expectRefused = (response: Promise<ApiResponse>) => expectBody(response, 401, WRONG_CREDENTIALS);

const sessionCookieOf = ({ headers }: ApiResponse) => headers.getSetCookie()[0]!;

const updateUser = (service: Service, username: string, assignment: string) =>
  systemQuery(service, `update dws.app_user set ${assignment} where username = $1`, username);

describe('a login', () => {
  test('returns the user, the expiry of the session and links over REST', async ({ ann, anonymous }) => {
    const body = await expectBody(login(anonymous, 'Ann'), 200, {
      user: { id: ann.id, username: 'ann', enabled: true, settings: {} },
      _links: { self: { href: '/api/session' } },
    });
    const lifetimeMs = Date.parse(body.expiresAt) - Date.now();
    expect(lifetimeMs).toBeGreaterThan(11.9 * HOUR_MS);
    expect(lifetimeMs).toBeLessThanOrEqual(12 * HOUR_MS);
    await expectStatus(login(anonymous, 'ann'), 200);
    const named = { username: 'ann', password: PASSWORD, tenant: 'default' };
    await expectStatus(anonymous.post('/login/local', named), 200);
    const alias = await anonymous.post('/auth/login', named);
    expect([alias.status, alias.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(sessionCookieOf(alias)).toMatch(/^dws_session=/);
    await expectRefused(anonymous.post('/auth/login', { ...named, password: 'not her password' }));
  });

  test('sets the same cookie over GraphQL and returns the selected fields of the user', async ({ anonymous, ann }) => {
    const response = await anonymous.request('POST', '/graphql', {
      query: `mutation {
        login(username: "ann", password: "${PASSWORD}") { expiresAt user { id username memberships { role } } }
      }`,
    });
    await expectBody(response, 200, { data: { login: { user: { id: ann.id, username: 'ann', memberships: [] } } } });
    const session = new Client(anonymous.url, { cookie: sessionCookieOf(response).split(';')[0]! });
    expect(await session.data('{ session { authMethod user { username } } }')).toEqual({
      session: { authMethod: 'SESSION', user: { username: 'ann' } },
    });
  });

  test('sets a cookie hidden from scripts, other sites and, under https, plain connections', async ({
    anonymous,
    ann,
  }) => {
    const cookie = sessionCookieOf(await login(anonymous, ann.username));
    expect(cookie).toMatch(/^dws_session=[\w-]{43}; /);
    expect(cookie).toMatch(/; Path=\/(;|$)/);
    expect(cookie).toMatch(/; HttpOnly(;|$)/);
    expect(cookie).toMatch(/; SameSite=Lax(;|$)/);
    expect(cookie).not.toMatch(/Domain|Secure/);

    const secure = await startService({ PUBLIC_URL: 'https://dws.example' });
    await secure.user('eve');
    const response = await login(new Client(secure.url), 'eve');
    await secure.close();
    expect(sessionCookieOf(response)).toMatch(/; Secure(;|$)/);
    expect(response.headers.get('strict-transport-security')).toMatch(/max-age=/);
  });

  test('stores the secret of the session and the password only as hashes', async ({ service, ann }) => {
    const { headers } = await service.login('ann');
    const secret = headers['cookie']!.split('=')[1]!;
    const sessions = await systemQuery(
      service,
      `select to_jsonb(s)::text as row from dws.session s where user_id = $1`,
      ann.id,
    );
    expect(sessions.length).toBeGreaterThan(0);
    for (const { row } of sessions) expect(row).not.toContain(secret);
    const [user] = await systemQuery(service, `select password_hash as hash from dws.app_user where id = $1`, ann.id);
    expect(user!['hash']).toMatch(/^\$argon2id\$/);
  });

  test('finds the user in the named tenant only', async ({ anonymous, stranger, bob }) => {
    await expectBody(login(anonymous, stranger.username, PASSWORD, { tenant: 'other' }), 200, {
      user: { id: stranger.id },
    });
    await expectRefused(login(anonymous, stranger.username));
    await expectRefused(login(anonymous, bob.username, PASSWORD, { tenant: 'other' }));
  });

  test('fails with the same response for a wrong password and an unknown, disabled, expired or locked user', async ({
    service,
    anonymous,
    ann,
  }) => {
    for (const name of ['disabled', 'expired', 'locked']) await service.user(name);
    await updateUser(service, 'disabled', 'enabled = false');
    await updateUser(service, 'expired', `password_expires_at = now() - interval '1 minute'`);
    await updateUser(service, 'locked', 'locked_at = now()');
    const responses = await Promise.all([
      login(anonymous, ann.username, 'not her password'),
      login(anonymous, 'nobody'),
      login(anonymous, 'disabled'),
      login(anonymous, 'expired'),
      login(anonymous, 'locked'),
      login(anonymous, 'ann', PASSWORD, { tenant: 'nowhere' }),
      login(anonymous, 'ann', PASSWORD, { domain: 'ldap' }),
      login(anonymous, 'x'.repeat(100_000)),
      login(anonymous, 'ann', 'p'.repeat(2_000_000)),
    ]);
    for (const { status, body, headers } of responses) {
      expect(status).toBe(401);
      expect(body).toEqual(WRONG_CREDENTIALS);
      expect(headers.getSetCookie()).toEqual([]);
    }
    expect(
      await anonymous.gql(`mutation { login(username: "ann", password: "not her password") { expiresAt } }`),
    ).toMatchObject({
      status: 401,
      errors: [{ message: 'Invalid username or password', extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
    });
  });
});

describe('ten consecutive failed logins', () => {
  const failLogins = async (client: Client, username: string, count: number) => {
    for (let n = 0; n < count; n++) await expectRefused(login(client, username, 'not the password'));
  };

  test('lock the user for 15 minutes, even with the right password', async ({ service, admin, anonymous }) => {
    await service.user('carl');
    await failLogins(anonymous, 'carl', 9);
    await expectBody(admin.get('/users/carl'), 200, { locked: false, lockedAt: null, loginAttempts: 9 });
    await failLogins(anonymous, 'carl', 1);
    await expectBody(admin.get('/users/carl'), 200, {
      locked: true,
      loginAttempts: 10,
      lockedAt: expect.stringMatching(/^20/),
    });
    await expectRefused(login(anonymous, 'carl'));

    await updateUser(service, 'carl', `locked_at = locked_at - interval '14 minutes'`);
    await expectRefused(login(anonymous, 'carl'));
    await updateUser(service, 'carl', `locked_at = locked_at - interval '1 minute'`);
    await expectStatus(login(anonymous, 'carl'), 200);
    await expectBody(admin.get('/users/carl'), 200, { locked: false, lockedAt: null, loginAttempts: 0 });
  });

  test('are counted from zero after a success and after a lock', async ({ service, admin, anonymous }) => {
    await service.user('dora');
    await failLogins(anonymous, 'dora', 9);
    await expectStatus(login(anonymous, 'dora'), 200);
    await systemQuery(service, 'delete from dws.known_address');
    await failLogins(anonymous, 'dora', 9);
    await expectBody(admin.get('/users/dora'), 200, { locked: false, loginAttempts: 9 });
    await failLogins(anonymous, 'dora', 1);
    await updateUser(service, 'dora', `locked_at = now() - interval '16 minutes'`);
    await failLogins(anonymous, 'dora', 1);
    await expectBody(admin.get('/users/dora'), 200, { locked: false, lockedAt: null, loginAttempts: 1 });
  });

  test('lock the user when they are concurrent, too', async ({ service, anonymous }) => {
    await service.user('ella');
    const guesses = Array.from({ length: 29 }, () => login(anonymous, 'ella', 'a guess among many'));
    const rightLogin = login(anonymous, 'ella', PASSWORD);
    for (const guess of guesses) await expectRefused(guess);
    const { status } = await rightLogin;
    const [user] = await systemQuery(
      service,
      `select login_attempts as attempts, locked_at is not null as locked from dws.app_user where username = 'ella'`,
    );
    // The right password may have been among the first ten. Otherwise no login succeeds and the user is locked.
    if (status !== 200) expect(user).toEqual({ attempts: 10, locked: true });
  });

  test('leave addresses open from which the user logged in during the last 30 days', async ({ service, anonymous }) => {
    await service.user('finn');
    await expectStatus(login(anonymous, 'finn'), 200);
    await updateUser(service, 'finn', 'locked_at = now(), login_attempts = 10');
    await expectStatus(login(anonymous, 'finn'), 200);
    expect(
      await systemQuery(service, `select locked_at is not null as locked from dws.app_user where username = 'finn'`),
    ).toEqual([{ locked: true }]);
    await systemQuery(service, `update dws.known_address set seen_at = now() - interval '31 days'`);
    await expectRefused(login(anonymous, 'finn'));
  });

  test('are reset when an admin unlocks the user', async ({ service, admin, anonymous }) => {
    await service.user('gina');
    await failLogins(anonymous, 'gina', 10);
    await expectBody(admin.put('/users/gina', { locked: false }), 200, {
      locked: false,
      lockedAt: null,
      loginAttempts: 0,
    });
    await expectStatus(login(anonymous, 'gina'), 200);
  });
});

describe('the login limit', () => {
  const countRows = async (service: Service, table: string) =>
    (await systemQuery(service, `select count(*) as n from dws.${table}`))[0]!['n'];

  test('refuses the eleventh attempt of a minute with 429, before the password check, for that user only', async () => {
    const service = await startService({ RATE_LIMIT_LOGIN: '10' });
    try {
      await service.user('ann');
      await service.user('bob');
      const anonymous = new Client(service.url);
      const allowed = await Promise.all(Array.from({ length: 10 }, () => login(anonymous, 'ann')));
      expect(allowed.map(({ status }) => status)).toEqual(Array(10).fill(200));
      const sessions = await countRows(service, 'session');
      const refused = await login(anonymous, 'ANN');
      await expectBody(refused, 429, { statusCode: 429, code: 'RATE_LIMITED', message: 'Too many requests' });
      expect(Object.fromEntries(refused.headers)).toMatchObject({
        'retry-after': '60',
        'ratelimit-policy': '"login";q=10;w=60',
        ratelimit: '"login";r=0;t=60',
      });
      expect(await anonymous.gql(`mutation { login(username: "ann", password: "wrong") { expiresAt } }`)).toMatchObject(
        { status: 429, errors: [{ extensions: { code: 'RATE_LIMITED' } }] },
      );
      expect(await countRows(service, 'session')).toBe(sessions);
      expect(await systemQuery(service, `select login_attempts as n from dws.app_user where username = 'ann'`)).toEqual(
        [{ n: 0 }],
      );
      await expectStatus(login(anonymous, 'bob'), 200);
      await systemQuery(service, `update dws.login_attempt set at = at - interval '61 seconds'`);
      await expectStatus(login(anonymous, 'ann'), 200);
    } finally {
      await service.close();
    }
  });
});

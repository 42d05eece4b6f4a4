import { describe, expect } from 'vitest';
import { Client, type ApiResponse } from '../support/client.ts';
import { test, type World } from '../support/fixture.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';

const WRONG = {
  status: 401,
  body: { statusCode: 401, error: 'Unauthorized', message: 'Invalid username or password', code: 'UNAUTHENTICATED' },
};
const GONE = { status: 401, body: { message: 'Missing authentication', code: 'UNAUTHENTICATED' } };

const login = (client: Client, username: string, password = PASSWORD, more = {}) =>
  client.post('/login', { username, password, ...more });
const sql = (service: Service, text: string, ...values: unknown[]) => service.platform.system.query({ text, values });
const cookieOf = ({ headers }: ApiResponse) => headers.getSetCookie()[0]!;
/** The session cookie alone, without any word on where the request comes from. */
const bare = ({ url, headers }: Client) => new Client(url, { cookie: headers['cookie']! });

describe('a login', () => {
  test('by REST answers the user, the end of the session and its links', async ({ ann, anonymous }) => {
    const answer = await login(anonymous, 'Ann');
    expect(answer).toMatchObject({
      status: 200,
      body: {
        user: { id: ann.id, username: 'ann', enabled: true, settings: {} },
        _links: { self: { href: '/api/session' } },
      },
    });
    const hours = (Date.parse(answer.body.expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
    expect(await login(anonymous, 'ann')).toMatchObject({ status: 200 });
    expect(
      await anonymous.post('/login/local', { username: 'ann', password: PASSWORD, tenant: 'default' }),
    ).toMatchObject({ status: 200 });
  });

  test('by GraphQL sets the same cookie and answers what is selected of the user', async ({ anonymous, ann }) => {
    const answer = await anonymous.request('POST', '/graphql', {
      query: `mutation { login(username: "ann", password: "${PASSWORD}") { expiresAt user { id username memberships { role } } } }`,
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { login: { user: { id: ann.id, username: 'ann', memberships: [] } } } },
    });
    const session = new Client(anonymous.url, { cookie: cookieOf(answer).split(';')[0]! });
    expect(await session.data('{ session { authMethod user { username } } }')).toEqual({
      session: { authMethod: 'SESSION', user: { username: 'ann' } },
    });
  });

  test('sets a cookie that scripts, other sites and, under https, plain connections never see', async ({
    anonymous,
    ann,
  }) => {
    expect(ann.username).toBe('ann');
    const cookie = cookieOf(await login(anonymous, 'ann'));
    expect(cookie).toMatch(/^dws_session=[\w-]{43}; /);
    expect(cookie).toMatch(/; Path=\/(;|$)/);
    expect(cookie).toMatch(/; HttpOnly(;|$)/);
    expect(cookie).toMatch(/; SameSite=Lax(;|$)/);
    expect(cookie).not.toMatch(/Domain|Secure/);

    const secure = await startService({ PUBLIC_URL: 'https://dws.example' });
    await secure.user('eve');
    const answer = await login(new Client(secure.url), 'eve');
    await secure.close();
    expect(cookieOf(answer)).toMatch(/; Secure(;|$)/);
    expect(answer.headers.get('strict-transport-security')).toMatch(/max-age=/);
  });

  test('keeps nothing that opens a session: its secret is stored hashed', async ({ service, ann }) => {
    const { headers } = await service.login('ann');
    const secret = headers['cookie']!.split('=')[1]!;
    const rows = await sql(service, `select to_jsonb(s)::text as row from dws.session s where user_id = $1`, ann.id);
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain(secret);
    const [{ hash }] = (await sql(service, `select password_hash as hash from dws.app_user where id = $1`, ann.id)) as [
      { hash: string },
    ];
    expect(hash).toMatch(/^\$argon2id\$/);
  });

  test('belongs to the tenant it names, and says the same of another', async ({ anonymous, stranger, bob }) => {
    expect(await login(anonymous, stranger.username, PASSWORD, { tenant: 'other' })).toMatchObject({
      status: 200,
      body: { user: { id: stranger.id } },
    });
    expect(await login(anonymous, stranger.username)).toMatchObject(WRONG);
    expect(await login(anonymous, bob.username, PASSWORD, { tenant: 'other' })).toMatchObject(WRONG);
  });

  test('is refused in the same words whether the password is wrong or the user unknown, disabled, expired or locked', async ({
    service,
    anonymous,
    ann,
  }) => {
    expect(ann.username).toBe('ann');
    for (const name of ['disabled', 'expired', 'locked']) await service.user(name);
    await sql(service, `update dws.app_user set enabled = false where username = 'disabled'`);
    await sql(
      service,
      `update dws.app_user set password_expires_at = now() - interval '1 minute' where username = 'expired'`,
    );
    await sql(service, `update dws.app_user set locked_at = now() where username = 'locked'`);
    const answers = await Promise.all([
      login(anonymous, 'ann', 'not her password'),
      login(anonymous, 'nobody'),
      login(anonymous, 'disabled'),
      login(anonymous, 'expired'),
      login(anonymous, 'locked'),
      login(anonymous, 'ann', PASSWORD, { tenant: 'nowhere' }),
      login(anonymous, 'ann', PASSWORD, { domain: 'ldap' }),
      login(anonymous, 'a\u0000b'),
      login(anonymous, 'x'.repeat(100_000)),
      login(anonymous, 'ann', 'p'.repeat(2_000_000)),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject(WRONG);
      expect(answer.body).toEqual(WRONG.body);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(
      await anonymous.gql(`mutation { login(username: "ann", password: "not her password") { expiresAt } }`),
    ).toMatchObject({
      status: 401,
      errors: [{ message: 'Invalid username or password', extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
    });
  });
});

describe('ten failures in a row', () => {
  const fail = async (client: Client, name: string, times: number) => {
    for (let n = 0; n < times; n++) expect(await login(client, name, 'not the password')).toMatchObject(WRONG);
  };

  test('lock the user, whatever the password, for 15 minutes', async ({ service, admin, anonymous }) => {
    await service.user('carl');
    await fail(anonymous, 'carl', 9);
    expect(await admin.get('/users/carl')).toMatchObject({ body: { locked: false, lockedAt: null, loginAttempts: 9 } });
    await fail(anonymous, 'carl', 1);
    expect(await admin.get('/users/carl')).toMatchObject({
      body: { locked: true, loginAttempts: 10, lockedAt: expect.stringMatching(/^20/) },
    });
    expect(await login(anonymous, 'carl')).toMatchObject(WRONG);

    await sql(service, `update dws.app_user set locked_at = locked_at - interval '14 minutes' where username = 'carl'`);
    expect(await login(anonymous, 'carl')).toMatchObject(WRONG);
    await sql(service, `update dws.app_user set locked_at = locked_at - interval '1 minute' where username = 'carl'`);
    expect(await login(anonymous, 'carl')).toMatchObject({ status: 200 });
    expect(await admin.get('/users/carl')).toMatchObject({ body: { locked: false, lockedAt: null, loginAttempts: 0 } });
  });

  test('count anew after a success, and after a lock is over', async ({ service, admin, anonymous }) => {
    await service.user('dora');
    await fail(anonymous, 'dora', 9);
    expect(await login(anonymous, 'dora')).toMatchObject({ status: 200 });
    await sql(service, 'delete from dws.known_address');
    await fail(anonymous, 'dora', 9);
    expect(await admin.get('/users/dora')).toMatchObject({ body: { locked: false, loginAttempts: 9 } });
    await fail(anonymous, 'dora', 1);
    await sql(service, `update dws.app_user set locked_at = now() - interval '16 minutes' where username = 'dora'`);
    await fail(anonymous, 'dora', 1);
    expect(await admin.get('/users/dora')).toMatchObject({ body: { locked: false, lockedAt: null, loginAttempts: 1 } });
  });

  test('lock as well when they are tried all at once', async ({ service, anonymous }) => {
    await service.user('ella');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => login(anonymous, 'ella', n === 29 ? PASSWORD : 'a guess among many')),
    );
    for (const answer of answers.slice(0, 29)) expect(answer).toMatchObject(WRONG);
    const [row] = await sql(
      service,
      `select login_attempts as attempts, locked_at is not null as locked from dws.app_user where username = 'ella'`,
    );
    // The right password may have been among the first ten; otherwise nobody got in and the user is locked.
    expect(answers[29]!.status === 200 || (row!['locked'] === true && row!['attempts'] === 10)).toBe(true);
  });

  test('leave addresses open from which the user signed in during the last 30 days', async ({ service, anonymous }) => {
    await service.user('finn');
    expect(await login(anonymous, 'finn')).toMatchObject({ status: 200 });
    await sql(service, `update dws.app_user set locked_at = now(), login_attempts = 10 where username = 'finn'`);
    expect(await login(anonymous, 'finn')).toMatchObject({ status: 200 });
    expect(
      await sql(service, `select locked_at is not null as locked from dws.app_user where username = 'finn'`),
    ).toEqual([{ locked: true }]);
    await sql(service, `update dws.known_address set seen_at = now() - interval '31 days'`);
    expect(await login(anonymous, 'finn')).toMatchObject(WRONG);
  });

  test('are forgiven by an admin who unlocks', async ({ service, admin, anonymous }) => {
    await service.user('gina');
    await fail(anonymous, 'gina', 10);
    expect(await admin.put('/users/gina', { locked: false })).toMatchObject({
      status: 200,
      body: { locked: false, lockedAt: null, loginAttempts: 0 },
    });
    expect(await login(anonymous, 'gina')).toMatchObject({ status: 200 });
  });
});

test('the eleventh attempt of a minute is refused with 429 before the password is looked at, for this user from this address only', async () => {
  const service = await startService({ RATE_LIMIT_LOGIN: '10' });
  try {
    await service.user('ann');
    await service.user('bob');
    const anonymous = new Client(service.url);
    const first = await Promise.all(Array.from({ length: 10 }, () => login(anonymous, 'ann')));
    expect(first.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const attempts = async () => (await sql(service, `select count(*) as n from dws.session`))[0]!['n'];
    const before = await attempts();
    const late = await login(anonymous, 'ANN');
    expect(late).toMatchObject({
      status: 429,
      body: { statusCode: 429, code: 'RATE_LIMITED', message: 'Too many requests' },
    });
    expect(Object.fromEntries(late.headers)).toMatchObject({
      'retry-after': '60',
      'ratelimit-policy': '"login";q=10;w=60',
      ratelimit: '"login";r=0;t=60',
    });
    expect(await anonymous.gql(`mutation { login(username: "ann", password: "wrong") { expiresAt } }`)).toMatchObject({
      status: 429,
      errors: [{ extensions: { code: 'RATE_LIMITED' } }],
    });
    expect(await attempts()).toBe(before);
    expect(await sql(service, `select login_attempts as n from dws.app_user where username = 'ann'`)).toEqual([
      { n: 0 },
    ]);
    expect(await login(anonymous, 'bob')).toMatchObject({ status: 200 });
    await sql(service, `update dws.login_attempt set at = at - interval '61 seconds'`);
    expect(await login(anonymous, 'ann')).toMatchObject({ status: 200 });
  } finally {
    await service.close();
  }
});

describe('a session', () => {
  test('says who is calling, by what, and what they may do', async ({ service, ann, admin }) => {
    const session = await service.login('ann');
    expect(await session.get('/session')).toMatchObject({
      status: 200,
      body: {
        user: { id: ann.id, username: 'ann' },
        tenant: 'default',
        authMethod: 'session',
        expiresAt: expect.any(String),
        permissions: expect.arrayContaining(['datasets:create', 'ai:access']),
      },
    });
    expect(await ann.get('/session')).toMatchObject({ body: { authMethod: 'token', expiresAt: null } });
    expect((await admin.get('/session')).body.permissions).toContain('tenant:superuser');
    expect((await ann.get('/session')).body.permissions).not.toContain('users:view');
  });

  test('slides with its use by 12 hours, noted at most once a minute, and never past 30 days after the login', async ({
    service,
    ann,
  }) => {
    const used = await service.login('ann');
    const {
      body: [{ id }],
    } = { body: (await used.get('/sessions')).body._embedded['svc:session'] };
    const state = async () =>
      (
        await sql(
          service,
          `select round(extract(epoch from expires_at - now()) / 3600)::int as hours, last_used_at > now() - interval '30 seconds' as noted from dws.session where id = $1`,
          id,
        )
      )[0];

    await sql(
      service,
      `update dws.session set last_used_at = now() - interval '50 seconds', expires_at = now() + interval '1 hour' where id = $1`,
      id,
    );
    service.platform.notifications.notifyLocally('dws_credential', ann.id);
    await used.get('/me');
    expect(await state()).toEqual({ hours: 1, noted: false });

    await sql(service, `update dws.session set last_used_at = now() - interval '2 minutes' where id = $1`, id);
    service.platform.notifications.notifyLocally('dws_credential', ann.id);
    await used.get('/me');
    await expect.poll(state).toEqual({ hours: 12, noted: true });

    await sql(
      service,
      `update dws.session set last_used_at = now() - interval '2 minutes', created_at = now() - interval '29 days 21 hours' where id = $1`,
      id,
    );
    service.platform.notifications.notifyLocally('dws_credential', ann.id);
    expect(await used.get('/me')).toMatchObject({ status: 200 });
    await expect.poll(state).toEqual({ hours: 3, noted: true });

    await sql(service, `update dws.session set created_at = now() - interval '30 days 1 second' where id = $1`, id);
    service.platform.notifications.notifyLocally('dws_credential', ann.id);
    expect(await used.get('/me')).toMatchObject(GONE);
  });

  test('that was not used for 12 hours is over', async ({ service, ann }) => {
    const session = await service.login('ann');
    await sql(service, `update dws.session set expires_at = now() - interval '1 second' where user_id = $1`, ann.id);
    const answer = await session.get('/me');
    expect(answer).toMatchObject(GONE);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await session.gql('{ me { id } }')).toMatchObject({
      status: 401,
      errors: [{ message: 'Missing authentication', extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });

  test('ends with a logout, which clears the cookie and ends no other session', async ({ service, ann }) => {
    expect(ann.username).toBe('ann');
    const [left, kept] = [await service.login('ann'), await service.login('ann')];
    expect(await left.get('/me')).toMatchObject({ status: 200 });
    const answer = await left.post('/logout');
    expect(answer.status).toBe(204);
    expect(cookieOf(answer)).toMatch(/^dws_session=; .*(Expires=Thu, 01 Jan 1970|Max-Age=0)/);
    expect(await left.get('/me')).toMatchObject(GONE);
    expect(await kept.get('/me')).toMatchObject({ status: 200 });
    expect(await kept.data('mutation { logout }')).toEqual({ logout: true });
    expect(await kept.get('/me')).toMatchObject(GONE);
    expect(await new Client(service.url).post('/logout')).toMatchObject({ status: 204 });
  });

  test('is listed to its user alone and ended by them at once', async ({ service, ann, bob }) => {
    const [one, other] = [await service.login('ann'), await service.login('ann')];
    const list = (await one.get('/sessions')).body;
    const ids: string[] = list._embedded['svc:session'].map(({ id }: { id: string }) => id);
    expect(list._embedded['svc:session'][0]).toMatchObject({
      address: '127.0.0.1',
      lastUsedAt: expect.any(String),
      expiresAt: expect.any(String),
      createdAt: expect.any(String),
    });
    expect(Object.keys(list._embedded['svc:session'][0])).not.toContain('tokenHash');
    expect(
      (await bob.get('/sessions')).body._embedded['svc:session'].some(({ id }: { id: string }) => ids.includes(id)),
    ).toBe(false);
    expect(await bob.delete(`/sessions/${ids[0]}`)).toMatchObject({ status: 404 });
    expect(await other.get('/me')).toMatchObject({ status: 200 });
    expect(await one.delete(`/sessions/${ids[0]}`)).toMatchObject({ status: 204 });
    expect(await other.get('/me')).toMatchObject(GONE);
    expect(await ann.gql(`mutation { deleteSession(id: "${ids[0]}") }`)).toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
    expect(await ann.data(`mutation { deleteSession(id: "${ids[1]}") }`)).toEqual({ deleteSession: ids[1] });
    expect(await one.get('/me')).toMatchObject(GONE);
  });

  test('sees a change of rights with the next request', async ({ service, admin }) => {
    await service.user('hugo');
    const hugo = await service.login('hugo');
    expect(await hugo.post('/teams', { name: 'Hugos' })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission teams:create' },
    });
    await admin.put('/users/hugo/global-permissions', { permissions: ['teams:create'] });
    expect(await hugo.post('/teams', { name: 'Hugos' })).toMatchObject({
      status: 201,
      body: { permissions: { edit: true } },
    });
    await admin.put('/users/hugo/global-permissions', { permissions: [] });
    expect(await hugo.post('/teams', { name: 'Hugos' })).toMatchObject({ status: 403 });
  });
});

describe('a password', () => {
  const NEW = 'a quite different one';

  test('is changed by who knows it, in a session, and ends all other sessions but no API token', async ({
    service,
    anonymous,
  }) => {
    const token = await service.user('ida');
    const [mine, other] = [await service.login('ida'), await service.login('ida')];
    const change = { currentPassword: PASSWORD, password: NEW };
    expect(await token.put('/me/password', change)).toMatchObject({ status: 403 });
    expect(await mine.put('/me/password', { ...change, currentPassword: 'not it' })).toMatchObject({
      status: 400,
      body: { code: 'BAD_USER_INPUT', validation: [{ path: ['currentPassword'] }] },
    });
    expect(await other.get('/me')).toMatchObject({ status: 200 });
    expect(await mine.put('/me/password', change)).toMatchObject({ status: 204 });
    expect(await other.get('/me')).toMatchObject(GONE);
    expect(await mine.get('/me')).toMatchObject({ status: 200, body: { passwordExpiresAt: null } });
    expect(await token.get('/me')).toMatchObject({ status: 200 });
    expect(await login(anonymous, 'ida')).toMatchObject(WRONG);
    expect(await login(anonymous, 'ida', NEW)).toMatchObject({ status: 200 });
    expect(await mine.data(`mutation { changePassword(currentPassword: "${NEW}", password: "${PASSWORD}") }`)).toEqual({
      changePassword: true,
    });
  });

  test('has at least 12 characters and is not the username', async ({ service }) => {
    await service.user('the-long-name');
    const session = await service.login('the-long-name');
    for (const password of ['eleven char', 'The-Long-Name', 'x'.repeat(1025)]) {
      expect(await session.put('/me/password', { currentPassword: PASSWORD, password })).toMatchObject({
        status: 400,
        body: { validation: [{ path: ['password'] }] },
      });
    }
  });
});

describe('disabling or deleting a user', () => {
  test('ends sessions and tokens at once', async ({ service, admin }) => {
    for (const [name, end] of [
      ['jan', () => admin.put('/users/jan', { enabled: false })],
      ['kim', () => admin.delete('/users/kim')],
    ] as const) {
      const token = await service.user(name);
      const session = await service.login(name);
      for (const client of [token, session]) expect(await client.get('/me')).toMatchObject({ status: 200 });
      expect((await end()).status).toBeLessThan(300);
      for (const client of [token, session]) {
        expect(await client.get('/me')).toMatchObject(GONE);
        expect(await client.gql('{ me { id } }')).toMatchObject({ status: 401 });
      }
    }
    expect(await admin.put('/users/jan', { enabled: true })).toMatchObject({ status: 200 });
    expect(await service.login('jan')).toMatchObject({ username: 'jan' });
  });

  test('ends an open event stream', async ({ service, admin }) => {
    const lena = await service.user('lena');
    await sql(
      service,
      `insert into dws.operation (id, tenant_id, work_id, user_id, operation, resource_kind, resource_id, status, progress)
      select $1, tenant_id, $1, id, 'dataset.refresh', 'dataset', $1, 'running', 'mine' from dws.app_user where id = $2`,
      '01900000-0000-7000-8000-00000000000a',
      lena.id,
    );
    const stream = await fetch(`${service.url}/api/progress/mine/events`, { headers: lena.headers });
    expect(stream.headers.get('content-type')).toMatch('text/event-stream');
    const reader = stream.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch('event: progress');
    await admin.put('/users/lena', { enabled: false });
    let end = await reader.read();
    while (!end.done) end = await reader.read();
    expect(end.done).toBe(true);
  });
});

describe('a request with the session cookie that changes something', () => {
  const tries = (session: Client): [string, (headers: Record<string, string>) => Promise<{ status: number }>][] => [
    ['REST', (headers) => session.put('/me', { displayName: 'Changed' }, headers)],
    [
      'GraphQL',
      (headers) =>
        session.request(
          'POST',
          '/graphql',
          { query: 'mutation { updateMe(input: { displayName: "Changed" }) { id } }' },
          headers,
        ),
    ],
  ];
  const origin = ({ url }: Client) => ({ origin: url });

  test('must say that it is of the same origin', async ({ service, admin }) => {
    await service.user('mia');
    const session = bare(await service.login('mia'));
    for (const [channel, change] of tries(session)) {
      for (const headers of [
        {},
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site', ...origin(session) },
      ] as Record<string, string>[]) {
        expect(await change(headers), `${channel} ${JSON.stringify(headers)}`).toMatchObject({ status: 403 });
      }
      expect((await admin.get('/users/mia')).body.displayName).toBeNull();
      for (const headers of [{ 'sec-fetch-site': 'same-origin' }, origin(session)])
        expect(await change(headers), channel).toMatchObject({ status: 200 });
      expect((await admin.get('/users/mia')).body.displayName).toBe('Changed');
      await admin.put('/users/mia', { displayName: null });
    }
    expect(await session.get('/me')).toMatchObject({ status: 200 });
    expect(await session.data('{ me { username } }')).toEqual({ me: { username: 'mia' } });
    expect(await session.gql('mutation { logout }')).toMatchObject({
      status: 403,
      errors: [
        {
          message: 'A request with a session cookie must come from the same origin',
          extensions: { code: 'FORBIDDEN', status: 403 },
        },
      ],
    });
    expect(await session.post('/logout')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(await session.get('/me')).toMatchObject({ status: 200 });
  });

  test('cannot hide in a form: multipart, text and forms are refused in both APIs', async ({ service, admin }) => {
    await service.user('nora');
    const session = bare(await service.login('nora'));
    const form = new FormData();
    form.set('operations', JSON.stringify({ query: 'mutation { updateMe(input: { displayName: "Forged" }) { id } }' }));
    form.set('displayName', 'Forged');
    const text = JSON.stringify({
      query: 'mutation { updateMe(input: { displayName: "Forged" }) { id } }',
      displayName: 'Forged',
    });
    for (const path of ['/graphql', '/api/me']) {
      const method = path === '/graphql' ? 'POST' : 'PUT';
      for (const headers of [{}, { origin: 'https://evil.example' }, { origin: service.url }] as Record<
        string,
        string
      >[]) {
        expect((await session.request(method, path, form, headers)).status).toBeGreaterThanOrEqual(400);
        expect(
          (await session.request(method, path, text, { 'content-type': 'text/plain', ...headers })).status,
        ).toBeGreaterThanOrEqual(400);
        expect(
          (
            await session.request(method, path, 'displayName=Forged', {
              'content-type': 'application/x-www-form-urlencoded',
              ...headers,
            })
          ).status,
        ).toBeGreaterThanOrEqual(400);
      }
    }
    const address = `/graphql?query=${encodeURIComponent('mutation { updateMe(input: { displayName: "Forged" }) { id } }')}`;
    expect((await session.request('GET', address, undefined, { 'apollo-require-preflight': '1' })).status).toBe(405);
    expect((await admin.get('/users/nora')).body.displayName).toBeNull();
  });

  test('may come from CORS_ORIGINS, and only those may read answers', async () => {
    const service = await startService({ CORS_ORIGINS: 'https://app.example, https://other.example' });
    try {
      await service.user('olga');
      const session = bare(await service.login('olga'));
      const friend = { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' };
      const answer = await session.put('/me', { displayName: 'Olga' }, friend);
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
      expect(await session.put('/me', { displayName: 'Evil' }, { origin: 'https://evil.example' })).toMatchObject({
        status: 403,
      });
      expect(
        (await session.get('/me', { origin: 'https://evil.example' })).headers.get('access-control-allow-origin'),
      ).toBeNull();

      const preflight = await session.request('OPTIONS', '/api/me', undefined, {
        ...friend,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type',
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-methods')).toMatch(/PUT.*DELETE/);
      const foreign = await session.request('OPTIONS', '/api/me', undefined, {
        origin: 'https://evil.example',
        'access-control-request-method': 'PUT',
      });
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    } finally {
      await service.close();
    }
  });
});

test('a bearer token needs to say nothing of where it comes from', async ({ ann, bob }: World) => {
  expect(await ann.put('/me', { displayName: 'Ann' })).toMatchObject({ status: 200 });
  expect(await ann.put('/me', { displayName: 'Ann' }, { origin: 'https://evil.example' })).toMatchObject({
    status: 200,
  });
  expect(await bob.gql('mutation { updateMe(input: { displayName: "Bob" }) { displayName } }')).toMatchObject({
    status: 200,
    data: { updateMe: { displayName: 'Bob' } },
  });
});

import { Writable } from 'node:stream';
import { describe, expect, vi } from 'vitest';
import { resetPassword } from '../../src/services/identity/operator.ts';
import { Client, type ApiResponse } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { startMailServer } from '../support/mail-server.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';

const NEW = 'a quite different one';
const GONE = {
  status: 410,
  body: {
    statusCode: 410,
    error: 'Gone',
    message: 'This link was already used, has expired or never existed',
    code: 'GONE',
  },
};

const sql = (service: Service, text: string, ...values: unknown[]) => service.platform.system.query({ text, values });
const ask = (client: Client, username: string, more = {}) => client.post('/password-reset', { username, ...more });
const reset = (client: Client, token: string, password = NEW): Promise<ApiResponse> =>
  client.post(`/password-reset/${token}`, { password });
const mayLogIn = async (service: Service, username: string, password: string) =>
  (await new Client(service.url).post('/login', { username, password })).status === 200;

/** The secrets mailed to a user, the latest first, as somebody who reads their mail finds them. */
async function links(service: Service, user: Client): Promise<string[]> {
  const mails = (await sql(
    service,
    `select sealed_text from dws.mail where user_id = $1 order by created_at desc, id desc`,
    user.id,
  )) as { sealed_text: string }[];
  return mails.map(
    (mail) =>
      /^http:\/\/127\.0\.0\.1\/password-reset\/([\w-]{43})$/m.exec(
        service.platform.secrets.open(mail.sealed_text),
      )![1]!,
  );
}

/** A new user and the secret of a link that was mailed to them. */
async function asked(service: Service, name: string): Promise<{ user: Client; token: string }> {
  const user = await service.user(name);
  expect(await ask(new Client(service.url), name)).toMatchObject({ status: 204, body: '' });
  return { user, token: (await links(service, user))[0]! };
}

describe('a mailed link', () => {
  test('sets a new password by REST, once', async ({ service, anonymous }) => {
    const { token } = await asked(service, 'rita');
    expect(await reset(anonymous, token)).toMatchObject({ status: 204, body: '' });
    expect(await mayLogIn(service, 'rita', NEW)).toBe(true);
    expect(await mayLogIn(service, 'rita', PASSWORD)).toBe(false);
    expect(await reset(anonymous, token, 'yet another password')).toMatchObject(GONE);
    expect(await mayLogIn(service, 'rita', NEW)).toBe(true);
  });

  test('sets a new password by GraphQL, once', async ({ service, anonymous }) => {
    const user = await service.user('greta');
    expect(await anonymous.data('mutation { requestPasswordReset(username: "Greta", tenant: "default") }')).toEqual({
      requestPasswordReset: true,
    });
    const [token] = await links(service, user);
    const document = 'mutation ($token: String!) { resetPassword(token: $token, password: "a quite different one") }';
    expect(await anonymous.data(document, { token })).toEqual({ resetPassword: true });
    expect(await mayLogIn(service, 'greta', NEW)).toBe(true);
    expect(await anonymous.gql(document, { token })).toMatchObject({
      status: 200,
      errors: [{ message: GONE.body.message, extensions: { code: 'GONE', status: 410 } }],
    });
  });

  test('goes to the address of the user', async () => {
    const server = await startMailServer();
    const service = await startService({ SMTP_URL: server.url, PUBLIC_URL: 'https://dws.example' });
    try {
      await service.user('ann');
      await sql(service, `update dws.app_user set email = 'ann@example.com'`);
      await ask(new Client(service.url), 'ann');
      await vi.waitFor(() => expect(server.received).toHaveLength(1), { timeout: 10_000 });
      const [{ to, text, headers }] = server.received as [(typeof server.received)[0]];
      expect(to).toEqual(['ann@example.com']);
      expect(headers.get('subject')).toBe('Set a new password');
      const token = /^https:\/\/dws\.example\/password-reset\/([\w-]{43})$/m.exec(text)![1]!;
      expect(await reset(new Client(service.url), token)).toMatchObject({ status: 204 });
    } finally {
      await service.close();
      await server.close();
    }
  });

  test('stays in the outbox for an operator when its user has no address', async ({ service, admin }) => {
    const { user, token } = await asked(service, 'homeless');
    expect((await admin.get('/outbox?q=homeless')).body._embedded['svc:mail']).toMatchObject([
      {
        userId: user.id,
        to: 'homeless',
        status: 'failed',
        error: expect.stringMatching(/hand the mail over/),
        text: expect.stringContaining(token),
      },
    ]);
  });

  test('ends all sessions, keeps API tokens and unlocks', async ({ service, anonymous }) => {
    const { user, token } = await asked(service, 'sam');
    const sessions = [await service.login('sam'), await service.login('sam')];
    for (const session of sessions) expect(await session.get('/session')).toMatchObject({ status: 200 });
    await sql(
      service,
      `update dws.app_user set locked_at = now(), login_attempts = 10, password_expires_at = now() - interval '1 day' where id = $1`,
      user.id,
    );
    expect(await reset(anonymous, token)).toMatchObject({ status: 204 });
    for (const session of sessions) expect(await session.get('/session')).toMatchObject({ status: 401 });
    expect(await user.get('/me')).toMatchObject({
      status: 200,
      body: { locked: false, lockedAt: null, loginAttempts: 0, passwordExpiresAt: null },
    });
    expect(await mayLogIn(service, 'sam', NEW)).toBe(true);
  });

  test('expires after an hour, and no invented one is taken', async ({ service, anonymous }) => {
    const { user, token } = await asked(service, 'late');
    const [{ minutes }] = (await sql(
      service,
      `select extract(epoch from expires_at - created_at) / 60 as minutes from dws.password_reset where user_id = $1`,
      user.id,
    )) as [{ minutes: string }];
    expect(Number(minutes)).toBeCloseTo(60, 1);
    await sql(
      service,
      `update dws.password_reset set expires_at = now() - interval '1 second' where user_id = $1`,
      user.id,
    );
    expect(await reset(anonymous, token)).toMatchObject(GONE);
    for (const invented of ['x', 'A'.repeat(43), `${token}A`, token.toLowerCase(), '%20', 'ü'])
      expect(await reset(anonymous, encodeURIComponent(invented)), invented).toMatchObject(GONE);
    expect(await mayLogIn(service, 'late', NEW)).toBe(false);
  });

  test('is not used up by a password that is refused', async ({ service, anonymous }) => {
    const { token } = await asked(service, 'an-ordinary-name');
    for (const [password, complaint] of [
      ['short', /at least 12/],
      ['AN-ordinary-name', /username/],
      ['x'.repeat(1025), /at most 1024/],
    ] as const) {
      expect(await reset(anonymous, token, password)).toMatchObject({
        status: 400,
        body: {
          code: 'BAD_USER_INPUT',
          message: expect.stringMatching(complaint),
          validation: [{ path: ['password'] }],
        },
      });
    }
    expect(await anonymous.post(`/password-reset/${token}`, {})).toMatchObject({ status: 400 });
    expect(await anonymous.post(`/password-reset/${token}`, { password: NEW, surprise: 1 })).toMatchObject({
      status: 400,
    });
    expect(await reset(anonymous, token)).toMatchObject({ status: 204 });
  });

  test('works for one of many who use it at once', async ({ service, anonymous }) => {
    const { token } = await asked(service, 'mobbed');
    const passwords = Array.from({ length: 8 }, (_, n) => `password number ${n}`);
    const answers = await Promise.all(passwords.map((password) => reset(anonymous, token, password)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array(7).fill(410)]);
    for (const [n, password] of passwords.entries())
      expect(await mayLogIn(service, 'mobbed', password)).toBe(answers[n]!.status === 204);
  });

  test('ends with the others of its user when one is used, also at the same time', async ({ service, anonymous }) => {
    const { user } = await asked(service, 'twice');
    await ask(anonymous, 'twice');
    const tokens = await links(service, user);
    expect(new Set(tokens).size).toBe(2);
    const answers = await Promise.all(tokens.map((token) => reset(anonymous, token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 410]);
  });

  for (const [what, change] of Object.entries({
    'is disabled': (_service, user, admin) => admin.put(`/users/${user.id}`, { enabled: false }),
    'gets another address': (_service, user, admin) => admin.put(`/users/${user.id}`, { email: 'other@example.com' }),
    'moves to another domain': (_service, user, admin) => admin.put(`/users/${user.id}`, { domain: 'ldap' }),
    'changes the password': async (service, user) =>
      (await service.login(user.username)).put('/me/password', { currentPassword: PASSWORD, password: NEW }),
    'gets a password from the operator': (service, user) =>
      resetPassword(service.platform.system, 'default', user.username),
    'is deleted': (_service, user, admin) => admin.delete(`/users/${user.id}`),
  } satisfies Record<string, (service: Service, user: Client, admin: Client) => Promise<unknown>>)) {
    test(`ends when its user ${what}`, async ({ service, admin, anonymous }) => {
      const { user, token } = await asked(service, what.replaceAll(' ', '-'));
      await change(service, user, admin);
      expect(await reset(anonymous, token)).toMatchObject(GONE);
    });
  }

  test('stays when something else of its user changes', async ({ service, admin, anonymous }) => {
    const { user, token } = await asked(service, 'renamed');
    expect(
      await admin.put(`/users/${user.id}`, {
        displayName: 'Somebody',
        settings: { theme: 'dark' },
        email: null,
        domain: 'local',
        enabled: true,
      }),
    ).toMatchObject({ status: 200 });
    expect(await reset(anonymous, token)).toMatchObject({ status: 204 });
  });
});

describe('asking for a link', () => {
  test('is answered alike whoever is named, and mails only enabled local users of the tenant', async ({
    service,
    anonymous,
    stranger,
  }) => {
    for (const name of ['disabled', 'foreign', 'fine']) await service.user(name);
    await sql(service, `update dws.app_user set enabled = false where username = 'disabled'`);
    await sql(service, `update dws.app_user set domain = 'ldap' where username = 'foreign'`);
    const before = await sql(service, `select id from dws.mail`);
    const bodies = [
      { username: 'nobody' },
      { username: 'disabled' },
      { username: 'foreign' },
      { username: stranger.username },
      { username: 'fine', tenant: 'other' },
      { username: 'fine', tenant: 'none' },
      { username: '' },
      { username: "'; drop table" },
      { username: 'x'.repeat(5000) },
      { username: 'nul\u0000' },
    ];
    for (const body of bodies)
      expect(await anonymous.post('/password-reset', body), JSON.stringify(body)).toMatchObject({
        status: 204,
        body: '',
      });
    expect(await sql(service, `select id from dws.mail`)).toHaveLength(before.length);
    expect(await ask(anonymous, 'FINE', { tenant: null })).toMatchObject({ status: 204, body: '' });
    expect(await ask(anonymous, stranger.username, { tenant: 'other' })).toMatchObject({ status: 204, body: '' });
    expect(await sql(service, `select id from dws.mail`)).toHaveLength(before.length + 2);
    expect(
      await sql(
        service,
        `select t.slug from dws.mail m join dws.tenant t on t.id = m.tenant_id where m.user_id = $1`,
        stranger.id,
      ),
    ).toEqual([{ slug: 'other' }]);
  });

  test('does not change the password, nor end sessions', async ({ service }) => {
    const { user } = await asked(service, 'calm');
    const session = await service.login('calm');
    await ask(new Client(service.url), 'calm');
    expect(await session.get('/session')).toMatchObject({ status: 200 });
    expect(await user.get('/me')).toMatchObject({ status: 200 });
  });

  test('mails a user ten links an hour at most, also when all ask at once', async ({ service, anonymous }) => {
    const user = await service.user('flooded');
    const answers = await Promise.all(Array.from({ length: 14 }, () => ask(anonymous, 'flooded')));
    expect(answers.map(({ status }) => status)).toEqual(Array(14).fill(204));
    expect(await links(service, user)).toHaveLength(10);
    await sql(
      service,
      `update dws.password_reset set created_at = created_at - interval '1 hour' where user_id = $1`,
      user.id,
    );
    await ask(anonymous, 'flooded');
    expect(await links(service, user)).toHaveLength(11);
  });

  test('is limited like logins, by user and address, whether there is such a user or not', async () => {
    const service = await startService({ RATE_LIMIT_LOGIN: '3' });
    try {
      const client = new Client(service.url);
      await service.user('ann');
      for (const name of ['ann', 'nobody']) {
        for (let n = 0; n < 3; n++) expect(await ask(client, name)).toMatchObject({ status: 204 });
        const refused = await ask(client, name.toUpperCase());
        expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
        expect(refused.headers.get('retry-after')).toBe('60');
      }
      expect(await client.gql('mutation { requestPasswordReset(username: "ann") }')).toMatchObject({
        status: 429,
        errors: [{ extensions: { code: 'RATE_LIMITED' } }],
      });
      expect(await ask(client, 'somebody-else')).toMatchObject({ status: 204 });
      // Logins are counted by themselves.
      expect(await mayLogIn(service, 'ann', PASSWORD)).toBe(true);
    } finally {
      await service.close();
    }
  });
});

describe('a user who moves to the domain local', () => {
  test('is mailed a link and sets a password by it', async ({ service, admin, anonymous }) => {
    const user = await service.user('mover');
    await sql(
      service,
      `update dws.app_user set domain = 'ldap', password_hash = null, email = 'mover@example.com' where id = $1`,
      user.id,
    );
    expect(await admin.put('/users/mover', { domain: 'local', displayName: 'Mover' })).toMatchObject({
      status: 200,
      body: { domain: 'local' },
    });
    expect((await admin.get('/outbox?q=mover')).body._embedded['svc:mail']).toMatchObject([
      { to: 'mover@example.com', status: 'queued', text: expect.stringMatching(/your account has moved/) },
    ]);
    expect(await reset(anonymous, (await links(service, user))[0]!)).toMatchObject({ status: 204 });
    expect(await mayLogIn(service, 'mover', NEW)).toBe(true);
    expect(await admin.put('/users/mover', { domain: 'local' })).toMatchObject({ status: 200 });
    expect(await links(service, user)).toHaveLength(1);
  });

  test('is mailed nothing when the change is refused', async ({ service, admin, bob }) => {
    const user = await service.user('stayer');
    await sql(service, `update dws.app_user set domain = 'ldap' where id = $1`, user.id);
    expect(await admin.put('/users/stayer', { domain: 'local', username: bob.username })).toMatchObject({
      status: 409,
    });
    expect(await user.put('/users/stayer', { domain: 'local' })).toMatchObject({ status: 403 });
    expect(await links(service, user)).toEqual([]);
  });
});

describe('the secret of a link', () => {
  test('is neither in the log nor in the database', async () => {
    const lines: string[] = [];
    const log = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(chunk.toString());
        done();
      },
    });
    const service = await startService({ LOG_LEVEL: 'trace' }, { log });
    try {
      const { token } = await asked(service, 'ann');
      const client = new Client(service.url);
      await client.request('GET', `/password-reset/${token}`);
      await client.get(`/password-reset/${token}`);
      await client.get(`/nothing/password-reset/${token}`);
      await reset(client, token, 'short');
      await client.gql('mutation ($token: String!) { resetPassword(token: $token, password: "short") }', { token });
      await client.gql(`mutation { resetPassword(token: "${token}", password: "short") }`);
      await (await service.user('admin', { superuser: true })).get('/outbox');
      await reset(client, token);
      await reset(client, token);
      const tables = (await sql(
        service,
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'dws'`,
      )) as { name: string }[];
      expect(tables.length).toBeGreaterThan(10);
      for (const { name } of tables.filter((table) => table.name !== 'dws.migration')) {
        const rows = (await sql(service, `select to_jsonb(r)::text as row from ${name} r`)) as { row: string }[];
        expect(
          rows.filter(({ row }) => row.includes(token)),
          name,
        ).toEqual([]);
      }
      expect(lines.length).toBeGreaterThan(5);
      expect(lines.filter((line) => line.includes(token))).toEqual([]);
      expect(lines.join('')).toContain('/password-reset/:token');
    } finally {
      await service.close();
    }
  });
});

describe('the page of a link', () => {
  test('is a form for anybody that runs its own script only, and lets nobody know the link', async ({ anonymous }) => {
    const token = 'T'.repeat(43);
    const page = await anonymous.request('GET', `/password-reset/${token}`);
    expect(page).toMatchObject({
      status: 200,
      body: expect.stringMatching(/<form[\s\S]*type="password"[\s\S]*<script src="\/password-reset\.js"><\/script>/),
    });
    expect(page.body).not.toContain(token);
    expect(page.body).not.toMatch(/(src|href)="(?!\/)/);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'self'; script-src 'self';.*frame-ancestors 'none'/,
    );
    expect(await anonymous.request('GET', '/password-reset.js')).toMatchObject({
      status: 200,
      body: expect.stringContaining(`fetch('/api' + location.pathname`),
    });
  });
});

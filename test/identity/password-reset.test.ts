import { describe, expect } from 'vitest';
import { resetPassword as resetByOperator } from '../../src/services/identity/operator.ts';
import { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startMailServer } from '../support/mail-server.ts';
import {
  canLogIn,
  createUserWithLink,
  expectLinkGone,
  mailedTokens,
  NEW_PASSWORD,
  requestLink,
  resetPassword,
} from '../support/password-reset-fixture.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

describe('a mailed link', () => {
  test('sets a new password over REST, once', async ({ service, anonymous }) => {
    const { token } = await createUserWithLink(service, 'rita');
    expect(await resetPassword(anonymous, token)).toMatchObject({ status: 204, body: '' });
    expect(await canLogIn(service, 'rita', NEW_PASSWORD)).toBe(true);
    expect(await canLogIn(service, 'rita', PASSWORD)).toBe(false);
    await expectLinkGone(resetPassword(anonymous, token, 'yet another password'));
    expect(await canLogIn(service, 'rita', NEW_PASSWORD)).toBe(true);
  });

  test('sets a new password over GraphQL, once', async ({ service, anonymous }) => {
    const user = await service.user('greta');
    expect(await anonymous.data('mutation { requestPasswordReset(username: "Greta", tenant: "default") }')).toEqual({
      requestPasswordReset: true,
    });
    const [token] = await mailedTokens(service, user);
    const document = `mutation ($token: String!) { resetPassword(token: $token, password: "${NEW_PASSWORD}") }`;
    expect(await anonymous.data(document, { token })).toEqual({ resetPassword: true });
    expect(await canLogIn(service, 'greta', NEW_PASSWORD)).toBe(true);
    expect(await anonymous.gql(document, { token })).toMatchObject({
      status: 200,
      errors: [
        {
          message: 'This link was already used, has expired or never existed',
          extensions: { code: 'GONE', status: 410 },
        },
      ],
    });
  });

  test('is sent to the e-mail address of the user', async () => {
    const server = await startMailServer();
    const service = await startService({ SMTP_URL: server.url, PUBLIC_URL: 'https://dws.example' });
    try {
      await service.user('ann');
      await systemQuery(service, `update dws.app_user set email = 'ann@example.com'`);
      await requestLink(new Client(service.url), 'ann');
      await expect.poll(() => server.received).toHaveLength(1);
      const [{ to, text, headers }] = server.received as [(typeof server.received)[0]];
      expect(to).toEqual(['ann@example.com']);
      expect(headers.get('subject')).toBe('Set a new password');
      const token = /^https:\/\/dws\.example\/password-reset\/([\w-]{43})$/m.exec(text)![1]!;
      await expectStatus(resetPassword(new Client(service.url), token), 204);
    } finally {
      await service.close();
      await server.close();
    }
  });

  test('stays in the outbox for an operator if the user has no address', async ({ service, admin }) => {
    const { user, token } = await createUserWithLink(service, 'homeless');
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

  test('ends all sessions but no API tokens, and unlocks the user', async ({ service, anonymous }) => {
    const { user, token } = await createUserWithLink(service, 'sam');
    const sessions = [await service.login('sam'), await service.login('sam')];
    for (const session of sessions) await expectStatus(session.get('/session'), 200);
    await systemQuery(
      service,
      `update dws.app_user set
        locked_at = now(), login_attempts = 10, password_expires_at = now() - interval '1 day'
      where id = $1`,
      user.id,
    );
    await expectStatus(resetPassword(anonymous, token), 204);
    for (const session of sessions) await expectStatus(session.get('/session'), 401);
    await expectBody(user.get('/me'), 200, {
      locked: false,
      lockedAt: null,
      loginAttempts: 0,
      passwordExpiresAt: null,
    });
    expect(await canLogIn(service, 'sam', NEW_PASSWORD)).toBe(true);
  });

  test('expires after an hour', async ({ service, anonymous }) => {
    const { user, token } = await createUserWithLink(service, 'late');
    const [link] = await systemQuery(
      service,
      `select extract(epoch from expires_at - created_at) / 60 as minutes
      from dws.password_reset where user_id = $1`,
      user.id,
    );
    expect(Number(link!['minutes'])).toBeCloseTo(60, 1);
    await systemQuery(
      service,
      `update dws.password_reset set expires_at = now() - interval '1 second' where user_id = $1`,
      user.id,
    );
    await expectLinkGone(resetPassword(anonymous, token));
    for (const invented of ['x', 'A'.repeat(43), `${token}A`, token.toLowerCase(), '%20', 'ü'])
      await expectLinkGone(resetPassword(anonymous, encodeURIComponent(invented)));
    expect(await canLogIn(service, 'late', NEW_PASSWORD)).toBe(false);
  });

  test('is not used up by a refused password', async ({ service, anonymous }) => {
    const { token } = await createUserWithLink(service, 'an-ordinary-name');
    const refused: [password: string, message: RegExp][] = [
      ['short', /at least 12/],
      ['AN-ordinary-name', /username/],
      ['x'.repeat(1025), /at most 1024/],
    ];
    for (const [password, message] of refused)
      await expectBody(resetPassword(anonymous, token, password), 400, {
        code: 'BAD_USER_INPUT',
        message: expect.stringMatching(message),
        validation: [{ path: ['password'] }],
      });
    await expectStatus(anonymous.post(`/password-reset/${token}`, {}), 400);
    await expectStatus(anonymous.post(`/password-reset/${token}`, { password: NEW_PASSWORD, surprise: 1 }), 400);
    await expectStatus(resetPassword(anonymous, token), 204);
  });

  test('works once when it is used several times concurrently', async ({ service, anonymous }) => {
    const { token } = await createUserWithLink(service, 'mobbed');
    const passwords = Array.from({ length: 8 }, (_, n) => `password number ${n}`);
    const responses = await Promise.all(passwords.map((password) => resetPassword(anonymous, token, password)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([204, ...Array(7).fill(410)]);
    for (const [n, password] of passwords.entries())
      expect(await canLogIn(service, 'mobbed', password)).toBe(responses[n]!.status === 204);
  });

  test('ends when another link of the user is used, even at the same time', async ({ service, anonymous }) => {
    const { user } = await createUserWithLink(service, 'twice');
    await requestLink(anonymous, 'twice');
    const tokens = await mailedTokens(service, user);
    expect(new Set(tokens).size).toBe(2);
    const responses = await Promise.all(tokens.map((token) => resetPassword(anonymous, token)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 410]);
  });

  const changes: Record<string, (service: Service, user: Client, admin: Client) => Promise<unknown>> = {
    'is locked by an administrator': (_service, user, admin) => admin.put(`/users/${user.id}`, { locked: true }),
    'is disabled': (_service, user, admin) => admin.put(`/users/${user.id}`, { enabled: false }),
    'gets another address': (_service, user, admin) => admin.put(`/users/${user.id}`, { email: 'other@example.com' }),
    'moves to another domain': (_service, user, admin) => admin.put(`/users/${user.id}`, { domain: 'ldap' }),
    'changes the password': async (service, user) =>
      (await service.login(user.username)).put('/me/password', { currentPassword: PASSWORD, password: NEW_PASSWORD }),
    'gets a password from the operator': (service, user) =>
      resetByOperator(service.platform.system, 'default', user.username),
    'is deleted': (_service, user, admin) => admin.delete(`/users/${user.id}`),
  };
  for (const [what, change] of Object.entries(changes))
    test(`ends when its user ${what}`, async ({ service, admin, anonymous }) => {
      const { user, token } = await createUserWithLink(service, what.replaceAll(' ', '-'));
      await change(service, user, admin);
      await expectLinkGone(resetPassword(anonymous, token));
    });

  test('stays valid when other fields of its user change', async ({ service, admin, anonymous }) => {
    const { user, token } = await createUserWithLink(service, 'renamed');
    const update = {
      displayName: 'Another name',
      settings: { theme: 'dark' },
      email: null,
      domain: 'local',
      enabled: true,
    };
    await expectStatus(admin.put(`/users/${user.id}`, update), 200);
    await expectStatus(resetPassword(anonymous, token), 204);
  });
});

describe('a user who moves to the domain local', () => {
  test('is mailed a link', async ({ service, admin, anonymous }) => {
    const user = await service.user('mover');
    await systemQuery(
      service,
      `update dws.app_user set domain = 'ldap', password_hash = null, email = 'mover@example.com' where id = $1`,
      user.id,
    );
    await expectBody(admin.put('/users/mover', { domain: 'local', displayName: 'Mover' }), 200, { domain: 'local' });
    expect((await admin.get('/outbox?q=mover')).body._embedded['svc:mail']).toMatchObject([
      { to: 'mover@example.com', status: 'queued', text: expect.stringMatching(/your account has moved/) },
    ]);
    await expectStatus(resetPassword(anonymous, (await mailedTokens(service, user))[0]!), 204);
    expect(await canLogIn(service, 'mover', NEW_PASSWORD)).toBe(true);
    await expectStatus(admin.put('/users/mover', { domain: 'local' }), 200);
    expect(await mailedTokens(service, user)).toHaveLength(1);
  });

  test('is mailed one link, however often the record is sent back, and none on the way out', async ({
    service,
    admin,
  }) => {
    const user = await service.user('wanderer');
    for (const domain of ['ldap', 'saml', 'saml'])
      await expectBody(admin.put('/users/wanderer', { domain }), 200, { domain });
    expect(await mailedTokens(service, user)).toEqual([]);
    const record = await expectBody(admin.put('/users/wanderer', { domain: 'local' }), 200, { domain: 'local' });
    for (let n = 0; n < 2; n += 1) await expectStatus(admin.put('/users/wanderer', record), 200);
    expect(await mailedTokens(service, user)).toHaveLength(1);
    await expectStatus(admin.put('/users/wanderer', { domain: 'ldap' }), 200);
    expect(await mailedTokens(service, user)).toHaveLength(1);
  });

  test('is mailed nothing if the change is refused', async ({ service, admin, bob }) => {
    const user = await service.user('stayer');
    await systemQuery(service, `update dws.app_user set domain = 'ldap' where id = $1`, user.id);
    await expectStatus(admin.put('/users/stayer', { domain: 'local', username: bob.username }), 409);
    await expectStatus(user.put('/users/stayer', { domain: 'local' }), 403);
    expect(await mailedTokens(service, user)).toEqual([]);
  });
});

import { describe, expect } from 'vitest';
import { deleteExpiredCredentials } from '../../src/services/identity/credential-cleanup.ts';
import { recordEvents } from '../support/audit-fixture.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import {
  createDomainUser,
  expectNotLoggedIn,
  logInByProvider,
  test,
  userOf,
} from '../support/provider-login-fixture.ts';
import { PASSWORD } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const REFUSED = 'You cannot log in here with this account';

describe('the user of a login at a provider', () => {
  test('is the unlinked user of that name and domain, without case, and then the one of that account', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    await register('linking');
    const id = await createDomainUser(service, 'Erin', 'Linking');
    provider.account = { sub: 'erin', preferred_username: 'eRIN' };
    // Providers add parameters of their own.
    provider.forgery = { callback: { session_state: 'a.b', authuser: '0', scope: 'openid email' } };
    const first = new BrowserSession();
    await logInByProvider(service, 'linking', first);
    expect((await userOf(service, first))!['id']).toBe(id);

    await expectStatus(admin.put('/users/Erin', { username: 'erin.married' }), 200);
    provider.account = { sub: 'erin', preferred_username: 'erin-renamed-there' };
    const second = new BrowserSession();
    await logInByProvider(service, 'linking', second);
    expect(await userOf(service, second), 'both names have changed').toMatchObject({ id, username: 'erin.married' });

    provider.account = { sub: 'someone else', preferred_username: 'erin.married' };
    const other = new BrowserSession();
    await expectNotLoggedIn(service, other, await logInByProvider(service, 'linking', other), 401, REFUSED);
  });

  test('loses the credentials of before when the account is linked, and none at later logins', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    const { id } = await register('hijack', { enabled: false });
    const early = await service.user('wanda');
    await systemQuery(service, `update dws.app_user set domain = 'hijack' where id = $1`, early.id);
    const logIn = () => new Client(service.url).post('/login/hijack', { username: 'wanda', password: PASSWORD });
    const cookie = (await logIn()).headers.getSetCookie()[0]!.split(';')[0]!;
    const session = new Client(service.url, { cookie });
    for (const client of [early, session]) await expectStatus(client.get('/me'), 200);
    await expectStatus(admin.put(`/identity-providers/${id}`, { enabled: true }), 200);

    provider.account = { sub: 'wanda', preferred_username: 'wanda' };
    const browser = new BrowserSession();
    await logInByProvider(service, 'hijack', browser);
    expect(await userOf(service, browser)).toMatchObject({ id: early.id, passwordSetAt: null });
    for (const client of [early, session]) await expectStatus(client.get('/me'), 401);
    await expectStatus(admin.put(`/identity-providers/${id}`, { enabled: false }), 200);
    await expectStatus(logIn(), 401);
    await expectStatus(admin.put(`/identity-providers/${id}`, { enabled: true }), 200);

    const again = new BrowserSession();
    await logInByProvider(service, 'hijack', again);
    for (const one of [browser, again]) expect(await userOf(service, one)).toMatchObject({ id: early.id });
  });

  test('is never one of another domain, a local one or a superuser; the audit log says whose name it is', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    await register('greedy', { createUsers: true });
    const local = (await service.user('frank')).id;
    const foreign = await createDomainUser(service, 'grace', 'elsewhere');
    const boss = await createDomainUser(service, 'heidi', 'greedy', 'enabled = true, superuser = true');
    for (const [username, id] of [
      ['frank', local],
      ['FRANK', local],
      ['grace', foreign],
      ['heidi', boss],
      ['admin', admin.id],
    ] as const) {
      provider.account = { sub: `sub of ${username}`, preferred_username: username };
      const browser = new BrowserSession();
      const events = await recordEvents(service, async () =>
        expectNotLoggedIn(service, browser, await logInByProvider(service, 'greedy', browser), 401, REFUSED),
      );
      expect(events, username).toMatchObject([
        { action: 'finishLogin', outcome: 'denied', kind: 'user', resourceId: id, userId: null, username },
      ]);
    }
    expect(
      await systemQuery(service, `select from dws.user_identity where user_id = any($1)`, [local, foreign, boss]),
    ).toEqual([]);
  });

  test('is refused once they became a superuser, or moved to another domain', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    await register('moving');
    const id = await createDomainUser(service, 'ivan', 'moving');
    provider.account = { sub: 'ivan', preferred_username: 'ivan' };
    const signedIn = async () => {
      const browser = new BrowserSession();
      const shown = await logInByProvider(service, 'moving', browser);
      if (!(await userOf(service, browser))) await expectNotLoggedIn(service, browser, shown, 401, REFUSED);
      return (await userOf(service, browser)) !== null;
    };
    expect(await signedIn()).toBe(true);
    await expectStatus(admin.put(`/users/${id}/superuser`, { superuser: true }), 200);
    expect(await signedIn(), 'a superuser').toBe(false);
    await expectStatus(admin.delete(`/users/${id}/superuser`), 204);
    expect(await signedIn()).toBe(true);
    await expectStatus(admin.put(`/users/${id}`, { domain: 'local' }), 200);
    expect(await signedIn(), 'a local user').toBe(false);
  });

  test('is refused while they are disabled or locked', async ({ service, provider, register, admin }) => {
    await register('closed');
    const id = await createDomainUser(service, 'judy', 'closed');
    provider.account = { sub: 'judy', preferred_username: 'judy' };
    const browser = new BrowserSession();
    await logInByProvider(service, 'closed', browser);
    expect(await userOf(service, browser)).toMatchObject({ id });
    for (const [refused, open] of [
      [{ enabled: false }, { enabled: true }],
      [{ locked: true }, { locked: false }],
    ]) {
      await expectStatus(admin.put(`/users/${id}`, refused), 200);
      const other = new BrowserSession();
      await expectNotLoggedIn(service, other, await logInByProvider(service, 'closed', other), 401, REFUSED);
      await expectStatus(admin.put(`/users/${id}`, open), 200);
      const again = new BrowserSession();
      await logInByProvider(service, 'closed', again);
      expect(await userOf(service, again)).toMatchObject({ id });
    }
  });

  test('of another tenant is another user', async ({ service, provider, register }) => {
    await service.user('foreign-admin', { tenant: 'other', superuser: true });
    const foreigner = await service.login('foreign-admin', { tenant: 'other' });
    await register('shared');
    const here = await createDomainUser(service, 'karl', 'shared');
    await foreigner.creates('/identity-providers', {
      domain: 'shared',
      name: 'Shared',
      issuer: provider.url,
      ...CLIENT,
      createUsers: true,
    });
    provider.account = { sub: 'karl', preferred_username: 'karl' };
    const browser = new BrowserSession();
    const shown = await browser.open(`${service.url}/api/login/shared?tenant=other&returnTo=/api/docs`);
    expect(shown.url).toBe(`${service.url}/api/docs`);
    expect(provider.requests.find(({ path }) => path === '/token')!.body.get('redirect_uri')).toBe(
      `${service.url}/api/login/shared/callback/other`,
    );
    const there = (await userOf(service, browser))!;
    expect(there).toMatchObject({ username: 'karl', domain: 'shared' });
    expect(there['id']).not.toBe(here);
    expect((await foreigner.get('/users/karl')).body.id).toBe(there['id']);
  });

  test('is separated from their account when the issuer changes', async ({ service, provider, register, admin }) => {
    const { id } = await register('issuer');
    const first = await createDomainUser(service, 'lena', 'issuer');
    provider.account = { sub: '1', preferred_username: 'lena' };
    await logInByProvider(service, 'issuer');
    const links = () => systemQuery(service, 'select subject from dws.user_identity where user_id = $1', first);
    expect(await links()).toEqual([{ subject: '1' }]);
    await admin.put(`/identity-providers/${id}`, { name: 'Same issuer' });
    expect(await links()).toEqual([{ subject: '1' }]);
    await expectStatus(
      admin.put(`/identity-providers/${id}`, { issuer: 'https://login.elsewhere.example', clientSecret: 'x' }),
      200,
    );
    expect(await links()).toEqual([]);
  });
});

describe('a login of an account without a user', () => {
  const refused = async (service: Parameters<typeof logInByProvider>[0], domain: string) => {
    const browser = new BrowserSession();
    await expectNotLoggedIn(service, browser, await logInByProvider(service, domain, browser), 401, REFUSED);
  };

  test('is refused unless the provider creates users', async ({ service, provider, register, admin }) => {
    const { id } = await register('strict');
    provider.account = { sub: 'mia', preferred_username: 'mia' };
    await refused(service, 'strict');
    await expectStatus(admin.get('/users/mia'), 404);
    await admin.put(`/identity-providers/${id}`, { createUsers: true });
    await logInByProvider(service, 'strict');
    await expectStatus(admin.get('/users/mia'), 200);
  });

  test('creates an enabled member of the teams with the permissions of a new user', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    const team = await admin.creates('/teams', { name: 'Welcome' });
    const gone = await admin.creates('/teams', { name: 'Gone' });
    await register('welcome', { createUsers: true, teamIds: [team.id, gone.id] });
    await admin.delete(`/teams/${gone.id}`);
    provider.account = { sub: 'nina', preferred_username: 'nina', email: 'n@x.example', email_verified: false };
    const browser = new BrowserSession();
    await logInByProvider(service, 'welcome', browser);
    const user = (await userOf(service, browser))!;
    expect(user).toMatchObject({ username: 'nina', domain: 'welcome', enabled: true, superuser: false, email: null });
    const { body } = await admin.get('/users/nina/memberships');
    expect(body._embedded['svc:membership']).toMatchObject([{ teamId: team.id, role: 'member' }]);
    const { body: granted } = await admin.get('/users/nina/global-permissions');
    expect(granted.permissions).toContain('datasets:create');
    expect(granted.permissions).not.toContain('users:edit');
    await expectError(
      new Client(service.url).post('/login', { username: 'nina', password: PASSWORD, domain: 'welcome' }),
      401,
    );
  });

  test('creates users only for verified addresses of the allowed domains', async ({ service, provider, register }) => {
    await register('limited', { createUsers: true, emailDomains: ['Corp.example'] });
    for (const [index, more] of [
      {},
      { email: 'a@corp.example' },
      { email: 'a@corp.example', email_verified: false },
      { email: 'a@corp.example', email_verified: 'false' },
      { email: 'a@sub.corp.example', email_verified: true },
      { email: 'a@corp.example.attacker', email_verified: true },
      { email: 'corp.example', email_verified: true },
      { email: 'a@corp.example@attacker.example', email_verified: true },
      { email: `${'a'.repeat(320 - '@corp.example'.length)}@corp.example.attacker.example`, email_verified: true },
      { email: 7, email_verified: true },
    ].entries()) {
      provider.account = { sub: `o${index}`, preferred_username: `olga${index}`, ...more };
      await refused(service, 'limited');
    }
    provider.account = { sub: 'o', preferred_username: 'olga', email: 'a@CORP.example', email_verified: true };
    const browser = new BrowserSession();
    await logInByProvider(service, 'limited', browser);
    expect(await userOf(service, browser)).toMatchObject({ username: 'olga', email: 'a@CORP.example' });
  });

  test('is refused for a name that no user can have, or a claim that is missing', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    const { id } = await register('names', { createUsers: true });
    for (const name of [
      undefined,
      null,
      7,
      '',
      'two words',
      '../x',
      'x'.repeat(101),
      '01900000-0000-7000-8000-00000000000a',
      ['a'],
    ]) {
      provider.account = { sub: 'p', preferred_username: name };
      await refused(service, 'names');
    }
    await admin.put(`/identity-providers/${id}`, { usernameClaim: 'email' });
    provider.account = { sub: 'p', email: 'paul@corp.example', email_verified: false };
    await refused(service, 'names');
    provider.account = { sub: 'p', email: 'paul@corp.example', email_verified: true };
    const browser = new BrowserSession();
    await logInByProvider(service, 'names', browser);
    expect(await userOf(service, browser)).toMatchObject({ username: 'paul@corp.example' });
  });

  test('creates one user however many callbacks arrive at once', async ({ service, provider, register }) => {
    await register('crowd', { createUsers: true });
    provider.account = { sub: 'quinn', preferred_username: 'quinn' };
    const browsers = Array.from({ length: 6 }, () => new BrowserSession());
    await Promise.all(browsers.map((browser) => logInByProvider(service, 'crowd', browser)));
    const users = await Promise.all(browsers.map((browser) => userOf(service, browser)));
    expect(users[0]).toMatchObject({ username: 'quinn' });
    expect(new Set(users.map((user) => user?.['id'])).size).toBe(1);
  });
});

describe('a password', () => {
  test('is refused for users of a domain with an enabled provider, like a wrong one', async ({
    service,
    register,
    admin,
  }) => {
    await createDomainUser(service, 'rosa', 'Passwords');
    const logIn = (domain: string, password = PASSWORD) =>
      new Client(service.url).post(`/login/${domain}`, { username: 'rosa', password });
    await expectStatus(logIn('Passwords'), 200);
    const { id } = await register('passwords');
    const wrong = await logIn('Passwords', 'a wrong password');
    const right = await logIn('Passwords');
    expect([right.status, right.body]).toEqual([401, wrong.body]);
    expect(right.body.message).toBe('Invalid username or password');
    const [{ attempts } = { attempts: -1 }] = await systemQuery<{ attempts: number }>(
      service,
      'select login_attempts as attempts from dws.app_user where username = $1',
      'rosa',
    );
    expect(attempts, 'no failure that could lock the user out').toBe(0);
    await admin.put(`/identity-providers/${id}`, { enabled: false });
    await expectStatus(logIn('Passwords'), 200);
  });

  test('of local users and of domains in other tenants is accepted', async ({ service, register }) => {
    await register('tenanted');
    const id = (await service.user('sven', { tenant: 'other' })).id;
    await systemQuery(service, `update dws.app_user set domain = 'tenanted' where id = $1`, id);
    const anonymous = new Client(service.url);
    await expectStatus(
      anonymous.post('/login/tenanted', { username: 'sven', password: PASSWORD, tenant: 'other' }),
      200,
    );
    await expectStatus(anonymous.post('/login', { username: 'admin', password: PASSWORD }), 200);
  });
});

test('the cleanup deletes the records of used logins after an hour', async ({ service, provider, register }) => {
  await register('cleanup', { createUsers: true });
  provider.account = { sub: 'tina', preferred_username: 'tina' };
  await logInByProvider(service, 'cleanup');
  const count = async () => (await systemQuery(service, 'select from dws.used_login')).length;
  const before = await count();
  expect(before).toBeGreaterThan(0);
  await deleteExpiredCredentials(service.platform.system);
  expect(await count()).toBe(before);
  await service.platform.system.transaction(async (query) => {
    await query({ text: `insert into dws.used_login (state_hash, at) values ('old', now() - interval '61 minutes')` });
  });
  await deleteExpiredCredentials(service.platform.system);
  expect(await count()).toBe(before);
});

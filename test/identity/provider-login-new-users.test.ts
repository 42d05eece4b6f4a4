import { describe, expect } from 'vitest';
import { deleteExpiredCredentials } from '../../src/services/identity/credential-cleanup.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
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

  test('is refused without a name, or with an address that is not verified as name', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    const { id } = await register('names', { createUsers: true });
    for (const name of [undefined, null, 7, '', ' ', ['a']]) {
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

  test('creates one user however many callbacks arrive concurrently', async ({ service, provider, register }) => {
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
  await deleteExpiredCredentials((statement) => service.platform.system.query(statement));
  expect(await count()).toBe(before);
  await service.platform.system.transaction(async (query) => {
    await query({ text: `insert into dws.used_login (state_hash, at) values ('old', now() - interval '61 minutes')` });
  });
  await deleteExpiredCredentials((statement) => service.platform.system.query(statement));
  expect(await count()).toBe(before);
});

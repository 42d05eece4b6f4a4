import { describe, expect } from 'vitest';
import { recordEvents } from '../support/audit-fixture.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
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

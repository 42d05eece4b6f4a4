import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { numberedUsernames, toUsername, usernameIssue } from '../../src/core/account-rules.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { expectStatus } from '../support/expect.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import {
  createDomainUser,
  expectNotLoggedIn,
  logInByProvider,
  test,
  userOf,
} from '../support/provider-login-fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const REFUSED = 'You cannot log in here with this account';

/** Logs in and returns the user; null if the login is refused. */
async function logIn(service: Service, domain: string): Promise<Record<string, unknown> | null> {
  const browser = new BrowserSession();
  await logInByProvider(service, domain, browser);
  return userOf(service, browser);
}

describe('a name that no username can be', () => {
  /** Names that providers issue, e.g. Entra for guests (`#EXT#`) and Active Directory for users of a domain. */
  const NAMES: [name: string, username: string][] = [
    ['ann+dws@example.org', 'ann-dws@example.org'],
    ["sean.o'brien@example.org", 'sean.o-brien@example.org'],
    ['jürgen.müller', 'jurgen.muller'],
    ['ann_example.org#EXT#@contoso.example', 'ann_example.org-EXT@contoso.example'],
    ['CORP\\ann', 'CORP-ann'],
    ['_svc', 'svc'],
    ['two  words', 'two-words'],
    ['../x', 'x'],
    ['Zoë (Sales)', 'Zoe-Sales'],
    ['b'.repeat(101), 'b'.repeat(90)],
    ['01900000-0000-7000-8000-00000000000a', 'user-01900000-0000-7000-8000-00000000000a'],
    ['山田太郎', 'user'],
    ['---', 'user-2'],
  ];

  test('gets a new user with a similar name, who is found again by the account', async ({
    service,
    provider,
    register,
  }) => {
    await register('similar', { createUsers: true });
    for (const [index, [name, username]] of NAMES.entries()) {
      provider.account = { sub: `similar-${index}`, preferred_username: name, name };
      const user = await logIn(service, 'similar');
      expect(user).toMatchObject({ username, displayName: name.replaceAll('  ', ' ').slice(0, 255) });
      expect(await logIn(service, 'similar')).toMatchObject({ id: user!['id'] });
    }
  });

  test('stands for no user who exists', async ({ service, provider, register }) => {
    await register('twins', { createUsers: true });
    const unlinked = await createDomainUser(service, 'jorg', 'twins');
    const taken: unknown[] = [];
    for (const name of ['jörg', 'jórg', 'JÖRG', 'jo\u0308rg@x.example', 'jörg@x.example']) {
      provider.account = { sub: name, preferred_username: name };
      taken.push((await logIn(service, 'twins'))!['username']);
    }
    expect(taken).toEqual(['jorg-2', 'jorg-3', 'JORG-4', 'jorg@x.example', 'jorg-2@x.example']);
    expect(await systemQuery(service, 'select from dws.user_identity where user_id = $1', unlinked)).toEqual([]);
    provider.account = { sub: 'exact', preferred_username: 'jorg' };
    expect(await logIn(service, 'twins')).toMatchObject({ id: unlinked });
  });

  test('gives its user to no other account, even when the accounts of the provider are unlinked', async ({
    service,
    provider,
    register,
    admin,
  }) => {
    const { id } = await register('unlinked', { createUsers: true });
    const created: Record<string, unknown>[] = [];
    for (const [sub, name] of [
      ['a', 'jürgen'],
      ['b', 'jürgen'],
      ['c', 'exact'],
    ] as const) {
      provider.account = { sub, preferred_username: name };
      created.push((await logIn(service, 'unlinked'))!);
    }
    expect(created.map(({ username }) => username)).toEqual(['jurgen', 'jurgen-2', 'exact']);
    for (const issuer of ['https://login.elsewhere.example', provider.url])
      await expectStatus(admin.put(`/identity-providers/${id}`, { issuer, ...CLIENT }), 200);
    await expectStatus(admin.put(`/users/${String(created[0]!['id'])}`, { username: 'Jurgen' }), 200);
    for (const name of ['jurgen', 'Jurgen', 'jurgen-2']) {
      provider.account = { sub: `taker of ${name}`, preferred_username: name };
      expect(await logIn(service, 'unlinked'), name).toBeNull();
    }
    provider.account = { sub: 'new c', preferred_username: 'exact' };
    expect(await logIn(service, 'unlinked')).toMatchObject({ id: created[2]!['id'] });
    // A user manager decides whose name it is.
    await expectStatus(admin.put(`/users/${String(created[0]!['id'])}`, { username: 'juergen' }), 200);
    provider.account = { sub: 'j', preferred_username: 'juergen' };
    expect(await logIn(service, 'unlinked')).toMatchObject({ id: created[0]!['id'] });
  });

  test('is refused by a provider that creates no users', async ({ service, provider, register }) => {
    await register('uncreated');
    await createDomainUser(service, 'bjorn', 'uncreated');
    provider.account = { sub: 'b', preferred_username: 'bjørn' };
    const browser = new BrowserSession();
    await expectNotLoggedIn(service, browser, await logInByProvider(service, 'uncreated', browser), 401, REFUSED);
  });

  test('is used as verified address only', async ({ service, provider, register }) => {
    await register('addresses', { createUsers: true, usernameClaim: 'email' });
    provider.account = { sub: 'a', email: 'ann+a@example.org', email_verified: false };
    expect(await logIn(service, 'addresses')).toBeNull();
    provider.account = { sub: 'a', email: 'ann+a@example.org', email_verified: true };
    expect(await logIn(service, 'addresses')).toMatchObject({
      username: 'ann-a@example.org',
      email: 'ann+a@example.org',
    });
  });

  test('becomes a valid username, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.uuid(), fc.string({ minLength: 95 })), (name) => {
        const username = toUsername(name);
        expect(usernameIssue(username)).toBeUndefined();
        const numbered = numberedUsernames(username);
        expect(numbered.filter((each) => usernameIssue(each) !== undefined)).toEqual([]);
        expect(new Set(numbered).size).toBe(999);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the user info', () => {
  const address = 'vera@example.org';
  const VERIFICATIONS: [title: string, idToken: object, userInfo: object, email: string | null][] = [
    ['verifies the address of the ID token', { email: address }, { email: address, email_verified: true }, address],
    ['verifies its own address only', { email: 'x@y.example' }, { email: address, email_verified: true }, address],
    ['says nothing of an address that it does not name', { email: address }, { email_verified: true }, null],
    ['has an address that only the ID token could verify', { email_verified: true }, { email: address }, null],
    ['does not verify its address', { email: address }, { email: address, email_verified: false }, null],
    [
      'has an address that the ID token does not verify',
      { email_verified: true },
      { email: address, email_verified: false },
      null,
    ],
    [
      'counts less than the ID token',
      { email: address, email_verified: false },
      { email: 'x@y.example', email_verified: true },
      null,
    ],
  ];

  test.for([...VERIFICATIONS.entries()])(
    '%#: an address',
    async ([index, [, idToken, userInfo, email]], { service, provider, register }) => {
      const domain = `info-${index}`;
      await register(domain, { createUsers: true });
      provider.account = { sub: domain, preferred_username: domain, ...idToken };
      provider.userInfo = userInfo as Record<string, unknown>;
      expect(await logIn(service, domain)).toMatchObject({ username: domain, email });
    },
  );

  test.for([401, 403, 404, 500, 503])(
    'that fails with %i leaves the claims of the ID token',
    async (status, { service, provider, register }) => {
      const domain = `fails-${status}`;
      await register(domain, { createUsers: true });
      provider.account = { sub: domain, preferred_username: domain };
      provider.userInfo = status;
      const user = await logIn(service, domain);
      expect(user).toMatchObject({ username: domain, email: null });
      // The account is known now: the ID token needs no name.
      provider.account = { sub: domain };
      expect(await logIn(service, domain)).toMatchObject({ id: user!['id'] });
      provider.account = { sub: `new-${status}` };
      const browser = new BrowserSession();
      const shown = await logInByProvider(service, domain, browser);
      await expectNotLoggedIn(
        service,
        browser,
        shown,
        status === 503 ? 503 : 500,
        /is not available at present|is not usable/,
      );
    },
  );
});

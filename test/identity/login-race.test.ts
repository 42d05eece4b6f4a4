import { describe, expect } from 'vitest';
import type { Query } from '../../src/core/database.ts';
import { hashPassword } from '../../src/services/identity/password.ts';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import { changeDuring } from '../support/race.ts';
import { PASSWORD } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/*
 * Changes between the check of a credential and the write that relies on it: docs/contract/access.md#sessions,
 * docs/contract/access.md#passwords.
 */

const NEW_PASSWORD = 'a quite different one';
const OTHER_HASH = await hashPassword('yet another password');

/** Returns a change of the user `$1`. */
const set = (assignments: string) => (query: Query, id: string) =>
  query({ text: `update dws.app_user set ${assignments} where id = $1`, values: [id] });

const endSessions = (query: Query, id: string) =>
  query({ text: `delete from dws.session where user_id = $1`, values: [id] });

describe('a login with a password opens no session if, after the check of the password,', () => {
  const changes: [what: string, change: ReturnType<typeof set>][] = [
    ['it is changed', set(`password_hash = '${OTHER_HASH}'`)],
    ['it is deleted', set('password_hash = null')],
    ['it expires', set('password_expires_at = now()')],
    ['the user moves to another domain', set(`domain = 'ldap'`)],
    ['the user is disabled', set('enabled = false')],
    ['an administrator locks the user', set('admin_locked_at = now()')],
  ];
  test.for(changes)('%s', async ([what, change], { service, anonymous }) => {
    const name = what.replaceAll(' ', '-');
    const { id } = await service.user(name);
    const logins = {
      rest: () => anonymous.post('/login', { username: name, password: PASSWORD }),
      graphql: () =>
        anonymous.request('POST', '/graphql', {
          query: `mutation { login(username: "${name}", password: "${PASSWORD}") { expiresAt } }`,
        }),
    };
    for (const send of Object.values(logins)) {
      const [user] = await systemQuery(service, `select password_hash, domain from dws.app_user where id = $1`, id);
      const response = await changeDuring(service, id, send, (query) => change(query, id));
      expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
      await systemQuery(
        service,
        `update dws.app_user set
          password_hash = $2, domain = $3, password_expires_at = null, enabled = true, admin_locked_at = null
        where id = $1`,
        id,
        user!['password_hash'],
        user!['domain'],
      );
    }
    expect(await systemQuery(service, `select id from dws.session where user_id = $1`, id)).toEqual([]);
    await expectStatus(logins.rest(), 200);
  });

  test('its domain gets an identity provider', async ({ service, admin, anonymous }) => {
    const { id } = await service.user('corporate');
    await systemQuery(service, `update dws.app_user set domain = 'corp' where id = $1`, id);
    const session = await service.login(admin.username);
    const provider = { domain: 'corp', name: 'Corp', issuer: 'https://id.example.com', ...CLIENT };
    const login = { username: 'corporate', password: PASSWORD, domain: 'corp' };
    await expectStatus(anonymous.post('/login', login), 200);
    const response = await changeDuring(
      service,
      id,
      () => anonymous.post('/login', login),
      () => session.creates('/identity-providers', provider),
    );
    expect(response.status).toBe(401);
  });
});

test('a login opens a session when something else of the user changes during it', async ({ service, anonymous }) => {
  const { id } = await service.user('renamed');
  const response = await changeDuring(
    service,
    id,
    () => anonymous.post('/login', { username: 'renamed', password: PASSWORD }),
    (query) => set(`display_name = 'Renamed', email = 'r@example.com'`)(query, id),
  );
  expect(response.status).toBe(200);
});

describe('a change of the own password is refused if, after the check of the current one,', () => {
  const changes: [what: string, change: (query: Query, id: string) => Promise<unknown>, status: number][] = [
    ['another one is set', set(`password_hash = '${OTHER_HASH}'`), 400],
    ['the session ends', endSessions, 401],
    [
      'a reset sets another one',
      (query, id) => set(`password_hash = '${OTHER_HASH}'`)(query, id).then(() => endSessions(query, id)),
      401,
    ],
  ];
  test.for(changes)('%s', async ([what, change, status], { service }) => {
    const name = what.replaceAll(' ', '-');
    const { id } = await service.user(name);
    const session = await service.login(name);
    const response = await changeDuring(
      service,
      id,
      () => session.put('/me/password', { currentPassword: PASSWORD, password: NEW_PASSWORD }),
      (query) => change(query, id),
    );
    expect(response.status).toBe(status);
    await expectStatus(new Client(service.url).post('/login', { username: name, password: NEW_PASSWORD }), 401);
  });

  test('another session of the user changes it concurrently', async ({ service }) => {
    await service.user('twin');
    const sessions = [await service.login('twin'), await service.login('twin')];
    const responses = await Promise.all(
      sessions.map((session, n) =>
        session.put('/me/password', { currentPassword: PASSWORD, password: `${NEW_PASSWORD} ${n}` }),
      ),
    );
    // 400 if the later one reads the password only after the change of the first.
    expect(responses.map(({ status }) => status).toSorted()).toEqual([204, expect.toBeOneOf([400, 401])]);
  });
});

describe('a caller whose credential ends during the request creates', () => {
  const deleteTokens = (query: Query, id: string) =>
    query({ text: `delete from dws.api_token where user_id = $1`, values: [id] });
  const newUser = (username: string) => ({ username, password: NEW_PASSWORD, enabled: true });
  const requests: [
    what: string,
    by: 'session' | 'token',
    send: (client: Client) => ReturnType<Client['post']>,
    change: (query: Query, id: string) => Promise<unknown>,
    status: number,
  ][] = [
    ['no token', 'session', (client) => client.post('/tokens', { name: 'late' }), endSessions, 401],
    [
      'no user after the end of the session',
      'session',
      (client) => client.post('/users', newUser('late-1')),
      endSessions,
      401,
    ],
    [
      'no user after the end of the token',
      'token',
      (client) => client.post('/users', newUser('late-2')),
      deleteTokens,
      401,
    ],
    [
      'no user when disabled',
      'token',
      (client) => client.post('/users', newUser('late-3')),
      set('enabled = false'),
      401,
    ],
    [
      'no user without the permission',
      'token',
      (client) => client.post('/users', newUser('late-4')),
      set(`superuser = false, permissions = '[]'`),
      403,
    ],
    [
      'no superuser when no longer one',
      'session',
      (client) => client.post('/users', { ...newUser('late-5'), superuser: true }),
      set(`superuser = false, permissions = '["users:create"]'`),
      403,
    ],
  ];
  test.for(requests)('%s', async ([what, by, send, change, status], { service }) => {
    const name = what.replaceAll(' ', '-');
    const token = await service.user(name, { superuser: true });
    const client = by === 'token' ? token : await service.login(name);
    const response = await changeDuring(
      service,
      token.id,
      () => send(client),
      (query) => change(query, token.id),
    );
    expect(response.status).toBe(status);
    const created = await systemQuery(
      service,
      `select username as name from dws.app_user where username like 'late-%' union all
      select name from dws.api_token where name = 'late'`,
    );
    expect(created).toEqual([]);
  });
});

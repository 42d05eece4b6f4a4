import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD } from '../support/service.ts';

const BAD_INPUT = { code: 'BAD_USER_INPUT' };

/** Two values of every field that the specification lists for an update of a user. */
const NEW_VALUES = {
  username: ['one-name', 'another-name'],
  displayName: ['One', null],
  givenName: ['One', null],
  familyName: ['One', null],
  middleName: ['One', null],
  email: ['one@example.com', null],
  enabled: [false, true],
  settings: [{ language: 'de', notifications: { email: true } }, {}],
  timezone: ['Europe/Paris', null],
  domain: ['ldap', 'saml'],
  locked: [true, false],
  lockedAt: ['2026-01-31T09:30:00.000Z', null],
  loginAttempts: [3, 0],
  passwordSetAt: ['2026-01-31T09:30:00.000Z', null],
  passwordExpiresAt: ['2030-01-31T09:30:00.000Z', null],
} satisfies Record<string, readonly [unknown, unknown]>;

describe('updating a user', () => {
  test('lets users change their own profile', async ({ ann }) => {
    await expectBody(
      ann.put('/me', { displayName: 'Ann', email: 'ann@example.org', settings: { language: 'de' } }),
      200,
      { displayName: 'Ann', settings: { language: 'de' } },
    );
    await expectBody(ann.put('/users/ann', { givenName: 'Anna', email: null }), 200, {
      displayName: 'Ann',
      givenName: 'Anna',
      email: null,
    });
  });

  test('requires users:edit for other users and for other fields', async ({ service, ann, bob }) => {
    await expectError(ann.put('/users/bob', { displayName: 'Robert' }), 403, 'You lack the permission user:edit');
    const adminFields = {
      enabled: false,
      username: 'anna',
      locked: true,
      passwordExpiresAt: '2030-01-01T00:00:00.000Z',
    };
    for (const [field, value] of Object.entries(adminFields))
      await expectError(
        ann.put('/users/ann', { [field]: value }),
        403,
        `Changing ${field} requires the permission user:edit`,
      );

    const editor = await service.user('editor', { permissions: ['users:edit'] });
    await expectBody(
      editor.put(`/users/${bob.id}`, { displayName: 'Robert', timezone: 'UTC', loginAttempts: 3 }),
      200,
      { username: 'bob', displayName: 'Robert', loginAttempts: 3 },
    );
    await expectError(editor.put('/users/nobody', { displayName: 'x' }), 404, 'There is no user nobody');
  });

  test.for(Object.entries(NEW_VALUES))('changes %s, in both APIs', async ([field, values], { service, admin }) => {
    const { id } = await service.user(`with-${field}`);
    const [first, second] = values;
    await expectBody(admin.put(`/users/${id}`, { [field]: first }), 200, { [field]: first });
    await expectBody(admin.get(`/users/${id}`), 200, { [field]: first });
    const document = `mutation ($id: String!, $input: UpdateUserInput!) {
      updateUser(username: $id, input: $input) { ${field} }
    }`;
    const { updateUser } = await admin.data(document, { id, input: { [field]: second } });
    expect(updateUser).toEqual({ [field]: second });
    await expectBody(admin.get(`/users/${id}`), 200, { [field]: second });
  });

  test('changes all profile fields of the caller', async ({ service }) => {
    const client = await service.user('profile');
    const fields = ['displayName', 'givenName', 'familyName', 'middleName', 'email', 'timezone', 'settings'] as const;
    const profile = Object.fromEntries(fields.map((field) => [field, NEW_VALUES[field][0]]));
    await expectBody(client.put('/me', profile), 200, profile);
    await expectBody(client.get('/me'), 200, { ...profile, username: 'profile' });
    const cleared = Object.fromEntries(fields.slice(0, -1).map((field) => [field, null]));
    await expectBody(client.put('/me', cleared), 200, { ...cleared, settings: profile['settings'] });
  });

  test('accepts a record that was edited and sent back', async ({ ann, admin }) => {
    const me = (await ann.get('/me')).body;
    await expectBody(ann.put('/me', { ...me, displayName: 'Ann again' }), 200, { displayName: 'Ann again' });
    const own = (await ann.get('/users/ann')).body;
    await expectBody(ann.put('/users/ann', { ...own, familyName: 'Own' }), 200, { familyName: 'Own' });
    const seen = (await admin.get('/users/ann')).body;
    await expectBody(admin.put('/users/ann', { ...seen, middleName: 'M' }), 200, { middleName: 'M', locked: false });
    const locked = await expectBody(admin.put('/users/ann', { locked: true }), 200, {
      locked: true,
      lockedAt: expect.any(String),
    });
    await expectBody(admin.put('/users/ann', { ...locked, locked: false }), 200, { locked: false, lockedAt: null });
  });

  test('refuses changed identity fields, unknown keys and null for required fields', async ({ admin, ann, bob }) => {
    const refused: [field: string, value: unknown][] = [
      ['id', bob.id],
      ['createdAt', '2020-01-01T00:00:00.000Z'],
      ['superuser', true],
      ['nickname', 'A'],
      ['enabled', null],
      ['settings', null],
      ['password', PASSWORD],
    ];
    for (const [field, value] of refused)
      await expectBody(admin.put('/users/ann', { [field]: value }), 400, { validation: [{ path: [field] }] });
    for (const body of [{ username: 'anna' }, { enabled: false }, { superuser: true }])
      await expectBody(ann.put('/me', body), 400, BAD_INPUT);
    await expectGraphqlError(
      admin.gql('mutation { updateUser(username: "ann", input: { superuser: true }) { id } }'),
      'BAD_USER_INPUT',
    );
  });

  test('renames the user within the rules of usernames', async ({ service, admin }) => {
    const pat = await service.user('pat');
    await service.user('pam');
    await expectBody(admin.put('/users/pat', { username: 'Pat' }), 200, { username: 'Pat' });
    await expectStatus(admin.put('/users/pat', { username: 'PAM' }), 409);
    await expectStatus(admin.put('/users/pat', { username: 'no spaces' }), 400);
    await expectStatus(admin.put('/users/pat', { username: 'patricia' }), 200);
    await expectBody(pat.get('/me'), 200, { username: 'patricia' });
    await expectStatus(admin.get('/users/pat'), 404);
  });

  test('ends password, sessions and tokens of a user who moves to another domain', async ({ service, admin }) => {
    const token = await service.user('emigrant');
    const session = await service.login('emigrant');
    const logIn = (domain: string) =>
      new Client(service.url).post(`/login/${domain}`, { username: 'emigrant', password: PASSWORD });
    await expectStatus(admin.put('/users/emigrant', { domain: 'local', displayName: 'Stays' }), 200);
    for (const client of [token, session]) await expectStatus(client.get('/me'), 200);
    await expectBody(admin.put('/users/emigrant', { domain: 'ldap' }), 200, { domain: 'ldap', passwordSetAt: null });
    for (const client of [token, session]) await expectStatus(client.get('/me'), 401);
    await expectStatus(logIn('ldap'), 401);
    const { updateUser } = await admin.data(
      'mutation { updateUser(username: "emigrant", input: { domain: "local" }) { domain } }',
    );
    expect(updateUser).toEqual({ domain: 'local' });
    await expectStatus(logIn('local'), 401);
  });

  test('obeys If-Match on every route that changes a user', async ({ service, admin, bob }) => {
    const session = await service.login(admin.username);
    const path = `/users/${bob.id}`;
    const etag = (await session.get(path)).headers.get('etag')!;
    await expectStatus(session.put(path, { middleName: 'Newer' }), 200);
    const stale = { 'if-match': etag };
    for (const response of [
      await session.put(path, { middleName: 'Older' }, stale),
      await session.put(`${path}/theme`, { theme: 'dark' }, stale),
      await session.put(`${path}/global-permissions`, { permissions: [] }, stale),
      await session.put(`${path}/superuser`, { superuser: true }, stale),
      await session.delete(`${path}/superuser`, stale),
      await session.delete(path, stale),
      await bob.put('/me', { middleName: 'Older' }, stale),
    ])
      await expectError(response, 412, 'The user has changed since you read it');
    await expectBody(session.get(path), 200, { middleName: 'Newer', settings: {}, superuser: false });
    const current = { 'if-match': (await session.get(path)).headers.get('etag')! };
    await expectStatus(session.put(`${path}/theme`, { theme: 'light' }, current), 200);
  });

  test('obeys If-Match', async ({ admin, bob }) => {
    const path = `/users/${bob.id}`;
    const etag = (await admin.get(path)).headers.get('etag')!;
    await expectStatus(admin.get(path, { 'if-none-match': etag }), 304);
    await expectStatus(admin.put(path, { middleName: 'First' }, { 'if-match': etag }), 200);
    await expectBody(admin.put(path, { middleName: 'Second' }, { 'if-match': etag }), 412, {
      code: 'PRECONDITION_FAILED',
    });
  });
});

describe('setting the theme of a user', () => {
  test('changes that setting only, for the user and for admins', async ({ ann, bob, admin }) => {
    await ann.put('/me', { settings: { language: 'fr' } });
    await expectBody(ann.put('/users/ann/theme', { theme: 'dark' }), 200, {
      username: 'ann',
      settings: { language: 'fr', theme: 'dark' },
    });
    expect(await admin.data('mutation { setTheme(username: "ann", theme: AUTO) { settings } }')).toEqual({
      setTheme: { settings: { language: 'fr', theme: 'auto' } },
    });
    await expectStatus(bob.put('/users/ann/theme', { theme: 'light' }), 403);
    await expectError(ann.put('/users/ann/theme', { theme: 'pink' }), 400, /theme.*pink|pink.*theme/);
    await expectGraphqlError(ann.gql('mutation { setTheme(username: "ann", theme: PINK) { id } }'), 'BAD_USER_INPUT');
    await expectBody(ann.put('/users/ann/theme', {}), 400, BAD_INPUT);
  });
});

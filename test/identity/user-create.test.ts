import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD } from '../support/service.ts';

const newUser = (username: string, more = {}) => ({ username, password: PASSWORD, ...more });

describe('creating a user', () => {
  test('returns 201 with the location and fills in defaults', async ({ admin }) => {
    const created = await admin.post(
      '/users',
      newUser('Zoe.Smith', { displayName: ' Zoe ', email: 'zoe@example.org', timezone: 'Europe/Paris' }),
    );
    await expectBody(created, 201, {
      username: 'Zoe.Smith',
      displayName: 'Zoe',
      enabled: false,
      createdAt: expect.any(String),
      _links: { self: { href: '/api/users/Zoe.Smith' } },
    });
    expect(Object.keys(created.body).sort()).toEqual(['_links', 'createdAt', 'displayName', 'enabled', 'username']);
    expect(created.headers.get('location')).toBe('/api/users/Zoe.Smith');
    await expectBody(admin.get('/users/zoe.smith'), 200, {
      username: 'Zoe.Smith',
      domain: 'local',
      givenName: null,
      email: 'zoe@example.org',
      enabled: false,
      superuser: false,
      timezone: 'Europe/Paris',
      settings: {},
      locked: false,
      lockedAt: null,
      loginAttempts: 0,
      passwordSetAt: expect.any(String),
      passwordExpiresAt: null,
    });
    await expectBody(admin.get('/users/zoe.smith/global-permissions'), 200, {
      permissions: expect.arrayContaining(['datasets:create', 'ai:access']),
    });
    expect(JSON.stringify((await admin.get('/users-list')).body)).not.toMatch(/argon2|assword"/);
  });

  test('works over GraphQL, as do updating and deleting', async ({ admin }) => {
    const { createUser } = await admin.data(
      `mutation {
        createUser(input: { username: "gql", password: "${PASSWORD}", enabled: true }) { id username enabled domain }
      }`,
    );
    expect(createUser).toMatchObject({ username: 'gql', enabled: true, domain: 'local' });
    expect(
      await admin.data('mutation { updateUser(username: "gql", input: { givenName: "Graph" }) { givenName } }'),
    ).toEqual({ updateUser: { givenName: 'Graph' } });
    expect(await admin.data('mutation { deleteUser(username: "gql") }')).toEqual({ deleteUser: 'gql' });
    await expectGraphqlError(admin.gql('{ user(username: "gql") { id } }'), 'NOT_FOUND');
  });

  test('requires users:create, and for superusers a superuser in a session', async ({ service, ann, admin }) => {
    await expectError(ann.post('/users', newUser('friend')), 403, 'You lack the permission users:create');
    const clerk = await service.user('clerk', { permissions: ['users:create'] });
    await expectStatus(clerk.post('/users', newUser('friend')), 201);
    await expectStatus(clerk.post('/users', newUser('boss', { superuser: true })), 403);
    await expectStatus(admin.post('/users', newUser('boss', { superuser: true })), 403, 'with a token');
    const session = await service.login('admin');
    await expectStatus(session.post('/users', newUser('boss', { superuser: true })), 201);
    await expectBody(admin.get('/users/boss'), 200, { superuser: true });
  });

  test('requires a username that is unique in the tenant, ignoring case', async ({ admin, ann, stranger }) => {
    await expectBody(admin.post('/users', newUser(ann.username.toUpperCase())), 409, {
      code: 'CONFLICT',
      message: 'The username "ANN" is already in use',
    });
    await expectStatus(stranger.post('/users', newUser('ann')), 201, 'in another tenant');
    const concurrent = await Promise.all([
      admin.post('/users', newUser('twin')),
      admin.post('/users', newUser('Twin')),
    ]);
    expect(concurrent.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test('requires a username that matches the pattern and is not a UUID', async ({ admin }) => {
    const refused = [
      '',
      '.ann',
      'an n',
      'ann/bob',
      'änn',
      'x'.repeat(101),
      '01900000-0000-7000-8000-000000000000',
      'a\u0000b',
    ];
    for (const name of refused)
      await expectBody(admin.post('/users', newUser(name)), 400, { validation: [{ path: ['username'] }] });
    await expectStatus(admin.post('/users', newUser('a@b_c-d.e')), 201);
  });

  test('refuses invalid fields and names them', async ({ admin }) => {
    const refused: [field: string, value: unknown][] = [
      ['password', 'too short'],
      ['password', undefined],
      ['email', 'nobody'],
      ['timezone', 'Mars/Olympus'],
      ['timezone', '+02:00'],
      ['displayName', 'x'.repeat(256)],
      ['settings', { a: 'x'.repeat(70_000) }],
      ['settings', []],
      ['domain', 'a b'],
      ['admin', true],
      ['permissions', ['users:view']],
    ];
    for (const [field, value] of refused)
      await expectBody(admin.post('/users', newUser('refused', { [field]: value })), 400, {
        validation: [{ path: [field] }],
      });
    const invalid = [
      newUser('a-longer-name', { password: 'A-Longer-Name' }),
      newUser('nul', { displayName: 'a\u0000b' }),
      newUser('nul', { settings: { theme: 'a\u0000b' } }),
    ];
    for (const body of invalid) await expectBody(admin.post('/users', body), 400, { code: 'BAD_USER_INPUT' });
    await expectStatus(admin.get('/users?q=%00'), 400);
  });
});

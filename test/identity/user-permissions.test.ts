import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD } from '../support/service.ts';
import { whileSuperusersAreLocked } from '../support/superuser-lock.ts';
import { systemQuery } from '../support/system-query.ts';

const newUser = (username: string, more = {}) => ({ username, password: PASSWORD, ...more });

describe('the superuser status', () => {
  const PATH = '/users/ann/superuser';

  test('can be read by superusers, and changed by them in a session only', async ({ ann, admin }) => {
    await expectStatus(ann.get(PATH), 403);
    await expectBody(admin.get(PATH), 200, { username: 'ann', superuser: false });
    const { user } = await admin.data('{ user(username: "ann") { superuserState { superuser } } }');
    expect(user).toEqual({ superuserState: { superuser: false } });
    for (const call of [
      (client: Client) => client.put(PATH, { superuser: true }),
      (client: Client) => client.delete(PATH),
    ]) {
      await expectStatus(call(ann), 403);
      await expectStatus(call(admin), 403, 'with a token');
    }
  });

  test('is granted and revoked with its own route', async ({ service, ann, admin }) => {
    const session = await service.login(admin.username);
    await expectBody(session.get('/users/ANN/superuser'), 200, { username: 'ann', superuser: false });
    await expectBody(session.put('/users/ANN/superuser', { superuser: true }), 200, {
      username: 'ann',
      superuser: true,
    });
    expect((await ann.get('/users/bob/global-permissions')).status).not.toBe(403);
    await expectStatus(session.delete(PATH), 204);
    await expectStatus(ann.get('/users/ann/global-permissions'), 403);
  });

  test('is granted and revoked with the global permissions', async ({ service, ann, admin }) => {
    const session = await service.login(admin.username);
    const path = `/users/${ann.username}/global-permissions`;
    await expectBody(session.put(path, { permissions: ['tenant:superuser', 'users:view'] }), 200, {
      permissions: expect.arrayContaining(['tenant:superuser', 'billing:manage']),
    });
    await expectBody(session.get(PATH), 200, { superuser: true });
    await expectStatus(admin.put(path, { permissions: ['users:view'] }), 403, 'with a token');
    await expectBody(session.put(path, { permissions: [] }), 200, { permissions: [] });
    await expectBody(session.get(PATH), 200, { superuser: false });
  });
});

describe('a superuser', () => {
  test('can be changed and deleted by superusers only', async ({ service, admin }) => {
    const path = `/users/${admin.username}`;
    const clerk = await service.user('clerk', { permissions: ['users:edit', 'users:delete'] });
    await expectStatus(clerk.put(path, { displayName: 'x' }), 403);
    await expectStatus(clerk.delete(path), 403);
    await expectStatus(clerk.put(`${path}/theme`, { theme: 'dark' }), 403);
  });

  test('who is the last enabled one cannot be disabled, deleted or demoted', async ({ service, stranger }) => {
    const session = await service.login('stranger', { tenant: 'other' });
    await stranger.creates('/users', newUser('heir'));
    await session.creates('/users', newUser('sleeper', { superuser: true, enabled: false }));
    const path = '/users/stranger';
    for (const response of [
      await stranger.put(path, { enabled: false }),
      await stranger.delete(`${path}?transferTo=heir`),
      await session.delete(`${path}/superuser`),
      await session.put(`${path}/superuser`, { superuser: false }),
      await session.put(`${path}/global-permissions`, { permissions: [] }),
    ])
      await expectError(response, 409, 'The last enabled superuser cannot be removed, disabled or demoted');

    await session.put('/users/sleeper', { enabled: true });
    const other = await service.login('sleeper', { tenant: 'other' });
    const demotions = await whileSuperusersAreLocked(service, () => [
      session.delete('/users/sleeper/superuser'),
      other.delete('/users/stranger/superuser'),
    ]);
    expect(demotions.map(({ status }) => status).sort(), 'two superusers who demote each other').toEqual([204, 409]);
    expect(
      await systemQuery(
        service,
        `select count(*) as n
        from dws.app_user u
        join dws.tenant t on t.id = u.tenant_id
        where t.slug = 'other' and superuser and enabled`,
      ),
    ).toEqual([{ n: 1 }]);
  });
});

describe('the global permissions of a user', () => {
  const PATH = '/users/bob/global-permissions';
  const GRANTED = ['users:view', 'datasets:create'];

  test('are set by superusers from a fixed list and returned as stored', async ({ ann, admin, bob }) => {
    await expectBody(admin.put(PATH, { permissions: [...GRANTED, 'users:view'] }), 200, { permissions: GRANTED });
    await expectBody(admin.get(PATH), 200, { permissions: GRANTED });
    expect((await bob.get('/session')).body.permissions).toEqual(GRANTED);
    await expectError(
      admin.put(PATH, { permissions: ['root'] }),
      400,
      /^permissions\.0 must be one of users:view, .+, not "root"$/,
    );
    await expectError(
      admin.put(PATH, { permissions: ['users:edit', 'users:Edit'] }),
      400,
      /^permissions\.1 must be one of .+, not "users:Edit"$/,
    );
    await expectGraphqlError(
      admin.gql('mutation { setGlobalPermissions(username: "bob", permissions: ["users:edit", "root"]) }'),
      'BAD_USER_INPUT',
      /permissions\.1 must be one of .+, not "root"/,
    );
    await expectBody(admin.get(PATH), 200, { permissions: GRANTED });
    await expectBody(admin.put(PATH, {}), 400, { code: 'BAD_USER_INPUT' });
    await expectError(ann.put(PATH, { permissions: [] }), 403, 'You lack the permission tenant:superuser');
    await expectGraphqlError(ann.gql('{ user(username: "bob") { globalPermissions } }'), 'FORBIDDEN');
  });
});

import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { PASSWORD } from '../support/service.ts';
import { newUser, test } from '../support/user-escalation-fixture.ts';

/* Rights that callers with `users:create` or `users:delete` cannot gain by it: docs/contract/people.md#users. */

describe('a user with users:create', () => {
  test('cannot create a superuser or grant permissions', async ({ service, creator, admin }) => {
    const session = await service.login('creator');
    for (const client of [creator, session]) {
      await expectError(
        client.post('/users', newUser('boss', { superuser: true })),
        403,
        'Only superusers can create a superuser',
      );
      for (const key of ['permissions', 'globalPermissions', 'locked', 'passwordSetAt'])
        await expectBody(client.post('/users', newUser('boss', { [key]: ['users:edit'] })), 400, {
          validation: [{ path: [key] }],
        });
      await expectGraphqlError(
        client.gql(`mutation {
          createUser(input: { username: "boss", password: "${PASSWORD}", superuser: true }) { id }
        }`),
        'FORBIDDEN',
      );
    }
    await expectStatus(admin.get('/users/boss'), 404);
  });

  test('cannot change, delete or read more of the users that they create', async ({ service, creator, admin }) => {
    const permissions = ['ai:access', 'assistants:create', 'datasets:create'];
    await creator.creates('/users', newUser('created', { enabled: true }));
    await expectBody(admin.get('/users/created/global-permissions'), 200, {
      permissions: expect.arrayContaining(permissions),
    });
    await expectStatus(creator.put('/users/created', { displayName: 'x' }), 403);
    await expectStatus(creator.put('/users/created/global-permissions', { permissions: ['users:edit'] }), 403);
    await expectStatus(creator.delete('/users/created'), 403);
    expect((await creator.get('/users/created')).body).not.toHaveProperty('locked');
    await expectStatus((await service.login('created')).get('/outbox'), 403);
  });
});

describe('a user with users:delete', () => {
  test('cannot delete a superuser or push content into a team', async ({ service, admin, deleter, stranger }) => {
    await service.user('victim');
    const team = await admin.creates('/teams', { name: 'Closed' });
    const foreign = await stranger.creates('/teams', { name: 'Foreign' });
    const transferTo = (principal: string) => `/users/victim?transferTo=${principal}`;
    const refusal = 'A resource of a team requires the role memberPlus in the team';
    await expectError(deleter.delete('/users/admin'), 403, 'Only superusers can delete a superuser');
    await expectError(deleter.delete('/users/admin?transferTo=deleter'), 403, 'Only superusers can delete a superuser');
    await expectError(deleter.delete(transferTo(`team:${team.id}`)), 403, refusal);
    await admin.put(`/teams/${team.id}/members/deleter`, { role: 'member' });
    await expectError(deleter.delete(transferTo(`team:${team.slug}`)), 403, refusal);
    for (const unknown of [`team:${foreign.id}`, stranger.id, `user:${stranger.id}`, 'stranger'])
      await expectStatus(deleter.delete(transferTo(unknown)), 404, unknown);
    await expectStatus(deleter.delete(transferTo('%00')), 400);
    await expectStatus(admin.get('/users/victim'), 200);
    await admin.put(`/teams/${team.id}/members/deleter`, { role: 'memberPlus' });
    await expectStatus(deleter.delete(transferTo(`team:${team.id}`)), 204);
  });
});

import type { GraphQLInputObjectType, GraphQLSchema } from 'graphql';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { mailedTokens, requestLink } from '../support/password-reset-fixture.ts';
import { PASSWORD } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { CHANGES, expectUnchanged, newUser, test, updateByGraphql } from '../support/user-escalation-fixture.ts';

/*
 * Ways to gain permissions that a caller was not granted, each closed: docs/contract/people.md#users,
 * docs/contract/access.md#global-permissions,
 * #tokens and #mail.
 */

/** Fields that users cannot change of themselves. */
const ADMIN_FIELDS = [
  'username',
  'domain',
  'enabled',
  'locked',
  'lockedAt',
  'loginAttempts',
  'passwordSetAt',
  'passwordExpiresAt',
];

describe('the fields of these tests', () => {
  test('are all that an update takes', async () => {
    const schema: GraphQLSchema = await createSchema();
    const input = schema.getType('UpdateUserInput') as GraphQLInputObjectType;
    expect(Object.keys(CHANGES).toSorted()).toEqual(Object.keys(input.getFields()).toSorted());
  });
});

describe('a user without users:edit', () => {
  test.for(ADMIN_FIELDS)('cannot change their own %s', async (field, { service, ann }) => {
    const change = { [field]: CHANGES[field] };
    const message = `Changing ${field} requires the permission user:edit`;
    await expectUnchanged(service, ann, async () => {
      await expectBody(ann.put('/me', change), 400, { validation: [{ path: [field] }] });
      await expectError(ann.put('/users/ann', change), 403, message);
      await expectError(ann.put(`/users/${ann.id}`, change), 403, message);
      await expectGraphqlError(updateByGraphql(ann, 'ANN', change), 'FORBIDDEN', message);
    });
  });

  test('cannot become a superuser or grant themselves permissions', async ({ service, ann }) => {
    const session = await service.login('ann');
    await expectUnchanged(service, ann, async () => {
      await expectStatus(ann.put('/me', { superuser: true }), 400);
      await expectStatus(ann.put('/users/ann', { superuser: true }), 400);
      await expectStatus(ann.put('/users/ann', { permissions: ['users:edit'] }), 400);
      await expectStatus(ann.put('/me', { permissions: ['users:edit'] }), 400);
      await expectGraphqlError(updateByGraphql(ann, 'ann', { superuser: true }), 'BAD_USER_INPUT');
      for (const client of [ann, session]) {
        await expectStatus(client.put('/users/ann/superuser', { superuser: true }), 403);
        await expectStatus(client.delete('/users/admin/superuser'), 403);
        await expectStatus(client.put('/users/ann/global-permissions', { permissions: ['users:edit'] }), 403);
        await expectGraphqlError(
          client.gql('mutation { setGlobalPermissions(username: "ann", permissions: ["users:edit"]) }'),
          'FORBIDDEN',
        );
        await expectGraphqlError(
          client.gql('mutation { setSuperuser(username: "ann", superuser: true) { superuser } }'),
          'FORBIDDEN',
        );
      }
    });
  });

  test('cannot change another user at all', async ({ service, ann, bob }) => {
    await expectUnchanged(service, bob, async () => {
      for (const field of ['displayName', 'settings', 'email', 'enabled'])
        await expectError(ann.put('/users/bob', { [field]: CHANGES[field] }), 403, 'You lack the permission user:edit');
      await expectStatus(ann.put('/users/bob/theme', { theme: 'dark' }), 403);
      await expectStatus(ann.delete('/users/bob'), 403);
    });
  });
});

describe('a token', () => {
  test('with the scope read changes nothing, even of a superuser', async ({ service, ann }) => {
    const readOnly = await service.user('read-only', { superuser: true, scopes: ['read'] });
    const calls: Promise<ApiResponse>[] = [];
    await expectUnchanged(service, ann, async () => {
      calls.push(
        readOnly.put('/me', { displayName: 'x' }),
        readOnly.put('/users/ann', { displayName: 'x' }),
        readOnly.put('/users/ann/theme', { theme: 'dark' }),
        readOnly.put('/users/ann/global-permissions', { permissions: [] }),
        readOnly.post('/users', newUser('by-read-only')),
        readOnly.delete('/users/ann'),
      );
      for (const call of calls) await expectError(call, 403, 'This token lacks the scope write');
    });
  });

  test('of a superuser cannot do what requires a session', async ({ service, admin, ann }) => {
    await expectUnchanged(service, ann, async () => {
      for (const response of [
        await admin.post('/tokens', { name: 'more' }),
        await admin.put('/me/password', { currentPassword: PASSWORD, password: `${PASSWORD}!` }),
        await admin.put('/users/ann/superuser', { superuser: true }),
        await admin.delete('/users/admin/superuser'),
        await admin.put('/users/ann/global-permissions', { permissions: ['tenant:superuser'] }),
        await admin.put('/users/admin/global-permissions', { permissions: [] }),
        await admin.post('/users', newUser('by-token', { superuser: true })),
      ])
        await expectError(response, 403, /session/);
      // It only reads what the record of the user has.
      await expectBody(admin.get('/users/ann/superuser'), 200, { superuser: false });
      await expectGraphqlError(
        admin.gql('mutation { setSuperuser(username: "ann", superuser: true) { superuser } }'),
        'FORBIDDEN',
        /session/,
      );
    });
    await expectStatus(admin.get('/users/by-token'), 404);
  });

  test('gets no password link by a new address of any user', async ({ service, admin, anonymous }) => {
    const mailsTo = (user: Client) =>
      systemQuery(
        service,
        `select recipient as "to", status, error from dws.mail where user_id = $1 order by created_at, id`,
        user.id,
      );
    const withheld = {
      to: 'attacker@example.com',
      status: 'failed',
      error: 'An API token set the e-mail address: an operator must hand the mail over',
    };
    const attack = { email: 'attacker@example.com' };
    const [plain, boss] = [await service.user('stolen'), await service.user('stolen-boss', { superuser: true })];
    await expectBody(plain.put('/me', attack), 200, attack);
    await expectStatus(admin.put('/users/stolen-boss', attack), 200);
    for (const user of [plain, boss]) {
      await expectStatus(requestLink(anonymous, user.username), 204);
      expect(await mailsTo(user)).toEqual([withheld]);
    }
    await plain.put('/users/stolen', { email: null });
    await plain.put('/users/stolen', attack);
    await requestLink(anonymous, 'stolen');
    expect(await mailsTo(plain)).toEqual([withheld, withheld]);

    const session = await service.login('stolen');
    await expectStatus(session.put('/me', { email: 'owner@example.com' }), 200);
    await requestLink(anonymous, 'stolen');
    expect((await mailsTo(plain)).at(-1)).toEqual({ to: 'owner@example.com', status: 'queued', error: null });
  });

  test('gets no session by way of another user', async ({ service, editor, anonymous }) => {
    const peer = await service.user('way', { permissions: ['users:edit'] });
    await expectStatus(editor.put('/users/way', { email: 'attacker@example.com' }), 200);
    await expectStatus(requestLink(anonymous, 'way'), 204);
    const mails = await systemQuery(service, `select status from dws.mail where user_id = $1`, peer.id);
    expect(mails).toEqual([{ status: 'failed' }]);
  });

  test.for([
    ['username', 'taken-over'],
    ['username', 'EDITOR'],
    ['domain', 'corp'],
  ])(
    'cannot give its own user the %s %s, by which a provider would log it in',
    async ([field, value], { service, editor, admin }) => {
      const change = { displayName: 'Harmless', [field!]: value };
      const message = `Changing ${field} of this user requires a session: log in with a password`;
      const peer = await service.user(`peer-${value}`, { permissions: ['users:edit'] });
      for (const [caller, user] of [
        [editor, editor],
        [editor, peer],
        [admin, admin],
        [admin, peer],
      ] as const)
        await expectUnchanged(service, user, async () => {
          await expectError(caller.put(`/users/${user.id}`, change), 403, message);
          await expectGraphqlError(updateByGraphql(caller, user.id, change), 'FORBIDDEN', message);
        });
      await expectBody(editor.put(`/users/${editor.id}`, { username: 'editor', domain: 'local' }), 200, {
        username: 'editor',
      });
      const plain = await service.user(`plain-${value}`);
      await expectStatus(editor.put(`/users/${plain.id}`, { [field!]: `${value}-2` }), 200, 'has nothing to gain');
      const session = await service.login(peer.username);
      await expectStatus(session.put(`/users/${peer.id}`, { [field!]: `${value}-3` }), 200, 'is a session');
    },
  );

  test('cannot be created for another user', async ({ session, ann }) => {
    for (const key of ['userId', 'username', 'user'])
      await expectBody(session.post('/tokens', { name: 'for ann', [key]: ann.id }), 400, {
        validation: [{ path: [key] }],
      });
  });
});

describe('a superuser of another tenant', () => {
  test('finds no user by id, name or principal', async ({ service, ann, stranger }) => {
    const session = await service.login('stranger', { tenant: 'other' });
    const team = await stranger.creates('/teams', { name: 'Borders' });
    await expectUnchanged(service, ann, async () => {
      for (const key of [ann.id, 'ann', `default:ann`])
        for (const response of [
          await session.get(`/users/${key}`),
          await session.get(`/users/${key}/memberships`),
          await session.get(`/users/${key}/global-permissions`),
          await session.get(`/users/${key}/superuser`),
          await session.put(`/users/${key}`, { displayName: 'x' }),
          await session.put(`/users/${key}/theme`, { theme: 'dark' }),
          await session.put(`/users/${key}/global-permissions`, { permissions: [] }),
          await session.put(`/users/${key}/superuser`, { superuser: true }),
          await session.delete(`/users/${key}/superuser`),
          await session.delete(`/users/${key}`),
          await session.put(`/teams/${team.id}/members/${key}`, { role: 'member' }),
          await session.delete(`/users/stranger?transferTo=${key}`),
        ])
          expect([404, 409]).toContain(response.status);
    });
    expect(await mailedTokens(service, ann)).toEqual([]);
  });
});

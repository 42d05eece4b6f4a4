import type { GraphQLInputObjectType, GraphQLSchema } from 'graphql';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { mailedTokens, requestLink } from '../support/password-reset-fixture.ts';
import { PASSWORD, type Service } from '../support/service.ts';
import { whileSuperusersAreLocked } from '../support/superuser-lock.ts';
import { systemQuery } from '../support/system-query.ts';

/*
 * Ways to gain permissions that a caller was not granted, each closed: docs/contract.md#users, #global-permissions,
 * #tokens and #mail.
 */

/** Users with one global permission of the administration of users. */
const test = base.extend<{ editor: Client; creator: Client; deleter: Client; session: Client }>({
  editor: [({ service }, use) => service.user('editor', { permissions: ['users:edit'] }).then(use), { scope: 'file' }],
  creator: [
    ({ service }, use) => service.user('creator', { permissions: ['users:create'] }).then(use),
    { scope: 'file' },
  ],
  deleter: [
    ({ service }, use) => service.user('deleter', { permissions: ['users:delete'] }).then(use),
    { scope: 'file' },
  ],
  /** The superuser in a session. */
  session: [({ service, admin }, use) => service.login(admin.username).then(use), { scope: 'file' }],
});

const DATE = '2030-01-01T00:00:00.000Z';
/** Another value of every field of a user that an update takes. */
const CHANGES: Record<string, unknown> = {
  username: 'taken-over',
  domain: 'ldap',
  displayName: 'Taken Over',
  givenName: 'Taken',
  familyName: 'Over',
  middleName: 'T',
  email: 'attacker@example.com',
  timezone: 'Europe/Paris',
  settings: { theme: 'pink' },
  enabled: false,
  locked: true,
  lockedAt: DATE,
  loginAttempts: 9,
  passwordSetAt: DATE,
  passwordExpiresAt: DATE,
  superuser: true,
};
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

const UPDATE = `mutation ($username: String!, $input: UpdateUserInput!) {
  updateUser(username: $username, input: $input) { id }
}`;
const updateByGraphql = (client: Client, username: string, input: object) => client.gql(UPDATE, { username, input });

/** Runs calls and expects that they do not change the stored row of a user. */
async function expectUnchanged(service: Service, { id }: Client, run: () => Promise<unknown>): Promise<void> {
  const read = () => systemQuery(service, `select to_jsonb(u)::text as row from dws.app_user u where id = $1`, id);
  const before = await read();
  expect(before).toHaveLength(1);
  await run();
  expect(await read()).toEqual(before);
}

const newUser = (username: string, more = {}) => ({ username, password: PASSWORD, ...more });

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
        await admin.get('/users/ann/superuser'),
        await admin.put('/users/ann/superuser', { superuser: true }),
        await admin.delete('/users/admin/superuser'),
        await admin.put('/users/ann/global-permissions', { permissions: ['tenant:superuser'] }),
        await admin.put('/users/admin/global-permissions', { permissions: [] }),
        await admin.post('/users', newUser('by-token', { superuser: true })),
      ])
        await expectError(response, 403, /session/);
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

describe('a user with users:edit', () => {
  test.for(Object.keys(CHANGES))('cannot change the %s of a superuser', async (field, { service, admin, editor }) => {
    const message = 'Only superusers can change a superuser';
    const change = { [field]: field === 'superuser' ? false : CHANGES[field] };
    await expectUnchanged(service, admin, async () => {
      for (const key of ['admin', 'ADMIN', admin.id]) {
        await expectError(editor.put(`/users/${key}`, change), 403, message);
        await expectGraphqlError(updateByGraphql(editor, key, change), 'FORBIDDEN', message);
      }
    });
  });

  test('cannot enable a disabled superuser, delete one, or set their theme', async ({ service, admin, editor }) => {
    const sleeper = await service.user('sleeper', { superuser: true });
    await expectStatus(admin.put('/users/sleeper', { enabled: false }), 200);
    await expectUnchanged(service, sleeper, async () => {
      await expectStatus(editor.put('/users/sleeper', { enabled: true }), 403);
      await expectStatus(editor.put('/users/sleeper/theme', { theme: 'dark' }), 403);
      await expectStatus(editor.delete('/users/sleeper'), 403);
    });
  });

  test('cannot grant permissions, read them, or read password links', async ({ service, editor, bob }) => {
    const session = await service.login('editor');
    await expectUnchanged(service, bob, async () => {
      for (const client of [editor, session]) {
        for (const permissions of [['users:edit'], ['users:delete'], ['tenant:superuser'], []])
          await expectError(
            client.put('/users/bob/global-permissions', { permissions }),
            403,
            'You lack the permission tenant:superuser',
          );
        await expectStatus(client.get('/users/bob/global-permissions'), 403);
        await expectStatus(client.put('/users/bob/superuser', { superuser: true }), 403);
        await expectStatus(client.put('/users/editor/global-permissions', { permissions: ['users:delete'] }), 403);
        await expectStatus(client.get('/outbox'), 403);
        await expectGraphqlError(client.gql('{ outbox { items { text } } }'), 'FORBIDDEN');
      }
    });
  });

  test('cannot take over an account with permissions that they lack, by address, name or domain', async ({
    service,
    editor,
    admin,
    anonymous,
  }) => {
    const auditor = await service.user('auditor', { permissions: ['users:view', 'users:delete', 'datasets:create'] });
    await admin.put('/users/auditor', { email: 'auditor@example.com' });
    await expectUnchanged(service, auditor, async () => {
      for (const field of ['email', 'username', 'domain']) {
        const message = `Changing ${field} of a user with the permission users:view requires that permission`;
        const change = { displayName: 'Harmless', [field]: CHANGES[field] };
        await expectError(editor.put('/users/auditor', change), 403, message);
        await expectGraphqlError(updateByGraphql(editor, auditor.id, change), 'FORBIDDEN', message);
      }
      await expectStatus(editor.put('/users/auditor', { email: null }), 403);
      await expectStatus(requestLink(anonymous, 'auditor'), 204);
    });
    const mails = await systemQuery(service, `select recipient from dws.mail where user_id = $1`, auditor.id);
    expect(mails).toEqual([{ recipient: 'auditor@example.com' }]);

    const same = { email: 'auditor@example.com', username: 'auditor', domain: 'local', displayName: 'The auditor' };
    await expectBody(editor.put('/users/auditor', same), 200, { displayName: 'The auditor' });
    await expectStatus(editor.put('/users/auditor', { enabled: false }), 200, 'is no way in');
    await expectStatus(admin.put('/users/auditor', { email: 'new@example.com', enabled: true }), 200);
  });

  test('changes the address of a user with the permissions of every new user, and their own', async ({
    service,
    editor,
  }) => {
    await service.user('plain');
    await expectBody(editor.put('/users/plain', { email: 'plain@example.com' }), 200, { email: 'plain@example.com' });
    await expectStatus(editor.put('/users/editor', { email: 'editor@example.com' }), 200);
    const peer = await service.user('peer', { permissions: ['users:edit', 'users:view'] });
    await expectStatus(editor.put('/users/peer', { email: 'x@example.com' }), 403);
    await expectStatus(peer.put('/users/editor', { email: 'editor@example.org' }), 200, 'has no more than the caller');
  });
});

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

describe('the last enabled superuser', () => {
  const MESSAGE = 'The last enabled superuser cannot be removed, disabled or demoted';

  test('cannot be disabled, demoted or deleted, by name, other case or id', async ({ service, stranger }) => {
    const session = await service.login('stranger', { tenant: 'other' });
    await stranger.creates('/users', newUser('heir', { enabled: true }));
    await expectUnchanged(service, stranger, async () => {
      for (const key of ['stranger', 'STRANGER', stranger.id])
        for (const response of [
          await session.put(`/users/${key}`, { enabled: false }),
          await session.put(`/users/${key}`, { domain: 'ldap' }),
          await session.put(`/users/${key}/superuser`, { superuser: false }),
          await session.delete(`/users/${key}/superuser`),
          await session.put(`/users/${key}/global-permissions`, { permissions: ['users:edit'] }),
          await session.delete(`/users/${key}?transferTo=heir`),
        ])
          await expectError(response, 409, MESSAGE);
      await expectGraphqlError(updateByGraphql(session, 'stranger', { enabled: false }), 'CONFLICT', MESSAGE);
    });
  });

  test.for([
    ['disable', (client: Client, key: string) => client.put(`/users/${key}`, { enabled: false }), 200],
    ['delete', (client: Client, key: string) => client.delete(`/users/${key}?transferTo=heir`), 204],
    ['demote', (client: Client, key: string) => client.put(`/users/${key}/superuser`, { superuser: false }), 200],
  ] as const)('is one of two who %s each other at once', async ([, change, status], { service, stranger }) => {
    await stranger.get('/me');
    const names = [0, 1].map((n) => `rival-${status}-${n}-${Math.random().toString(36).slice(2)}`);
    for (const name of names) await service.user(name, { tenant: 'other', superuser: true });
    const others = `update dws.app_user u set enabled = not enabled
      from dws.tenant t where t.id = u.tenant_id and t.slug = 'other' and superuser and not username = any($1)`;
    const [one, two] = [
      await service.login(names[0]!, { tenant: 'other' }),
      await service.login(names[1]!, { tenant: 'other' }),
    ];
    await systemQuery(service, others, names);
    try {
      const responses = await whileSuperusersAreLocked(service, () => [change(one, names[1]!), change(two, names[0]!)]);
      expect(responses.map((response) => response.status).toSorted()).toEqual([status, 409]);
      expect(
        await systemQuery(
          service,
          `select count(*)::int as left from dws.app_user u join dws.tenant t on t.id = u.tenant_id
          where t.slug = 'other' and superuser and enabled`,
        ),
      ).toEqual([{ left: 1 }]);
    } finally {
      await systemQuery(service, `update dws.app_user set superuser = false where username = any($1)`, names);
      await systemQuery(service, `update dws.app_user set enabled = true where username = 'stranger'`);
    }
  });
});

describe('a username', () => {
  test('in other case is the same user, with the same protection', async ({ service, creator, editor, session }) => {
    await expectStatus(creator.post('/users', newUser('ADMIN')), 409);
    await expectStatus(creator.post('/users', newUser('aDmIn', { domain: 'ldap' })), 409, 'in another domain');
    await expectStatus((await service.login(editor.username)).put('/users/editor', { username: 'ADMIN' }), 409);
    await expectStatus(editor.put('/users/AdMiN', { displayName: 'x' }), 403);
    await expectBody(session.put('/users/admin', { username: 'Admin' }), 200, { username: 'Admin' });
    await expectBody(session.put('/users/ADMIN', { username: 'admin' }), 200, { username: 'admin' });
  });

  test('has only letters that have one form', async ({ creator, editor, ann }) => {
    // A Kelvin sign and a long s become ASCII letters in lower or upper case, a Cyrillic letter looks like one.
    for (const name of ['\u212Aate', 'boſs', '\u0430dmin', 'admin\u200B', 'admin ', 'ａdmin']) {
      await expectBody(creator.post('/users', newUser(name)), 400, { validation: [{ path: ['username'] }] });
      await expectStatus(editor.put(`/users/${ann.id}`, { username: name }), 400);
      await expectStatus(creator.get(`/users/${encodeURIComponent(name)}`), 404);
      await expectStatus(editor.put(`/users/${encodeURIComponent(name)}`, { displayName: 'x' }), 404);
    }
    for (const name of ['a%00b', '%00']) await expectStatus(editor.put(`/users/${name}`, { displayName: 'x' }), 400);
  });

  test('does not have the form of an id', async ({ creator, editor, admin, ann }) => {
    for (const name of [admin.id, admin.id.toUpperCase(), '00000000-0000-0000-0000-000000000000']) {
      await expectStatus(creator.post('/users', newUser(name)), 400);
      await expectStatus(editor.put(`/users/${ann.id}`, { username: name }), 400);
    }
    await expectBody(editor.get(`/users/${admin.id}`), 200, { username: 'admin' });
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

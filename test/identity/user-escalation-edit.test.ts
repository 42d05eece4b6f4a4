import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { requestLink } from '../support/password-reset-fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { CHANGES, expectUnchanged, newUser, test, updateByGraphql } from '../support/user-escalation-fixture.ts';

/* Rights that callers with `users:edit` cannot gain by it: docs/contract/people.md#users. */

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
    await expectStatus(editor.put('/users/auditor', { enabled: false }), 200, 'is not a way in');
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

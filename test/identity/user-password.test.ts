import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectInvalid, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD } from '../support/service.ts';

const NEW_PASSWORD = 'a quite different one';

const login = (client: Client, username: string, password: string) => client.post('/login', { username, password });

describe('a password', () => {
  test('is changed in a session with the current one, which ends other sessions but no API token', async ({
    service,
    anonymous,
  }) => {
    const token = await service.user('ida');
    const [session, other] = [await service.login('ida'), await service.login('ida')];
    const change = { currentPassword: PASSWORD, password: NEW_PASSWORD };
    await expectStatus(token.put('/me/password', change), 403);
    await expectBody(session.put('/me/password', { ...change, currentPassword: 'not it' }), 400, {
      code: 'BAD_USER_INPUT',
      validation: [{ path: ['currentPassword'] }],
    });
    await expectStatus(other.get('/me'), 200);
    await expectStatus(session.put('/me/password', change), 204);
    await expectBody(other.get('/me'), 401, { message: 'Missing authentication', code: 'UNAUTHENTICATED' });
    await expectBody(session.get('/me'), 200, { passwordExpiresAt: null });
    await expectStatus(token.get('/me'), 200);
    await expectBody(login(anonymous, 'ida', PASSWORD), 401, { message: 'Invalid username or password' });
    await expectStatus(login(anonymous, 'ida', NEW_PASSWORD), 200);
    const mutation = `mutation { changePassword(currentPassword: "${NEW_PASSWORD}", password: "${PASSWORD}") }`;
    expect(await session.data(mutation)).toEqual({ changePassword: true });
  });

  test('has 12 to 1024 characters and is not the username', async ({ service }) => {
    await service.user('the-long-name');
    const session = await service.login('the-long-name');
    const refused = {
      'eleven char': 'password must have at least 12 characters',
      'The-Long-Name': 'password must not be the username',
      ['x'.repeat(1025)]: 'password must have at most 1024 characters',
    };
    for (const [password, message] of Object.entries(refused))
      await expectInvalid(session.put('/me/password', { currentPassword: PASSWORD, password }), 'password', message);
  });
});

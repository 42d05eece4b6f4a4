import { describe, expect, vi } from 'vitest';
import { runCommand } from '../../src/server/cli/cli.ts';
import { recordEvents } from '../support/audit-fixture.ts';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD, type Service } from '../support/service.ts';

const NEW_PASSWORD = 'another long password';

describe('the audit log of credentials', () => {
  test('records a user from login to logout', async ({ service }) => {
    const user = await service.user('traveller');
    let tokenId = '';
    const events = await recordEvents(service, async () => {
      const client = await service.login('Traveller');
      tokenId = (await client.creates('/tokens', { name: 'mine' })).id;
      await client.delete(`/tokens/${tokenId}`);
      const change = { currentPassword: PASSWORD, password: NEW_PASSWORD };
      await expectStatus(client.put('/me/password', { ...change, currentPassword: 'wrong' }), 400);
      await expectStatus(client.put('/me/password', change), 204);
      await expectStatus(client.put('/me', { displayName: 'Traveller' }), 200);
      await client.post('/logout');
    });
    const { sessionId } = events[0]!;
    expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(events.map(({ action, outcome, kind, resourceId }) => [action, outcome, kind, resourceId])).toEqual([
      ['login', 'succeeded', 'user', user.id],
      ['createToken', 'succeeded', 'token', tokenId],
      ['deleteToken', 'succeeded', 'token', tokenId],
      ['changePassword', 'denied', 'user', user.id],
      ['changePassword', 'succeeded', 'user', user.id],
      ['updateMe', 'succeeded', 'user', user.id],
      ['logout', 'succeeded', null, null],
    ]);
    for (const event of events)
      expect(event).toMatchObject({
        userId: user.id,
        username: 'traveller',
        sessionId,
        tokenId: null,
        channel: 'rest',
        address: '127.0.0.1',
      });
  });

  test('records failed logins under the name that was used', async ({ service, ann, stranger }) => {
    const anonymous = new Client(service.url);
    const events = await recordEvents(service, async () => {
      for (const body of [
        { username: ann.username.toUpperCase(), password: 'wrong' },
        { username: 'nobody', password: 'wrong' },
        { username: stranger.username, password: 'wrong', tenant: 'other' },
        { username: 'ann', password: 'wrong', tenant: 'nowhere' },
      ])
        await expectStatus(anonymous.post('/login', body), 401);
      await expectStatus(anonymous.gql(`mutation { login(username: "ann", password: "wrong") { expiresAt } }`), 401);
    });
    const denied = {
      action: 'login',
      outcome: 'denied',
      kind: 'user',
      userId: null,
      tokenId: null,
      sessionId: null,
      address: '127.0.0.1',
      requestId: expect.any(String),
    };
    expect(events).toEqual([
      { ...denied, username: 'ANN', resourceId: 'ANN', tenant: 'default', channel: 'rest' },
      { ...denied, username: 'nobody', resourceId: 'nobody', tenant: 'default', channel: 'rest' },
      { ...denied, username: 'stranger', resourceId: 'stranger', tenant: 'other', channel: 'rest' },
      { ...denied, username: 'ann', resourceId: 'ann', tenant: 'default', channel: 'graphql' },
    ]);
  });

  test('records a password reset by a mailed link', async ({ service, admin }) => {
    const user = await service.user('forgetful');
    const anonymous = new Client(service.url);
    const events = await recordEvents(service, async () => {
      await expectStatus(anonymous.post('/password-reset', { username: 'forgetful' }), 204);
      const [mail] = (await admin.get('/outbox?limit=1')).body._embedded['svc:mail'];
      const token = /password-reset\/([\w-]+)/.exec(mail.text)![1];
      await expectStatus(anonymous.post(`/password-reset/${token}`, { password: NEW_PASSWORD }), 204);
    });
    expect(events).toMatchObject([
      { action: 'requestPasswordReset', userId: null, username: 'forgetful', kind: 'user' },
      { action: 'resetPassword', userId: user.id, username: 'forgetful', kind: 'user', resourceId: user.id },
    ]);
  });
});

/** Runs `work` with a function that runs CLI commands on the service. */
async function withCli(
  { databaseUrl, platform }: Service,
  work: (run: (...args: string[]) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  vi.stubEnv('DATABASE_URL', databaseUrl);
  vi.stubEnv('DATA_DIR', platform.config.DATA_DIR);
  vi.stubEnv('APP_SECRET', 'a secret for tests of enough characters');
  for (const stream of ['log', 'error'] as const) vi.spyOn(console, stream).mockImplementation(() => undefined);
  try {
    await work((...args) => runCommand(['node', 'dws', ...args]));
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  }
}

test('the audit log records the commands of an operator, in the transaction of the change', async ({ service }) => {
  const events = await recordEvents(service, () =>
    withCli(service, async (run) => {
      await run('tenant', 'create', 'acme');
      await run('user', 'create', 'eve', '--tenant', 'acme', '--password', PASSWORD);
      // The username is in use by now, so this command fails.
      await run('user', 'create', 'eve', '--tenant', 'acme', '--password', PASSWORD);
      await run('user', 'unlock', 'Eve', '--tenant', 'acme');
      await run('user', 'reset-password', 'eve', '--tenant', 'acme');
      await run('token', 'create', 'eve', '--tenant', 'acme');
    }),
  );
  expect(events.map(({ action, kind }) => [action, kind])).toEqual([
    ['createTenant', 'tenant'],
    ['createUser', 'user'],
    ['unlockUser', 'user'],
    ['resetPassword', 'user'],
    ['createToken', 'user'],
  ]);
  expect(new Set(events.slice(1).map(({ resourceId }) => resourceId)).size).toBe(1);
  for (const event of events)
    expect(event).toMatchObject({
      tenant: 'acme',
      channel: 'cli',
      userId: null,
      username: expect.stringMatching(/./),
      address: null,
      outcome: 'succeeded',
    });
});

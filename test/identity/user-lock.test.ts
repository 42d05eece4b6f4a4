import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { openSocket } from '../support/follow-operation.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const CHANGE =
  'mutation ($name: String!, $input: UpdateUserInput!) { updateUser(username: $name, input: $input) { id } }';

const CHANGES: [api: string, change: (admin: Client, name: string, input: object) => Promise<unknown>][] = [
  ['REST', (admin, name, input) => expectStatus(admin.put(`/users/${name}`, input), 200)],
  ['GraphQL', (admin, name, input) => admin.data(CHANGE, { name, input })],
];

const logIn = ({ url }: { url: string }, username: string) =>
  new Client(url).post('/login', { username, password: PASSWORD });

const updateRow = (service: Service, name: string, assignment: string) =>
  systemQuery(service, `update dws.app_user set ${assignment} where username = $1`, name);

const UNLOCKED = { locked: false, lockedAt: null };

describe('a user whom an administrator locks', () => {
  test.for(CHANGES)(
    'by %s is refused everywhere until an administrator unlocks them',
    async ([api, change], { service, admin }) => {
      const name = `locked-by-${api}`;
      const token = await service.user(name);
      const session = await service.login(name);
      const other = await startService({}, { databaseUrl: service.databaseUrl });
      const elsewhere = [token, session].map(({ headers }) => new Client(other.url, headers));
      for (const client of [token, session, ...elsewhere]) await expectStatus(client.get('/me'), 200);

      await change(admin, name, { locked: true });
      for (const client of [token, session]) {
        await expectStatus(client.get('/me'), 401);
        await expectStatus(client.gql('{ me { id } }'), 401);
        await expectStatus(client.post('/tokens', { name: 'new' }), 401);
      }
      for (const client of elsewhere) await expect.poll(async () => (await client.get('/me')).status).toBe(401);
      // The address is one from which the user has logged in.
      for (const { url } of [service, other])
        await expectError(logIn({ url }, name), 401, 'Invalid username or password');
      await updateRow(service, name, `admin_locked_at = admin_locked_at - interval '1 day'`);
      await expectStatus(logIn(service, name), 401);
      await expectBody(admin.get(`/users/${name}`), 200, { locked: true, lockedAt: expect.stringMatching(/^20/) });

      await change(admin, name, { locked: false });
      await expectBody(token.get('/me'), 200, { ...UNLOCKED, loginAttempts: 0 });
      await expectStatus(session.get('/me'), 401);
      await expectStatus(logIn(other, name), 200);
      await other.close();
    },
  );

  test('loses open sockets and event streams of all processes immediately', async ({ service, admin }) => {
    const user = await service.user('connected');
    await systemQuery(
      service,
      `insert into dws.operation
        (id, tenant_id, work_id, user_id, operation, resource_kind, resource_id, status, progress)
      select $1, tenant_id, $1, id, 'dataset.refresh', 'dataset', $1, 'running', 'theirs'
      from dws.app_user where id = $2`,
      '01900000-0000-7000-8000-00000000000b',
      user.id,
    );
    const other = await startService({}, { databaseUrl: service.databaseUrl });
    const opened = await Promise.all(
      [service, other].map(async ({ url }) => {
        const caller = new Client(url, user.headers);
        const socket = openSocket(caller);
        const results = socket.iterate('subscription { progress(id: "theirs") { status } }', {});
        expect(await results.next()).toMatchObject({ value: { data: { progress: { status: 'RUNNING' } } } });
        const stream = await fetch(`${url}/api/progress/theirs/events`, { headers: user.headers });
        expect(stream.status).toBe(200);
        return { socket, ended: stream.text() };
      }),
    );
    await expectStatus(admin.put('/users/connected', { locked: true }), 200);
    for (const { socket, ended } of opened) {
      expect(await socket.closed).toBe(4403);
      expect(await ended).toMatch('event: progress');
    }
    await other.close();
  });

  test('cannot log in with a login that was under way', async ({ service, admin }) => {
    await service.user('racer');
    const responses = Array.from({ length: 4 }, () => logIn(service, 'racer'));
    await expectStatus(admin.put('/users/racer', { locked: true }), 200);
    await Promise.all(responses);
    const sessions = await systemQuery(
      service,
      `select from dws.session s join dws.app_user u on u.id = s.user_id where u.username = 'racer'`,
    );
    expect(sessions).toEqual([]);
  });

  test('stays locked after failed logins, which do not count', async ({ service, admin, anonymous }) => {
    await service.user('guessed');
    await expectStatus(admin.put('/users/guessed', { locked: true }), 200);
    for (let n = 0; n < 11; n++)
      await expectStatus(anonymous.post('/login', { username: 'guessed', password: 'not the password' }), 401);
    await expectBody(admin.get('/users/guessed'), 200, { locked: true, loginAttempts: 0 });
    await expectBody(admin.put('/users/guessed', { lockedAt: null }), 200, UNLOCKED);
    await expectStatus(logIn(service, 'guessed'), 200);
  });
});

describe('the lock of a user', () => {
  test('is at the time that an administrator sets, past or future', async ({ service, admin }) => {
    await service.user('dated');
    for (const lockedAt of ['2020-01-31T09:30:00.000Z', '2999-01-31T09:30:00.000Z']) {
      await expectBody(admin.put('/users/dated', { lockedAt }), 200, { locked: true, lockedAt });
      await expectStatus(logIn(service, 'dated'), 401);
      await expectBody(admin.put('/users/dated', { locked: false }), 200, UNLOCKED);
      await expectStatus(logIn(service, 'dated'), 200);
    }
  });

  test('is not changed by values that contradict each other', async ({ service, admin }) => {
    await service.user('torn');
    const lockedAt = new Date().toISOString();
    const expectRefused = async (input: object) => {
      await expectBody(admin.put('/users/torn', input), 400, {
        code: 'BAD_USER_INPUT',
        message: /contradicts lockedAt/,
      });
      await expectGraphqlError(admin.gql(CHANGE, { name: 'torn', input }), 'BAD_USER_INPUT', /contradicts lockedAt/);
    };
    await expectRefused({ locked: false, lockedAt });
    await expectBody(admin.get('/users/torn'), 200, UNLOCKED);
    await expectBody(admin.put('/users/torn', { locked: true, lockedAt }), 200, { locked: true, lockedAt });
    await expectRefused({ locked: true, lockedAt: null });
    await expectRefused({ locked: false, lockedAt: '2020-01-31T09:30:00.000Z' });
    await expectBody(admin.get('/users/torn'), 200, { locked: true, lockedAt });
  });

  test('after failed logins does not become a lock by an administrator when the record is sent back', async ({
    service,
    admin,
  }) => {
    const user = await service.user('slow');
    await updateRow(service, 'slow', 'locked_at = now(), login_attempts = 10');
    const { body } = await admin.get('/users/slow');
    expect(body).toMatchObject({ locked: true, lockedAt: expect.any(String) });
    await expectStatus(admin.put('/users/slow', { ...body, displayName: 'Slow' }), 200);
    await expectStatus(user.put('/me', { displayName: 'Slower' }), 200);
    await expectStatus(user.get('/me'), 200);
    await updateRow(service, 'slow', `locked_at = locked_at - interval '15 minutes'`);
    await expectBody(admin.get('/users/slow'), 200, UNLOCKED);
    const late = { ...body, lockedAt: new Date(Date.parse(body.lockedAt) - 15 * 60_000).toISOString() };
    await expectBody(admin.put('/users/slow', late), 200, UNLOCKED);

    await updateRow(service, 'slow', 'locked_at = now()');
    await expectStatus(user.put('/users/slow', { locked: true }), 403);
    await expectBody(admin.put('/users/slow', { locked: true }), 200, { locked: true });
    await expectStatus(user.get('/me'), 401);
    await expectBody(admin.put('/users/slow', { locked: false }), 200, { ...UNLOCKED, loginAttempts: 0 });
    await expectStatus(logIn(service, 'slow'), 200);
  });

  test('is changed by administrators only, and the lock of a superuser by superusers only', async ({
    service,
    ann,
  }) => {
    const editor = await service.user('lock-editor', { permissions: ['users:edit'] });
    await service.user('chief', { superuser: true });
    await service.user('worker');
    await expectStatus(ann.put('/users/worker', { locked: true }), 403);
    await expectError(
      ann.put('/users/ann', { lockedAt: new Date().toISOString() }),
      403,
      /^Changing lockedAt requires/,
    );
    await expectStatus(editor.put('/users/worker', { locked: true }), 200);
    await expectStatus(editor.put('/users/chief', { locked: true }), 403);
    await expectStatus(logIn(service, 'chief'), 200);
  });
});

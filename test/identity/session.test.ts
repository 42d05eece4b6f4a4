import pg from 'pg';
import { describe, expect } from 'vitest';
import { invalidateCredentials } from '../../src/services/identity/credential-invalidation.ts';
import { Client, type ApiResponse } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

interface ListedSession {
  id: string;
}

const expectUnauthenticated = (response: Promise<ApiResponse> | ApiResponse) =>
  expectBody(response, 401, { message: 'Missing authentication', code: 'UNAUTHENTICATED' });

const listSessions = async (client: Client): Promise<ListedSession[]> =>
  (await client.get('/sessions')).body._embedded['svc:session'];

const countCredentials = async (service: Service, username: string) =>
  (
    await systemQuery(
      service,
      `select
        (select count(*)::int from dws.session s where s.user_id = u.id) as sessions,
        (select count(*)::int from dws.api_token t where t.user_id = u.id) as tokens
      from dws.app_user u
      where u.username = $1`,
      username,
    )
  )[0];

describe('a session', () => {
  test('returns the caller with their credential and permissions', async ({ service, ann, admin }) => {
    const session = await service.login('ann');
    await expectBody(session.get('/session'), 200, {
      user: { id: ann.id, username: 'ann' },
      tenant: 'default',
      authMethod: 'session',
      expiresAt: expect.any(String),
      permissions: expect.arrayContaining(['datasets:create', 'ai:access']),
    });
    await expectBody(ann.get('/session'), 200, { authMethod: 'token', expiresAt: null });
    expect((await admin.get('/session')).body.permissions).toContain('tenant:superuser');
    expect((await ann.get('/session')).body.permissions).not.toContain('users:view');
  });

  test('that was not used for 12 hours has ended', async ({ service, ann }) => {
    const session = await service.login('ann');
    await systemQuery(
      service,
      `update dws.session set expires_at = now() - interval '1 second' where user_id = $1`,
      ann.id,
    );
    const response = await session.get('/me');
    await expectUnauthenticated(response);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await session.gql('{ me { id } }')).toMatchObject({
      status: 401,
      errors: [{ message: 'Missing authentication', extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });

  test('ends with a logout, which clears the cookie and ends no other session', async ({ service, ann }) => {
    const [session, other] = [await service.login(ann.username), await service.login(ann.username)];
    await expectStatus(session.get('/me'), 200);
    const response = await session.post('/logout');
    expect(response.status).toBe(204);
    expect(response.headers.getSetCookie()[0]).toMatch(/^dws_session=; .*(Expires=Thu, 01 Jan 1970|Max-Age=0)/);
    await expectUnauthenticated(session.get('/me'));
    await expectStatus(other.get('/me'), 200);
    expect(await other.data('mutation { logout }')).toEqual({ logout: true });
    await expectUnauthenticated(other.get('/me'));
    await expectStatus(new Client(service.url).post('/logout'), 204);
  });

  test('is listed only to its user, who can end it immediately', async ({ service, ann, bob }) => {
    const [session, other] = [await service.login('ann'), await service.login('ann')];
    const sessions = await listSessions(session);
    const [otherId, ownId] = sessions.map(({ id }) => id);
    expect(sessions[0]).toMatchObject({
      address: '127.0.0.1',
      lastUsedAt: expect.any(String),
      expiresAt: expect.any(String),
      createdAt: expect.any(String),
    });
    expect(Object.keys(sessions[0]!)).not.toContain('tokenHash');
    const idsOfBob = (await listSessions(bob)).map(({ id }) => id);
    for (const { id } of sessions) expect(idsOfBob).not.toContain(id);
    await expectStatus(bob.delete(`/sessions/${otherId}`), 404);
    await expectStatus(other.get('/me'), 200);
    await expectStatus(session.delete(`/sessions/${otherId}`), 204);
    await expectUnauthenticated(other.get('/me'));
    await expectGraphqlError(ann.gql(`mutation { deleteSession(id: "${otherId}") }`), 'NOT_FOUND');
    expect(await ann.data(`mutation { deleteSession(id: "${ownId}") }`)).toEqual({ deleteSession: ownId });
    await expectUnauthenticated(session.get('/me'));
  });

  test('gets changed permissions with the next request', async ({ service, admin }) => {
    await service.user('hugo');
    const hugo = await service.login('hugo');
    await expectError(hugo.post('/teams', { name: 'Hugos' }), 403, 'You lack the permission teams:create');
    await admin.put('/users/hugo/global-permissions', { permissions: ['teams:create'] });
    await expectBody(hugo.post('/teams', { name: 'Hugos' }), 201, { permissions: { edit: true } });
    await admin.put('/users/hugo/global-permissions', { permissions: [] });
    await expectStatus(hugo.post('/teams', { name: 'Hugos' }), 403);
  });
});

describe('the lifetime of a session', () => {
  const updateSession = (service: Service, id: string, assignment: string) =>
    systemQuery(service, `update dws.session set ${assignment} where id = $1`, id);

  const sessionState = async (service: Service, id: string) =>
    (
      await systemQuery(
        service,
        `select round(extract(epoch from expires_at - now()) / 3600)::int as hours,
          last_used_at > now() - interval '30 seconds' as "isRecorded"
        from dws.session where id = $1`,
        id,
      )
    )[0];

  test('slides by 12 hours, recorded at most once a minute, and ends 30 days after the login', async ({
    service,
    ann,
  }) => {
    const session = await service.login('ann');
    const [{ id }] = (await listSessions(session)) as [ListedSession];
    const dropCache = () => invalidateCredentials(service, [ann.id]);

    await updateSession(
      service,
      id,
      `last_used_at = now() - interval '50 seconds', expires_at = now() + interval '1 hour'`,
    );
    dropCache();
    await session.get('/me');
    expect(await sessionState(service, id)).toEqual({ hours: 1, isRecorded: false });

    await updateSession(service, id, `last_used_at = now() - interval '2 minutes'`);
    dropCache();
    await session.get('/me');
    await expect.poll(() => sessionState(service, id)).toEqual({ hours: 12, isRecorded: true });

    await updateSession(
      service,
      id,
      `last_used_at = now() - interval '2 minutes', created_at = now() - interval '29 days 21 hours'`,
    );
    dropCache();
    await expectStatus(session.get('/me'), 200);
    await expect.poll(() => sessionState(service, id)).toEqual({ hours: 3, isRecorded: true });

    await updateSession(service, id, `created_at = now() - interval '30 days 1 second'`);
    dropCache();
    await expectUnauthenticated(session.get('/me'));
  });
});

describe('disabling or deleting a user', () => {
  test('ends sessions and tokens immediately', async ({ service, admin }) => {
    const endUser = {
      jan: () => admin.put('/users/jan', { enabled: false }),
      kim: () => admin.delete('/users/kim'),
    };
    for (const [name, end] of Object.entries(endUser)) {
      const token = await service.user(name);
      const session = await service.login(name);
      for (const client of [token, session]) await expectStatus(client.get('/me'), 200);
      expect((await end()).status).toBeLessThan(300);
      for (const client of [token, session]) {
        await expectUnauthenticated(client.get('/me'));
        await expectStatus(client.gql('{ me { id } }'), 401);
      }
    }
    await expectStatus(admin.put('/users/jan', { enabled: true }), 200);
    expect(await service.login('jan')).toMatchObject({ username: 'jan' });
  });

  test('deletes them, so that none works again when the user is enabled', async ({ service, admin }) => {
    const setEnabled: Record<string, (name: string, enabled: boolean) => Promise<unknown>> = {
      rest: (name, enabled) => expectStatus(admin.put(`/users/${name}`, { enabled }), 200),
      graphql: (name, enabled) =>
        admin.data(
          'mutation ($name: String!, $enabled: Boolean!) { updateUser(username: $name, input: { enabled: $enabled }) { id } }',
          { name, enabled },
        ),
    };
    for (const [name, set] of Object.entries(setEnabled)) {
      const clients = [await service.user(name), await service.login(name)];
      await set(name, false);
      expect(await countCredentials(service, name)).toEqual({ sessions: 0, tokens: 0 });
      await set(name, true);
      for (const client of clients) await expectUnauthenticated(client.get('/me'));
      const session = await service.login(name);
      await expectStatus(session.post('/tokens', { name: 'new' }), 201);
      await set(name, true);
      expect(await countCredentials(service, name)).toEqual({ sessions: 1, tokens: 1 });
    }
  });

  test('enabling deletes what was left to a user whom an earlier version disabled', async ({ service, admin }) => {
    await service.user('legacy');
    await service.login('legacy');
    await systemQuery(service, `update dws.app_user set enabled = false where username = 'legacy'`);
    await expectStatus(admin.put('/users/legacy', { enabled: true }), 200);
    expect(await countCredentials(service, 'legacy')).toEqual({ sessions: 0, tokens: 0 });
  });

  test.for(['disabled', 'deleted'])(
    'a user who creates tokens all the time can be %s',
    async (what, { service, admin }) => {
      await service.user(`busy-${what}`);
      const session = await service.login(`busy-${what}`);
      const states: number[] = [];
      const loops = Array.from({ length: 6 }, async () => {
        for (let status = 201; status === 201; states.push(status))
          ({ status } = await session.post('/tokens', { name: 'another' }));
      });
      await expect.poll(() => states.length).toBeGreaterThan(20);
      if (what === 'disabled') await expectStatus(admin.put(`/users/busy-${what}`, { enabled: false }), 200);
      else await expectStatus(admin.delete(`/users/busy-${what}`), 204);
      await Promise.all(loops);
      expect(new Set(states)).toEqual(new Set([201, 401]));
      const credentials = await countCredentials(service, `busy-${what}`);
      expect(credentials).toEqual(what === 'disabled' ? { sessions: 0, tokens: 0 } : undefined);
    },
  );

  test('refuses a login and a new token that were under way', async ({ service, anonymous }) => {
    const { id } = await service.user('mona');
    const session = await service.login('mona');
    const disabling = new pg.Client({ connectionString: service.databaseUrl });
    await disabling.connect();
    await disabling.query('begin');
    await disabling.query(`update dws.app_user set enabled = false where username = 'mona'`);
    await disabling.query(`delete from dws.session where user_id = $1`, [id]);
    const responses = [
      anonymous.post('/login', { username: 'mona', password: PASSWORD }),
      session.post('/tokens', { name: 'late' }),
    ];
    const countWaiting = async () =>
      (
        await runSql(
          service.databaseUrl,
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).length;
    await expect.poll(countWaiting).toBe(2);
    await disabling.query(`delete from dws.api_token where user_id = $1`, [id]);
    await disabling.query('commit');
    await disabling.end();
    const [login, token] = await Promise.all(responses);
    await expectError(login!, 401, 'Invalid username or password');
    await expectUnauthenticated(token!);
    expect(await countCredentials(service, 'mona')).toEqual({ sessions: 0, tokens: 0 });
  });

  test('ends an open event stream', async ({ service, admin }) => {
    const lena = await service.user('lena');
    await systemQuery(
      service,
      `insert into dws.operation
        (id, tenant_id, work_id, user_id, operation, resource_kind, resource_id, status, progress)
      select $1, tenant_id, $1, id, 'dataset.refresh', 'dataset', $1, 'running', 'mine'
      from dws.app_user where id = $2`,
      '01900000-0000-7000-8000-00000000000a',
      lena.id,
    );
    const stream = await fetch(`${service.url}/api/progress/mine/events`, { headers: lena.headers });
    expect(stream.headers.get('content-type')).toMatch('text/event-stream');
    const reader = stream.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch('event: progress');
    await admin.put('/users/lena', { enabled: false });
    let chunk = await reader.read();
    while (!chunk.done) chunk = await reader.read();
    expect(chunk.done).toBe(true);
  });
});

describe('viewer', () => {
  const QUERY = '{ viewer { username } }';

  test('is the caller, and null without credentials', async ({ service, ann, anonymous }) => {
    expect(await ann.data(QUERY)).toEqual({ viewer: { username: 'ann' } });
    expect(await (await service.login('bob')).data(QUERY)).toEqual({ viewer: { username: 'bob' } });
    const { status, body } = await anonymous.request('POST', '/graphql', { query: QUERY });
    expect([status, body.data, body.errors]).toEqual([200, { viewer: null }, undefined]);
  });

  test('is 401 without data with invalid credentials', async ({ service, anonymous }) => {
    const wrong: Record<string, string>[] = [
      { authorization: `Bearer dws_${'x'.repeat(43)}` },
      { authorization: 'Basic YTpi' },
      { cookie: `dws_session=${'x'.repeat(43)}` },
    ];
    for (const headers of wrong)
      for (const query of [QUERY, `{ ...F } fragment F on Query { ... { viewer { id } } }`]) {
        const { status, body } = await anonymous.with(headers).request('POST', '/graphql', { query });
        expect([status, body.data, body.errors[0].extensions.code]).toEqual([401, undefined, 'UNAUTHENTICATED']);
      }
    // Public fields serve such a caller, who may log in again.
    const { status } = await new Client(service.url, { cookie: `dws_session=${'x'.repeat(43)}` }).request(
      'POST',
      '/graphql',
      { query: '{ loginProviders { name } }' },
    );
    expect(status).toBe(200);
  });

  test('requires the scope read', async ({ service }) => {
    const writer = await service.user('writer', { scopes: ['write'] });
    const { body } = await writer.request('POST', '/graphql', { query: QUERY });
    expect([body.data, body.errors[0].extensions.code]).toEqual([{ viewer: null }, 'FORBIDDEN']);
  });
});

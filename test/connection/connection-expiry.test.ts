import pg from 'pg';
import { describe, expect } from 'vitest';
import { tokenSource } from '../../src/services/connection/token-source.ts';
import { systemQuery } from '../support/system-query.ts';
import { connectionOf, soon, storeTokens, test } from './connection-fixture.ts';

const CONFLICT = { status: 409, code: 'CONFLICT' };

describe('a connection', () => {
  test('expires when the provider refuses the refresh token, and its owner is notified once', async ({
    service,
    server,
    ann,
    session,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Withdrawn');
    await connect(id);
    await storeTokens(service, id, { expiresAt: soon() });
    const connection = await connectionOf(service, id);
    await server.withdraw(connection.tokens.refreshToken!);
    const token = tokenSource(service.platform, connection);
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => token()));
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: CONFLICT });
    await expect(token()).rejects.toMatchObject({
      ...CONFLICT,
      message: 'The connection of the library "Withdrawn" has expired: authorize it again',
    });
    expect((await session.get(`/libraries/${id}/connection`)).body.status).toBe('expired');
    expect((await session.get(`/libraries/${id}`)).body.connectionStatus).toBe('expired');
    const { notifications } = await ann.data('{ notifications { items { type message resource { kind id } } } }');
    expect(notifications.items).toEqual([
      {
        type: 'LIBRARY_CONNECTION_EXPIRED',
        message: 'The connection of the library Withdrawn has expired. Authorize it again',
        resource: { kind: 'LIBRARY', id },
      },
    ]);

    await connect(id);
    expect((await session.get(`/libraries/${id}/connection`)).body.status).toBe('connected');
    expect(await token()).toBe((await connectionOf(service, id)).tokens.accessToken);
  });

  test('expires without a deadlock while its owner is disabled', async ({
    service,
    server,
    createLibrary,
    connect,
    ann,
  }) => {
    const id = await createLibrary('Locked');
    await connect(id);
    await storeTokens(service, id, { expiresAt: soon() });
    const connection = await connectionOf(service, id);
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    server.intercept = async (request, response) => {
      if (request.url !== '/token') return false;
      begun.resolve();
      await held.promise;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    const refused = Promise.allSettled([tokenSource(service.platform, connection)()]);
    await begun.promise;
    const [other, watcher] = [new pg.Client(service.databaseUrl), new pg.Client(service.databaseUrl)];
    await Promise.all([other.connect(), watcher.connect()]);
    try {
      await other.query('begin');
      await other.query(`select from dws.app_user where id = $1 for update`, [ann.id]);
      const deleted = other.query(`delete from dws.connection where id = $1`, [connection.id]);
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      await expect.poll(async () => (await watcher.query(waiting)).rowCount).toBe(1);
      held.resolve();
      expect((await deleted).rowCount).toBe(1);
      await other.query('rollback');
    } finally {
      held.resolve();
      await Promise.all([other.end(), watcher.end()]);
    }
    expect(await refused).toMatchObject([{ status: 'rejected', reason: CONFLICT }]);
    expect((await connectionOf(service, id)).status).toBe('expired');
  });

  test('without a refresh token is used until the end of its access token, and expires then', async ({
    service,
    server,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Single');
    await connect(id);
    await storeTokens(service, id, { refreshToken: null, expiresAt: soon() });
    const connection = await connectionOf(service, id);
    const token = tokenSource(service.platform, connection);
    expect(await token()).toBe(connection.tokens.accessToken);
    expect(connection.status).toBe('connected');
    expect(server.grants).toEqual(['authorization_code']);
    await storeTokens(service, id, { expiresAt: Date.now() });
    await expect(token()).rejects.toMatchObject(CONFLICT);
    expect((await connectionOf(service, id)).status).toBe('expired');
  });

  test.for([
    ['a failure', 500, 'application/json', '{"error":"server_error","error_description":"try later"}', 500],
    ['no JSON', 200, 'text/html', '<h1>Maintenance</h1>', 500],
    ['another refusal', 401, 'application/json', '{"error":"invalid_client"}', 500],
    ['an overload', 503, 'text/plain', 'busy', 503],
  ] as const)(
    'stays as it is after %s',
    async ([, status, type, body, expected], { service, server, createLibrary, connect }) => {
      const id = await createLibrary(`Stays ${status} ${type}`);
      await connect(id);
      await storeTokens(service, id, { expiresAt: soon() });
      const before = await connectionOf(service, id);
      server.intercept = (request, response) => {
        if (request.url !== '/token') return false;
        response.writeHead(status, { 'content-type': type }).end(body);
        return true;
      };
      const token = tokenSource(service.platform, before);
      await expect(token()).rejects.toMatchObject({ status: expected });
      expect(await connectionOf(service, id)).toEqual(before);
      server.intercept = null;
      expect(await token()).not.toBe(before.tokens.accessToken);
    },
  );

  test('of a disabled user is not used', async ({ service, ann, createLibrary, connect }) => {
    const id = await createLibrary('Disabled');
    await connect(id);
    const token = tokenSource(service.platform, await connectionOf(service, id));
    await systemQuery(service, `update dws.app_user set enabled = false where id = $1`, ann.id);
    await expect(token()).rejects.toMatchObject(CONFLICT);
    await systemQuery(service, `update dws.app_user set enabled = true where id = $1`, ann.id);
    expect(await token()).toBe((await connectionOf(service, id)).tokens.accessToken);
  });
});

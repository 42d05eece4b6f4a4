import pg from 'pg';
import { describe, expect, vi } from 'vitest';
import { tokenSource } from '../../src/services/connection/token-source.ts';
import { connect as storeConnection } from '../library/library-fixture.ts';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import type { Client } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { connectionOf, soon, storeTokens, test } from './connection-fixture.ts';

/** Responds to token requests like a provider, with these parameters of the response. */
function respondWith(
  server: AuthorizationServer,
  response: object | ((parameters: URLSearchParams) => Promise<object>),
): void {
  server.intercept = async (request, sent) => {
    if (request.url !== '/token') return false;
    const parameters = new URLSearchParams((await request.toArray()).join(''));
    const body = typeof response === 'function' ? await response(parameters) : response;
    sent.setHeader('content-type', 'application/json');
    sent.end(JSON.stringify({ access_token: 'another-token', token_type: 'Bearer', expires_in: 3600, ...body }));
    return true;
  };
}

describe('the token of a connection', () => {
  test('is refreshed when it ends within a minute, and its refresh token is replaced', async ({
    service,
    server,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Short');
    server.lifetime = 50;
    await connect(id);
    const before = await connectionOf(service, id);
    server.lifetime = 3600;
    const token = tokenSource(service.platform, before);
    const fresh = await token();
    const after = await connectionOf(service, id);
    expect(fresh).not.toBe(before.tokens.accessToken);
    expect(after.tokens.accessToken).toBe(fresh);
    expect(after.tokens.refreshToken).not.toBe(before.tokens.refreshToken);
    expect(await token()).toBe(fresh);
    expect(server.grants).toEqual(['authorization_code', 'refresh_token']);
    const [row] = await systemQuery<{ seconds: number }>(
      service,
      `select extract(epoch from token_expires_at - now())::int as seconds from dws.connection where id = $1`,
      after.id,
    );
    expect(row!.seconds).toBeGreaterThan(3500);
  });

  test('is replaced when the provider has refused it, and not for an older one', async ({
    service,
    server,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Refused');
    await connect(id);
    const connection = await connectionOf(service, id);
    const token = tokenSource(service.platform, connection);
    const first = await token();
    expect(first).toBe(connection.tokens.accessToken);
    const second = await token(first);
    expect(second).not.toBe(first);
    expect(await token(first)).toBe(second);
    expect(server.grants).toEqual(['authorization_code', 'refresh_token']);
  });

  test('is replaced even if it is the result of a refresh that runs', async ({
    service,
    server,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Joined');
    await connect(id);
    await storeTokens(service, id, { expiresAt: soon() });
    const connection = await connectionOf(service, id);
    const token = tokenSource(service.platform, connection);
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    let count = 0;
    respondWith(server, async () => {
      begun.resolve();
      await held.promise;
      return { access_token: `issued-${++count}` };
    });
    const first = token();
    await begun.promise;
    const query = vi.spyOn(service.platform.database, 'query');
    const second = token('issued-1');
    await Promise.all(query.mock.results.map(({ value }) => value));
    query.mockRestore();
    held.resolve();
    expect([await first, await second]).toEqual(['issued-1', 'issued-2']);
  });

  test('is refreshed once for two processes with 50 callers', async ({ service, server, createLibrary, connect }) => {
    const id = await createLibrary('Race');
    await connect(id);
    await storeTokens(service, id, { expiresAt: soon() });
    const connection = await connectionOf(service, id);
    const other = await startService({ OUTBOUND_ALLOW: '127.0.0.1' }, { databaseUrl: service.databaseUrl });
    try {
      const sources = [service, other].map(({ platform }) => tokenSource(platform, connection));
      const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => sources[index % 2]!()));
      expect(new Set(tokens)).toEqual(new Set([(await connectionOf(service, id)).tokens.accessToken]));
      expect(server.grants).toEqual(['authorization_code', 'refresh_token']);
    } finally {
      await other.close();
    }
  });

  test('keeps the refresh token if the provider issues none', async ({ service, server, createLibrary, connect }) => {
    const id = await createLibrary('Kept');
    await connect(id);
    const { tokens } = await connectionOf(service, id);
    respondWith(server, {});
    const connection = await connectionOf(service, id);
    expect(await tokenSource(service.platform, connection)(tokens.accessToken)).toBe('another-token');
    expect((await connectionOf(service, id)).tokens.refreshToken).toBe(tokens.refreshToken);
  });

  test('that no header takes is refused, and the former one stays', async ({
    service,
    server,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Bad');
    await connect(id);
    const before = await connectionOf(service, id);
    const token = tokenSource(service.platform, before);
    for (const bad of ['with space', 'tökèn', 'with\nline', 'with\u0000']) {
      respondWith(server, { access_token: bad });
      await expect(token(before.tokens.accessToken)).rejects.toMatchObject({
        code: 'UPSTREAM_FAILED',
        message: 'The provider issued an access token that is not of visible ASCII characters',
      });
    }
    expect(await connectionOf(service, id)).toEqual(before);
  });

  test('is stored with at most five years for any lifetime', async ({ service, server, createLibrary, connect }) => {
    const id = await createLibrary('Long');
    await connect(id);
    const { tokens, ...connection } = await connectionOf(service, id);
    respondWith(server, { expires_in: 1e300, refresh_token: 'long', refresh_token_expires_in: 1e300 });
    expect(await tokenSource(service.platform, connection)(tokens.accessToken)).toBe('another-token');
    const [row] = await systemQuery<{ days: number; refreshDays: number }>(
      service,
      `select round(extract(epoch from token_expires_at - now()) / 86400)::int as days,
         round(extract(epoch from refresh_token_expires_at - now()) / 86400)::int as "refreshDays"
       from dws.connection where id = $1`,
      connection.id,
    );
    expect(row).toEqual({ days: 1825, refreshDays: 1825 });
  });

  test('of another tenant is refreshed while the tokens of one tenant wait', async ({
    service,
    server,
    admin,
    stranger,
  }) => {
    const prepare = async (user: Client, name: string) => {
      const { id: integrationId } = await user.creates('/integrations', server.integration());
      const { id } = await user.creates('/libraries', { name, integrationId });
      await storeConnection(service, user, id, integrationId);
      await storeTokens(service, id, { refreshToken: name, expiresAt: soon() });
      return tokenSource(service.platform, await connectionOf(service, id));
    };
    const names = ['one', 'two', 'three', 'four'];
    const mine = [];
    for (const name of names) mine.push(await prepare(admin, name));
    const theirs = await prepare(stranger, 'theirs');
    const held = Promise.withResolvers<void>();
    respondWith(server, async (parameters) => {
      const name = parameters.get('refresh_token')!;
      if (name !== 'theirs') await held.promise;
      return { access_token: `of-${name}` };
    });
    const query = vi.spyOn(service.platform.database, 'query');
    const waiting = mine.map((token) => token());
    // Theirs comes when all of the others wait or run.
    await Promise.all(query.mock.results.map(({ value }) => value));
    query.mockRestore();
    expect(await theirs()).toBe('of-theirs');
    held.resolve();
    expect(await Promise.all(waiting)).toEqual(names.map((name) => `of-${name}`));
  });

  test('is not lost when the process ends before the provider responds', async ({
    service,
    server,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Killed');
    await connect(id);
    await storeTokens(service, id, { expiresAt: soon() });
    const before = await connectionOf(service, id);
    const token = tokenSource(service.platform, before);
    let killedCount = 0;
    // As the end of a process: its transaction ends, and the provider has not seen the request.
    server.intercept = async (request, response) => {
      if (request.url !== '/token') return false;
      server.intercept = null;
      const admin = new pg.Client(service.databaseUrl);
      await admin.connect();
      const killed = await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where state = 'idle in transaction' and datname = current_database() and application_name = 'dws'`,
      );
      killedCount = killed.rows.length;
      await admin.end();
      response.destroy();
      return true;
    };
    await expect(token()).rejects.toBeInstanceOf(Error);
    expect(killedCount).toBe(1);
    expect((await connectionOf(service, id)).tokens).toEqual(before.tokens);
    expect(await token()).not.toBe(before.tokens.accessToken);
  });
});

import { describe, expect, vi } from 'vitest';
import { tokenSource } from '../../src/services/connection/token-source.ts';
import { connect as storeConnection } from '../library/library-fixture.ts';
import { authorizeInBrowser } from '../support/authorization-server.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { expectError } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { connectionOf, openCallback, test } from './connection-fixture.ts';

describe('a connection', () => {
  test('ends with DELETE and is revoked at the provider', async ({ service, server, ann, createLibrary, connect }) => {
    const id = await createLibrary('Ended');
    await connect(id);
    const connection = await connectionOf(service, id);
    expect((await ann.delete(`/libraries/${id}/connection`)).status).toBe(204);
    expect(await server.provider.RefreshToken.find(connection.tokens.refreshToken!)).toBeUndefined();
    await expectError(ann.get(`/libraries/${id}/connection`), 404);
    await expectError(ann.delete(`/libraries/${id}/connection`), 404);
    await expect(tokenSource(service.platform, connection)()).rejects.toMatchObject({
      status: 409,
      message: 'The library "Ended" is not connected: authorize it first',
    });
    expect((await ann.get(`/libraries/${id}`)).body.connectionStatus).toBeNull();

    await connect(id);
    const document = `mutation ($id: ID!) { disconnectLibrary(id: $id) }`;
    expect(await ann.data(document, { id })).toEqual({ disconnectLibrary: id });
    expect(JSON.stringify((await ann.get(`/libraries/${id}/activity`)).body)).toContain('ann disconnected Ended');
  });

  test('ends even if the provider fails to revoke it', async ({ server, ann, createLibrary, connect }) => {
    const id = await createLibrary('Unrevoked');
    await connect(id);
    server.intercept = (_, response) => Boolean(response.writeHead(500).end('no'));
    expect((await ann.delete(`/libraries/${id}/connection`)).status).toBe(204);
    await expectError(ann.get(`/libraries/${id}/connection`), 404);
  });

  test('ends with another integration, another client, and with its library', async ({
    service,
    server,
    admin,
    ann,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Moved');
    const revoked: string[] = [];
    const end = async (work: () => Promise<unknown>) => {
      await connect(id);
      const { tokens } = await connectionOf(service, id);
      await work();
      revoked.push(tokens.refreshToken!);
    };
    const { id: other } = await admin.creates('/integrations', server.integration());
    await end(() => ann.put(`/libraries/${id}/integration`, { integrationId: other }));
    await expectError(ann.get(`/libraries/${id}/connection`), 404);
    const clientSecret = 'another secret';
    await end(() => admin.put(`/integrations/${other}`, { clientId: 'another client', clientSecret }));
    await expectError(ann.get(`/libraries/${id}/connection`), 404);
    await admin.put(`/integrations/${other}`, server.integration());
    await end(() => ann.delete(`/libraries/${id}`));
    for (const token of revoked) expect(await server.provider.RefreshToken.find(token)).toBeUndefined();
    expect(await systemQuery(service, `select from dws.connection where library_id = $1`, id)).toEqual([]);
  });

  test('is not revoked while another one has the same client and account', async ({
    service,
    server,
    admin,
    ann,
    createLibrary,
    connect,
  }) => {
    const first = await createLibrary('First of account');
    const { integrationId } = (await ann.get(`/libraries/${first}`)).body;
    const { id: second } = await ann.creates('/libraries', { name: 'Second of account', integrationId });
    const { id: third } = await ann.creates('/libraries', { name: 'Of another account', integrationId });
    for (const id of [first, second]) await connect(id);
    await connect(third, 'another-account');
    const revocations = () => server.paths.filter((path) => path === '/token/revocation').length;
    const { tokens } = await connectionOf(service, second);
    expect((await ann.delete(`/libraries/${first}/connection`)).status).toBe(204);
    expect(revocations()).toBe(0);
    expect((await ann.delete(`/libraries/${second}/connection`)).status).toBe(204);
    expect(await server.provider.RefreshToken.find(tokens.refreshToken!)).toBeUndefined();
    expect(revocations()).toBe(1);
    const { id: otherIntegration } = await admin.creates('/integrations', server.integration());
    const body = { name: 'Of another integration', integrationId: otherIntegration };
    const { id: fourth } = await ann.creates('/libraries', body);
    for (const id of [first, fourth]) await connect(id);
    expect((await ann.delete(`/libraries/${first}/connection`)).status).toBe(204);
    expect(revocations()).toBe(1);
    expect((await ann.delete(`/libraries/${fourth}/connection`)).status).toBe(204);
    expect(revocations()).toBe(2);
    await connect(first, 'another-account');
    for (const id of [first, third]) expect((await ann.delete(`/libraries/${id}/connection`)).status).toBe(204);
    expect(revocations()).toBe(3);
  });

  test('is no longer revoked when the revocations of one change take 15 seconds', async ({
    service,
    server,
    admin,
    ann,
  }) => {
    const { id: integrationId } = await admin.creates('/integrations', server.integration());
    for (let index = 0; index < 10; index++) {
      const { id } = await ann.creates('/libraries', { name: `Late ${index}`, integrationId });
      await storeConnection(service, ann, id, integrationId);
    }
    const deadline = new AbortController();
    server.intercept = () => {
      if (server.paths.length === 8) deadline.abort(new Error('15 seconds have passed'));
      return true;
    };
    const original = AbortSignal.timeout.bind(AbortSignal);
    const timeout = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => (ms === 15_000 ? deadline.signal : original(ms)));
    const { status } = await admin.put(`/integrations/${integrationId}`, { clientId: 'x', clientSecret: 'y' });
    timeout.mockRestore();
    expect(status).toBe(200);
    expect(server.paths).toHaveLength(8);
    expect(await systemQuery(service, `select from dws.connection where integration_id = $1`, integrationId)).toEqual(
      [],
    );
  });

  test('is revoked concurrently with at most seven others', async ({ service, server, admin, ann }) => {
    const { id: integrationId } = await admin.creates('/integrations', server.integration());
    for (let index = 0; index < 20; index++) {
      const { id } = await ann.creates('/libraries', { name: `Many ${index}`, integrationId });
      await storeConnection(service, ann, id, integrationId);
    }
    const eight = Promise.withResolvers<void>();
    server.intercept = async (_, response) => {
      if (server.paths.length === 8) eight.resolve();
      await eight.promise;
      response.end();
      return true;
    };
    const { outbound } = service.platform;
    let running = 0;
    let atOnce = 0;
    const original = outbound.fetch.bind(outbound);
    const fetch = vi.spyOn(outbound, 'fetch').mockImplementation(async (...request) => {
      atOnce = Math.max(atOnce, ++running);
      return original(...request).finally(() => running--);
    });
    expect((await admin.put(`/integrations/${integrationId}`, { clientId: 'x', clientSecret: 'y' })).status).toBe(200);
    expect(server.paths.filter((path) => path === '/token/revocation')).toHaveLength(20);
    fetch.mockRestore();
    expect(atOnce).toBe(8);
  });

  test.for(['disabled', 'deleted'] as const)(
    'ends when its user is %s, and the owner of the library is notified',
    async (how, { service, server, admin, ann, createLibrary }) => {
      const id = await createLibrary(`User ${how}`);
      const name = `carl-${how}`;
      await service.user(name, { superuser: true });
      const carl = await service.login(name);
      const { url } = await carl.creates(`/libraries/${id}/connection/_authorize`, {});
      await openCallback(carl, await authorizeInBrowser(new BrowserSession(), url, name));
      const { tokens } = await connectionOf(service, id);
      expect((await ann.get(`/libraries/${id}/connection`)).body.ownerId).toBe(carl.id);
      const { status } =
        how === 'deleted'
          ? await admin.delete(`/users/${name}`)
          : await admin.put(`/users/${name}`, { enabled: false });
      expect(status).toBeLessThan(300);
      await expectError(ann.get(`/libraries/${id}/connection`), 404);
      expect(await server.provider.RefreshToken.find(tokens.refreshToken!)).toBeUndefined();
      const { notifications } = await ann.data('{ notifications { items { type message resource { kind id } } } }');
      expect(notifications.items).toContainEqual({
        type: 'LIBRARY_CONNECTION_ENDED',
        message: `The library User ${how} is no longer connected, because the user who authorized it was disabled or deleted`,
        resource: { kind: 'LIBRARY', id },
      });
    },
  );
});

test('a handler of an app can neither authorize nor end connections', async () => {
  const { refusesApps } = await import('../../resolvers/support/app-refusals.ts');
  const mutations = [
    'authorizeLibrary',
    'authorizeToolkit',
    'finishAuthorization',
    'disconnectLibrary',
    'disconnectToolkit',
  ];
  expect(mutations.filter((mutation) => !refusesApps(mutation))).toEqual([]);
});

test('authorizations without a callback are deleted', async ({ service, ann, createLibrary }) => {
  const { sweepAuthorizations } = await import('../../src/services/connection/authorization-state.ts');
  const id = await createLibrary('Swept');
  const states = () => systemQuery(service, `select from dws.oauth_state where library_id = $1`, id);
  await ann.creates(`/libraries/${id}/connection/_authorize`, {});
  await service.platform.system.transaction(sweepAuthorizations);
  expect(await states()).toHaveLength(1);
  await systemQuery(
    service,
    `update dws.oauth_state set expires_at = now() - interval '1 s' where library_id = $1`,
    id,
  );
  await service.platform.system.transaction(sweepAuthorizations);
  expect(await states()).toEqual([]);
});

test('a connection expires when the provider wants the user to sign in again', async ({
  service,
  server,
  createLibrary,
  connect,
}) => {
  const id = await createLibrary('Wanted');
  await connect(id);
  const connection = await connectionOf(service, id);
  server.intercept = (request, response) => {
    if (request.url !== '/token') return false;
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"interaction_required"}');
    return true;
  };
  const refreshed = tokenSource(service.platform, connection)(connection.tokens.accessToken);
  await expect(refreshed).rejects.toMatchObject({ status: 409, code: 'CONFLICT' });
  expect((await connectionOf(service, id)).status).toBe('expired');
});

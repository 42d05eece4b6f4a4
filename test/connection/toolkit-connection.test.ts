import { describe, expect } from 'vitest';
import type { OAuthClient } from '../../src/core/connection.ts';
import type { Context } from '../../src/core/context.ts';
import { tokenSource } from '../../src/services/connection/token-source.ts';
import { loadPrincipalViewer } from '../../src/services/identity/principal-viewer.ts';
import { loadTarget, startAuthorization } from '../../src/services/oauth/authorization.ts';
import { createViewerContext } from '../../src/services/resource/viewer-context.ts';
import { authorizeInBrowser, type AuthorizationServer } from '../support/authorization-server.ts';
import { BrowserSession } from '../support/browser-session.ts';
import type { Client } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { openCallback, test } from './connection-fixture.ts';

const clientOf = ({ url }: AuthorizationServer, more: Partial<OAuthClient> = {}): OAuthClient => ({
  ...CLIENT,
  authUri: `${url}/auth`,
  tokenUri: `${url}/token`,
  revokeUri: `${url}/token/revocation`,
  scope: 'files',
  issuer: url,
  authParameters: { prompt: 'consent' },
  tokenParameters: {},
  refreshTokenLifetimeMs: null,
  ...more,
});

/** Starts the authorization of a toolkit with a client that was found elsewhere. Returns the URL. */
async function start({ platform }: Service, user: Client, id: string, client: OAuthClient): Promise<string> {
  const [{ tenantId } = { tenantId: '' }] = await platform.system.query<{ tenantId: string }>({
    text: `select tenant_id as "tenantId" from dws.toolkit where id = $1`,
    values: [id],
  });
  const viewer = await loadPrincipalViewer(platform.system, tenantId, `user:${user.id}`);
  const ctx: Context = createViewerContext(platform, { signal: AbortSignal.timeout(20_000) } as never, viewer);
  const key = { kind: 'toolkit', id } as const;
  const { configDigest } = await ctx.transaction((tx) => loadTarget(ctx, tx, key));
  return (await startAuthorization(ctx, key, { client, configDigest })).url;
}

const createToolkit = (admin: Client, name: string) =>
  admin.creates('/toolkits', {
    name,
    type: 'mcp-remote',
    config: { url: 'https://mcp.example.com/mcp', transport: 'http' },
  });

describe('a toolkit', () => {
  test('is connected with the client that was found for it, refreshed and revoked with it', async ({
    service,
    server,
    admin,
  }) => {
    const { id } = await createToolkit(admin, 'Remote');
    const session = await service.login('admin');
    await expectError(session.get(`/toolkits/${id}/connection`), 404);
    const callback = await authorizeInBrowser(
      new BrowserSession(),
      await start(service, admin, id, clientOf(server)),
      'mcp',
    );
    expect(new URL(callback).searchParams.get('iss')).toBe(server.url);
    const { status, headers } = await openCallback(session, callback);
    expect([status, headers.get('location')]).toEqual([302, `/?connected=${id}`]);
    const { body } = await session.get(`/toolkits/${id}/connection`);
    expect(body).toMatchObject({ ownerId: admin.id, integrationId: null, status: 'connected' });
    expect(
      await admin.data(
        'query ($id: ID!) { toolkit(id: $id) { connection { id status toolkitId toolkit { id } library { id } } } }',
        { id },
      ),
    ).toEqual({
      toolkit: { connection: { id: body.id, status: 'CONNECTED', toolkitId: id, toolkit: { id }, library: null } },
    });
    const [row] = await systemQuery<{ tenantId: string }>(
      service,
      `select tenant_id as "tenantId" from dws.connection where id = $1`,
      body.id,
    );
    const token = tokenSource(service.platform, {
      id: body.id,
      tenantId: row!.tenantId,
      target: 'the toolkit "Remote"',
    });
    const first = await token();
    expect(await token(first)).not.toBe(first);
    expect(server.grants).toEqual(['authorization_code', 'refresh_token']);
    expect((await admin.delete(`/toolkits/${id}/connection`)).status).toBe(204);
    expect(server.paths).toContain('/token/revocation');
    await expectError(admin.get(`/toolkits/${id}/connection`), 404);
  });

  test('takes no response of another issuer than its own', async ({ service, server, admin }) => {
    const { id } = await createToolkit(admin, 'Mixed');
    const session = await service.login('admin');
    const url = await start(service, admin, id, clientOf(server));
    const callback = new URL(await authorizeInBrowser(new BrowserSession(), url, 'mixed'));
    callback.searchParams.set('iss', 'https://attacker.example');
    await expectError(openCallback(session, callback.href), 400, /another provider/);
    expect(server.paths).not.toContain('/token');
    await expectError(session.get(`/toolkits/${id}/connection`), 404);
  });

  test('takes no response without an issuer if its server states it in every response', async ({
    service,
    server,
    admin,
  }) => {
    const { id } = await createToolkit(admin, 'Stripped');
    const session = await service.login('admin');
    const authorize = async (issuerRequired: boolean) => {
      const url = await start(service, admin, id, clientOf(server, { issuerRequired }));
      const callback = new URL(await authorizeInBrowser(new BrowserSession(), url, 'stripped'));
      callback.searchParams.delete('iss');
      return openCallback(session, callback.href);
    };
    await expectError(authorize(true), 400, /another provider/);
    expect(server.paths).not.toContain('/token');
    await expectError(session.get(`/toolkits/${id}/connection`), 404);
    expect((await authorize(false)).status).toBe(302);
  });

  test('whose configuration has changed since the start is not connected', async ({ service, server, admin }) => {
    const { id } = await createToolkit(admin, 'Reconfigured');
    const session = await service.login('admin');
    const url = await start(service, admin, id, clientOf(server));
    const callback = await authorizeInBrowser(new BrowserSession(), url, 'changed');
    const config = { url: 'https://mcp.example.com/mcp', transport: 'http', headers: { 'X-Team': 'data' } };
    expect((await admin.put(`/toolkits/${id}`, { config })).status).toBe(200);
    await expectError(openCallback(session, callback), 409, /has changed/);
    expect(server.paths).not.toContain('/token');
  });

  test('that is authorized again has another connection for another user or client alone', async ({
    service,
    server,
    admin,
  }) => {
    const { id } = await createToolkit(admin, 'Again');
    await service.user('zoe', { superuser: true });
    const browser = new BrowserSession();
    const connect = async (username: string, more: Partial<OAuthClient> = {}) => {
      const session = await service.login(username);
      const url = await start(service, session, id, clientOf(server, more));
      expect((await openCallback(session, await authorizeInBrowser(browser, url, 'again'))).status).toBe(302);
      return (await session.get(`/toolkits/${id}/connection`)).body.id;
    };
    const revocations = () => server.paths.filter((path) => path === '/token/revocation').length;
    const first = await connect('admin');
    expect(await connect('admin')).toBe(first);
    expect(revocations()).toBe(0);
    const [row] = await systemQuery<{ tenantId: string }>(
      service,
      `select tenant_id as "tenantId" from dws.connection where id = $1`,
      first,
    );
    const token = tokenSource(service.platform, { id: first, tenantId: row!.tenantId, target: 'the toolkit "Again"' });
    const current = await token();
    expect(await token(current), 'the former tokens were not revoked').not.toBe(current);
    const second = await connect('zoe');
    expect(second).not.toBe(first);
    expect(revocations()).toBe(1);
    const third = await connect('zoe', { tokenUri: `${server.url}/token?moved` });
    expect(third).not.toBe(second);
    expect(revocations()).toBe(2);
  });

  test('that gets another server or is deleted is disconnected and revoked', async ({ service, server, admin }) => {
    const { id } = await createToolkit(admin, 'Ended');
    const session = await service.login('admin');
    const connect = async () => {
      const url = await start(service, admin, id, clientOf(server));
      expect((await openCallback(session, await authorizeInBrowser(new BrowserSession(), url, 'ended'))).status).toBe(
        302,
      );
    };
    const revocations = () => server.paths.filter((path) => path === '/token/revocation').length;
    await connect();
    const config = { url: 'https://mcp.example.com/mcp', transport: 'http', headers: { 'X-Team': 'data' } };
    expect((await admin.put(`/toolkits/${id}`, { config })).status).toBe(200);
    expect((await admin.get(`/toolkits/${id}/connection`)).body.status).toBe('connected');
    expect(
      (await admin.put(`/toolkits/${id}`, { config: { ...config, url: 'https://other.example.com' } })).status,
    ).toBe(200);
    await expectError(admin.get(`/toolkits/${id}/connection`), 404);
    expect(revocations()).toBe(1);
    await connect();
    expect((await admin.delete(`/toolkits/${id}`)).status).toBeLessThan(300);
    expect(revocations()).toBe(2);
  });
});

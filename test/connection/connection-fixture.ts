import { expect } from 'vitest';
import type { ConnectionTokens } from '../../src/core/connection.ts';
import {
  authorizeInBrowser,
  startAuthorizationServer,
  type AuthorizationServer,
} from '../support/authorization-server.ts';
import { BrowserSession } from '../support/browser-session.ts';
import type { Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** A library of Ann with the integration of a real authorization server. */
export interface ConnectedWorld {
  server: AuthorizationServer;
  /** Session of Ann, who owns the libraries. */
  session: Client;
  /** Creates a library of Ann with the integration of the server. Returns its id. */
  createLibrary: (name: string) => Promise<string>;
  /** Connects a library with the account of a login. Returns the id of the connection. */
  connect: (libraryId: string, login?: string) => Promise<string>;
}

export const test = base.extend<ConnectedWorld & { service: Service }>({
  service: [
    async ({}, use) => {
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1,localhost' });
      service.platform.publicUrl = service.url;
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  server: async ({ service }, use) => {
    const server = await startAuthorizationServer(`${service.url}/api/oauth/callback`);
    await use(server);
    await server.close();
  },
  session: [async ({ service, ann }, use) => use(await service.login(ann.username)), { scope: 'file' }],
  createLibrary: async ({ admin, ann, server }, use) =>
    use(async (name) => {
      const { id: integrationId } = await admin.creates('/integrations', server.integration());
      return (await ann.creates('/libraries', { name, integrationId })).id;
    }),
  connect: async ({ service, session }, use) =>
    use(async (libraryId, login = 'drive-of-ann') => {
      const { url } = (await session.post(`/libraries/${libraryId}/connection/_authorize`)).body;
      const callback = await authorizeInBrowser(new BrowserSession(), url, login);
      expect((await openCallback(session, callback)).status).toBe(302);
      return (await connectionOf(service, libraryId)).id;
    }),
});

/** Opens the URL of a callback as a client, without following the redirect. */
export const openCallback = (client: Client, url: string) => client.request('GET', url.slice(url.indexOf('/api/')));

/** Returns the stored connection of a library with its tokens. */
export async function connectionOf(service: Service, libraryId: string) {
  const [row] = await systemQuery<{
    id: string;
    status: string;
    sealed_tokens: string;
    tenant_id: string;
    name: string;
  }>(
    service,
    `select c.id, c.tenant_id, c.status, c.sealed_tokens, l.name
    from dws.connection c join dws.library l on l.id = c.library_id
    where c.library_id = $1`,
    libraryId,
  );
  const { id, tenant_id: tenantId, status, sealed_tokens: sealed, name } = row!;
  return {
    id,
    tenantId,
    target: `the library "${name}"`,
    status,
    tokens: JSON.parse(service.platform.secrets.open(sealed, 'a test')) as ConnectionTokens,
  };
}

/** Stores other tokens of a connection. */
export async function storeTokens(service: Service, libraryId: string, change: Record<string, unknown>): Promise<void> {
  const { tokens, id } = await connectionOf(service, libraryId);
  const sealed = service.platform.secrets.seal(JSON.stringify({ ...tokens, ...change }));
  await systemQuery(service, `update dws.connection set sealed_tokens = $2 where id = $1`, id, sealed);
}

/** Time at which a token is refreshed before its use. */
export const soon = () => Date.now() + 30_000;

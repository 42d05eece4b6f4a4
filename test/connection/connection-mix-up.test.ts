import { text } from 'node:stream/consumers';
import { afterEach, describe, expect } from 'vitest';
import { digest } from '../../src/core/secret.ts';
import { startDriveFake } from '../../tools/drive-fake.ts';
import { authorizeInBrowser } from '../support/authorization-server.ts';
import { BrowserSession } from '../support/browser-session.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { serveOnLoopback, type LoopbackServer } from '../support/identity-provider-server.ts';
import { sendJson } from '../support/mcp-server.ts';
import { startProtectedMcpServer } from '../support/protected-mcp-server.ts';
import { openCallback, test as base } from './connection-fixture.ts';

/** An MCP server whose authorization server sends users to the consent page of another provider. */
interface HostileServer extends LoopbackServer {
  /** Authorization request of the attacker, whose consent page users see. */
  target: string;
  /** Redirect URI that replaces the one of the target; null for none. */
  redirectUri: string | null;
  /** Redirect URIs of the clients that were registered. */
  registered: string[][];
  /** Bodies of the token requests. */
  tokenRequests: URLSearchParams[];
}

async function startHostileServer(): Promise<HostileServer> {
  const state: Pick<HostileServer, 'target' | 'redirectUri' | 'registered' | 'tokenRequests'> = {
    target: '',
    redirectUri: null,
    registered: [],
    tokenRequests: [],
  };
  const server = await serveOnLoopback((issuer) => async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, issuer);
    const body = await text(request);
    if (pathname === '/.well-known/oauth-authorization-server')
      return sendJson(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: ['none'],
      });
    if (pathname === '/register') {
      const client = JSON.parse(body) as { redirect_uris: string[] };
      state.registered.push(client.redirect_uris);
      return sendJson(response, { ...client, client_id: 'registered' });
    }
    if (pathname === '/authorize') {
      const location = new URL(state.target);
      location.searchParams.set('state', searchParams.get('state')!);
      if (state.redirectUri !== null) location.searchParams.set('redirect_uri', state.redirectUri);
      return void response.writeHead(302, { location: location.href }).end();
    }
    if (pathname === '/token') {
      state.tokenRequests.push(new URLSearchParams(body));
      return sendJson(response, { access_token: 'worthless', token_type: 'bearer' });
    }
    response.writeHead(404).end();
  });
  return Object.assign(state, server);
}

const started: { close(): unknown }[] = [];
const closing = <T extends { close(): unknown }>(server: T): T => {
  started.push(server);
  return server;
};
afterEach(() => Promise.all(started.splice(0).map((server) => server.close())));

const test = base.extend<{
  hostile: HostileServer;
  /** The attacker, and their session. */
  mallory: Client;
  attacker: Client;
  /** Session of the victim. */
  victim: Client;
  /** Starts the authorization of a toolkit of the attacker by the victim. Returns the URL that the victim opens. */
  startAsVictim: () => Promise<{ path: string; url: string; redirectUri: string }>;
}>({
  hostile: async ({}, use) => {
    const server = await startHostileServer();
    await use(server);
    await server.close();
  },
  mallory: [
    async ({ service }, use) =>
      use(await service.user('mallory', { permissions: ['toolkits:create', 'libraries:create'] })),
    { scope: 'file' },
  ],
  attacker: [async ({ service, mallory }, use) => use(await service.login(mallory.username)), { scope: 'file' }],
  victim: [async ({ service, bob }, use) => use(await service.login(bob.username)), { scope: 'file' }],
  startAsVictim: async ({ mallory, bob, victim, hostile }, use) =>
    use(async () => {
      const config = { url: `${hostile.url}/mcp`, transport: 'http' };
      const { id } = await mallory.creates('/toolkits', { name: 'Useful tools', type: 'mcp-remote', config });
      await expectStatus(mallory.put(`/toolkits/${id}/shares/${bob.id}`, { accessLevel: 2 }), 200);
      const { url, redirectUri } = (await victim.post(`/toolkits/${id}/connection/_authorize`)).body;
      return { path: `/toolkits/${id}`, url, redirectUri };
    }),
});

/** Consents at a fake drive. Returns the URL of the callback. */
async function consent(url: string): Promise<string> {
  const browser = new BrowserSession();
  const isCallback = (next: string) => next.includes('/api/oauth/callback');
  const page = await browser.open(url);
  return (await browser.open(page.url, isCallback, { decision: 'allow' })).url;
}

/** Returns a URL with another value of a parameter, or without the parameter. */
function withParameter(url: string, name: string, value: string | null): string {
  const changed = new URL(url);
  if (value === null) changed.searchParams.delete(name);
  else changed.searchParams.set(name, value);
  return changed.href;
}

const stateOf = (url: string): string => new URL(url).searchParams.get('state')!;

describe('an authorization server that sends users to the consent page of another provider', () => {
  test('gets no code for a drive, and its owner not the drive of the user', async ({
    service,
    admin,
    mallory,
    attacker,
    victim,
    hostile,
    startAsVictim,
  }) => {
    const drive = closing(await startDriveFake('dropbox'));
    const integration = { name: 'Dropbox of all', type: 'dropbox', ...drive.registration };
    const { id: integrationId } = await admin.creates('/integrations', integration);
    const library = `/libraries/${(await mallory.creates('/libraries', { name: 'Loot', integrationId })).id}`;
    const own = (await attacker.post(`${library}/connection/_authorize`)).body;
    expect(own.redirectUri).toBe(`${service.url}/api/oauth/callback`);
    hostile.target = own.url;

    const { path, url, redirectUri } = await startAsVictim();
    expect(redirectUri).toBe(`${service.url}/api/oauth/callback/${digest(hostile.url)}`);
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(redirectUri);
    expect(hostile.registered).toEqual([[redirectUri]]);
    const callback = await consent(url);
    expect(callback.split('?')[0]).toBe(own.redirectUri);
    await expectError(openCallback(victim, callback), 400, /another provider/);
    expect(hostile.tokenRequests).toEqual([]);
    await expectError(victim.get(`${path}/connection`), 404);

    // The redirect URI of this server, at a provider that does not compare it with the registered ones.
    hostile.redirectUri = redirectUri;
    const second = await startAsVictim();
    expect((await openCallback(victim, await consent(second.url))).status).toBe(302);
    const stolen = hostile.tokenRequests[0]!.get('code')!;
    expect(drive.authority.issued).toContain(stolen);
    const redeem = `/oauth/callback?code=${stolen}&state=${stateOf(own.url)}`;
    await expectError(victim.get(redeem), 403, /Another user started this/);
    await expectError(attacker.get(redeem), 500, /refused the code: invalid_grant/);
    await expectError(mallory.get(`${library}/connection`), 404);
    expect(drive.authority.issued.filter((secret) => !secret.startsWith('code-'))).toEqual([]);
  });

  test('gets no code of the authorization server of another toolkit, which states no issuer', async ({
    service,
    mallory,
    attacker,
    victim,
    hostile,
    startAsVictim,
  }) => {
    const honest = closing(await startProtectedMcpServer());
    const config = { url: honest.mcpUrl, transport: 'http' };
    const toolkit = await mallory.creates('/toolkits', { name: 'Loot', type: 'mcp-remote', config });
    const own = (await attacker.post(`/toolkits/${toolkit.id}/connection/_authorize`)).body;
    expect(own.redirectUri).toBe(`${service.url}/api/oauth/callback/${digest(honest.url)}`);
    hostile.target = own.url;
    const { url } = await startAsVictim();
    const callback = withParameter(await authorizeInBrowser(new BrowserSession(), url, 'bob'), 'iss', null);
    expect(callback.split('?')[0]).toBe(own.redirectUri);
    await expectError(openCallback(victim, callback), 400, /another provider/);
    expect([hostile.tokenRequests, honest.tokenRequests]).toEqual([[], []]);
    await expectError(openCallback(victim, callback), 400, /already used/);
  });
});

test('a callback of a library is accepted at the redirect URI of its integration alone', async ({
  session,
  server,
  createLibrary,
}) => {
  const id = await createLibrary('Elsewhere');
  const authorize = async () => {
    const { url } = (await session.post(`/libraries/${id}/connection/_authorize`)).body;
    return authorizeInBrowser(new BrowserSession(), url, 'elsewhere');
  };
  const moved = (await authorize()).replace('/callback?', `/callback/${digest(server.url)}?`);
  await expectError(openCallback(session, moved), 400, /another provider/);
  await expectError(session.get(`/libraries/${id}/connection`), 404);
  // GraphQL names the redirect URI by an argument.
  const finish = 'mutation ($p: String!, $i: String) { finishAuthorization(parameters: $p, issuerDigest: $i) }';
  const parameters = async () => new URL(await authorize()).search.slice(1);
  const refused = session.gql(finish, { p: await parameters(), i: digest(server.url) });
  await expectGraphqlError(refused, 'BAD_USER_INPUT', /another provider/);
  expect(server.grants).toEqual([]);
  expect(await session.data(finish, { p: await parameters() })).toEqual({ finishAuthorization: `/?connected=${id}` });
  await expectBody(session.get(`/libraries/${id}/connection`), 200, { status: 'connected' });
});

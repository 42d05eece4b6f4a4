import { afterEach, describe, expect } from 'vitest';
import { digest } from '../../src/core/secret.ts';
import { authorizeInBrowser } from '../support/authorization-server.ts';
import { BrowserSession } from '../support/browser-session.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { sendJson } from '../support/mcp-server.ts';
import { startProtectedMcpServer, type ProtectedMcpServer } from '../support/protected-mcp-server.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createRemote, test } from './discovery-fixture.ts';
import type { TestToolkit } from './toolkit-fixture.ts';

const servers: ProtectedMcpServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function start(clients?: (issuer: string) => object[]): Promise<ProtectedMcpServer> {
  const server = await startProtectedMcpServer(clients);
  servers.push(server);
  return server;
}

/** Authorizes a toolkit as a user does, in a browser with a session of the service. Returns the authorization request. */
async function connect(session: Client, { path }: TestToolkit): Promise<Record<string, string>> {
  const { body } = await session.post(`${path}/connection/_authorize`);
  const callback = await authorizeInBrowser(new BrowserSession(), body.url, 'tools-of-eve');
  const { status } = await session.request('GET', callback.slice(callback.indexOf('/api/')));
  expect(status).toBe(302);
  return Object.fromEntries(new URL(body.url).searchParams);
}

test('a protected server is discovered once a user has authorized its toolkit', async ({ service, eve }) => {
  const server = await start();
  const toolkit = await createRemote(eve, server.mcpUrl);
  await expectError(eve.post(`${toolkit.path}/discover`), 500, /requires authorization.*connection\/_authorize/);

  const session = await service.login('eve');
  const started = await session.post(`${toolkit.path}/connection/_authorize`);
  const callback = new URL(await authorizeInBrowser(new BrowserSession(), started.body.url, 'tools-of-eve'));
  callback.searchParams.delete('iss');
  // The server promises to name itself in every callback.
  await expectError(session.request('GET', callback.pathname + callback.search), 400, /another provider/);
  expect(server.tokenRequests).toEqual([]);
  const asked = await connect(session, toolkit);
  expect(asked).toMatchObject({
    client_id: server.registered[0],
    redirect_uri: `${service.url}/api/oauth/callback/${digest(server.url)}`,
    scope: 'tools offline_access',
    resource: server.mcpUrl,
    code_challenge_method: 'S256',
    prompt: 'consent',
  });
  expect(server.tokenRequests).toMatchObject([{ grant_type: 'authorization_code', resource: server.mcpUrl }]);

  const { tools } = await expectBody(eve.post(`${toolkit.path}/discover`), 200, {});
  expect(tools).toEqual([{ name: 'protected', description: null, inputSchema: { type: 'object' } }]);
  await expectBody(eve.get(`${toolkit.path}/connection`), 200, { ownerId: eve.id, status: 'connected' });
});

/** Returns the stored registration for a toolkit, encrypted. */
async function sealedOf(service: Service, { id }: TestToolkit): Promise<string> {
  const [row] = await systemQuery<{ sealed: string }>(
    service,
    `select sealed from dws.oauth_registration where toolkit_id = $1`,
    id,
  );
  return row!.sealed;
}

describe('the registration of this service', () => {
  test('is used again for a toolkit, also after its connection has ended', async ({ service, eve }) => {
    const server = await start();
    const toolkit = await createRemote(eve, server.mcpUrl);
    const session = await service.login('eve');
    const clientIds = [];
    for (let n = 0; n < 2; n += 1) {
      await expectStatus(session.post(`${toolkit.path}/connection/_authorize`), 200);
      clientIds.push((await connect(session, toolkit))['client_id']);
      await expectStatus(eve.post(`${toolkit.path}/discover`), 200);
      await expectStatus(eve.delete(`${toolkit.path}/connection`), 204);
    }
    expect(clientIds).toEqual([server.registered[0], server.registered[0]]);
    expect(server.registered).toHaveLength(1);
    expect(await sealedOf(service, toolkit)).not.toContain(server.registered[0]);
  });

  test('is another one for another server or redirect URI', async ({ service, eve }) => {
    const [one, two] = [await start(), await start()];
    const toolkit = await createRemote(eve, one.mcpUrl);
    const authorize = () => expectStatus(eve.post(`${toolkit.path}/connection/_authorize`), 200);
    await authorize();
    await expectStatus(eve.put(toolkit.path, { config: { url: two.mcpUrl, transport: 'http' } }), 200);
    await authorize();
    await authorize();
    expect([one.registered.length, two.registered.length]).toEqual([1, 1]);
    const { publicUrl } = service.platform;
    service.platform.publicUrl = 'https://moved.example';
    await authorize();
    service.platform.publicUrl = publicUrl;
    expect([one.registered.length, two.registered.length]).toEqual([1, 2]);
  });

  test('is not confirmed by the callback of an earlier one', async ({ service, eve }) => {
    const toolkit = await createRemote(eve, (await start()).mcpUrl);
    const session = await service.login('eve');
    const { body } = await session.post(`${toolkit.path}/connection/_authorize`);
    const { secrets } = service.platform;
    const registered = JSON.parse(secrets.open(await sealedOf(service, toolkit), 'a test')) as object;
    const other = secrets.seal(JSON.stringify({ ...registered, clientId: 'another' }));
    const store = `update dws.oauth_registration set sealed = $2 where toolkit_id = $1`;
    await systemQuery(service, store, toolkit.id, other);
    const callback = await authorizeInBrowser(new BrowserSession(), body.url, 'tools-of-eve');
    expect((await session.request('GET', callback.slice(callback.indexOf('/api/')))).status).toBe(302);
    const isWaiting = `select started_at is not null as "isWaiting" from dws.oauth_registration where toolkit_id = $1`;
    expect(await systemQuery(service, isWaiting, toolkit.id)).toEqual([{ isWaiting: true }]);
  });

  test('is another one where no authorization was completed in time, or its secret has ended', async ({
    service,
    eve,
  }) => {
    const server = await start();
    const toolkit = await createRemote(eve, server.mcpUrl);
    const session = await service.login('eve');
    const age = () =>
      systemQuery(
        service,
        `update dws.oauth_registration set started_at = started_at - interval '11 minutes' where toolkit_id = $1`,
        toolkit.id,
      );
    await connect(session, toolkit);
    await age();
    await connect(session, toolkit);
    expect(server.registered).toHaveLength(1);
    await expectStatus(eve.post(`${toolkit.path}/connection/_authorize`), 200);
    await age();
    await connect(session, toolkit);
    expect(server.registered).toHaveLength(2);
    const { secrets } = service.platform;
    const registered = JSON.parse(secrets.open(await sealedOf(service, toolkit), 'a test')) as object;
    const ended = secrets.seal(JSON.stringify({ ...registered, expiresAt: Date.now() - 1 }));
    await systemQuery(
      service,
      `update dws.oauth_registration set sealed = $2 where toolkit_id = $1`,
      toolkit.id,
      ended,
    );
    await connect(session, toolkit);
    expect(server.registered).toHaveLength(3);
  });
});

test('a token that has ended is refreshed for a discovery, for the same resource', async ({ service, eve }) => {
  const server = await start();
  server.lifetime = 1;
  const toolkit = await createRemote(eve, server.mcpUrl);
  await connect(await service.login('eve'), toolkit);
  await expectStatus(eve.post(`${toolkit.path}/discover`), 200);
  expect(server.tokenRequests).toMatchObject([
    { grant_type: 'authorization_code' },
    { grant_type: 'refresh_token', resource: server.mcpUrl },
  ]);
});

test('a connection that was ended authorizes no discovery', async ({ service, eve }) => {
  const server = await start();
  const toolkit = await createRemote(eve, server.mcpUrl);
  await connect(await service.login('eve'), toolkit);
  await expectStatus(eve.delete(`${toolkit.path}/connection`), 204);
  await expectError(eve.post(`${toolkit.path}/discover`), 500, /requires authorization/);
});

/** Returns a client as it is registered by hand at an authorization server. */
const registrationOf = ({ url }: Service, client: { clientId: string; clientSecret: string }, issuer: string) => ({
  client_id: client.clientId,
  client_secret: client.clientSecret,
  redirect_uris: [`${url}/api/oauth/callback/${digest(issuer)}`],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'client_secret_post',
});

test('config.oauth names a client instead of a registration', async ({ service, eve }) => {
  const client = { clientId: 'our-client', clientSecret: 'the secret of our client' };
  const server = await start((issuer) => [registrationOf(service, client, issuer)]);
  const config = { url: server.mcpUrl, transport: 'http', oauth: { ...client, scope: 'tools' } };
  const toolkit = await createRemote(eve, server.mcpUrl, { config });
  const asked = await connect(await service.login('eve'), toolkit);
  expect(asked).toMatchObject({ client_id: client.clientId, scope: 'tools' });
  expect(server.registered).toEqual([]);
  await expectStatus(eve.post(`${toolkit.path}/discover`), 200);
  const [stored] = await systemQuery<{ text: string }>(
    service,
    `select (select string_agg(c::text, '') from dws.connection c) || (select string_agg(t::text, '') from dws.toolkit t)
      as text`,
  );
  expect(stored!.text).not.toContain(client.clientSecret);
});

test('the secret of config.oauth is for one client and the first authorization server', async ({ service, eve }) => {
  const oauth = { clientId: 'our-client', clientSecret: 'the secret of our client' };
  const clients = (issuer: string) => [registrationOf(service, oauth, issuer)];
  const [server, other] = [await start(clients), await start(clients)];
  const config = { url: server.mcpUrl, transport: 'http', oauth };
  const toolkit = await createRemote(eve, server.mcpUrl, { config });
  const masked = { ...config, oauth: { ...oauth, clientSecret: '••••' } };
  await expectInvalid(
    eve.put(toolkit.path, { config: { ...masked, oauth: { ...masked.oauth, clientId: 'another' } } }),
    'config.oauth.clientSecret',
    /is required when config\.url or config\.oauth\.clientId changes/,
  );
  const session = await service.login('eve');
  await connect(session, toolkit);
  server.authorizationServer = other.url;
  const authorize = () => session.post(`${toolkit.path}/connection/_authorize`);
  await expectError(authorize(), 409, /names another authorization server than before.*clientSecret again/);
  await expectStatus(eve.put(toolkit.path, { config: masked }), 200);
  await expectError(authorize(), 409, /names another authorization server/);
  await expectStatus(eve.put(toolkit.path, { config }), 200);
  await connect(session, toolkit);
  expect(other.tokenRequests).toMatchObject([{ grant_type: 'authorization_code' }]);
});

test('a server without authorization has nothing to authorize', async ({ eve, remote }) => {
  const { path } = await remote();
  await expectError(eve.post(`${path}/connection/_authorize`), 500, /names no authorization server/);
});

test('a server that describes another resource, or an address of this machine as endpoint, is refused', async ({
  eve,
  server,
  remote,
}) => {
  const origin = new URL(server.url).origin;
  const metadata = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
  };
  let resource: object = { resource: 'https://other.example/mcp' };
  let described: object = metadata;
  server.intercept = ({ url }, response) => {
    const found = url.includes('oauth-protected-resource') ? resource : url.includes('.well-known') ? described : null;
    if (found) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
    return found !== null;
  };
  const { path } = await remote();
  const authorize = () => eve.post(`${path}/connection/_authorize`);
  await expectError(authorize(), 500, /describes another resource: "https:\/\/other\.example\/mcp"/);
  resource = { resource: server.url, authorization_servers: ['http://127.0.0.2/'] };
  await expectError(authorize(), 400, /host "127\.0\.0\.2" are not allowed/);
  resource = { resource: server.url, authorization_servers: [origin] };
  described = { ...metadata, authorization_endpoint: 'javascript:alert(1)' };
  await expectError(authorize(), 500, /does not follow the protocol|no https: URL/);
  described = { ...metadata, issuer: 'https://other.example' };
  await expectError(authorize(), 500, /does not follow the protocol.*issuer/i);
  described = { ...metadata, code_challenge_methods_supported: ['plain'] };
  await expectError(authorize(), 500, /does not support PKCE with S256/);
  for (const moved of [
    { authorization_endpoint: 'http://127.0.0.1:9/authorize' },
    { token_endpoint: 'http://127.0.0.1:9/token' },
  ]) {
    described = { ...metadata, ...moved };
    const { authorization_endpoint: authorization, token_endpoint: token } = { ...metadata, ...moved };
    const message = `issuer "${origin}", the authorization endpoint "${authorization}" and the token endpoint "${token}"`;
    await expectError(authorize(), 500, new RegExp(message));
  }
  described = { ...described, authorization_response_iss_parameter_supported: true, registration_endpoint: undefined };
  await expectError(authorize(), 500, /registers no clients.*config\.oauth/);
  described = { ...metadata, registration_endpoint: undefined };
  await expectError(authorize(), 500, /registers no clients.*config\.oauth/);
});

test('an authorization server that registers no others is named, with the next step', async ({
  service,
  eve,
  server,
  remote,
}) => {
  const origin = new URL(server.url).origin;
  const described = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
  };
  server.intercept = ({ url }, response) => {
    if (url.includes('oauth-authorization-server')) sendJson(response, described);
    else if (url === '/register')
      response.writeHead(403).end('{"error": "access_denied", "error_description": "closed"}');
    else return false;
    return true;
  };
  const { path } = await remote();
  const failed = await eve.post(`${path}/connection/_authorize`);
  expect(failed).toMatchObject({ status: 500, body: { code: 'UPSTREAM_FAILED' } });
  expect(failed.body.message).toBe(
    'The authorization server of the MCP server "127.0.0.1" refuses to register this service with 403: ' +
      '"{"error": "access_denied", "error_description": "closed"}". Register this service there with the redirect URI ' +
      `${service.url}/api/oauth/callback/${digest(origin)}, and set config.oauth of the toolkit`,
  );
});

test('a stdio toolkit is not authorized', async ({ eve }) => {
  const { id } = await eve.creates('/toolkits', {
    name: 'Local',
    type: 'mcp-stdio',
    config: { command: 'x', args: [] },
  });
  await expectError(eve.post(`/toolkits/${id}/connection/_authorize`), 400, /mcp-remote only/);
});

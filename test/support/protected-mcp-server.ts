import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import Provider from 'oidc-provider';
import { serveOnLoopback, type LoopbackServer } from './identity-provider-server.ts';
import { initializeResult, sendJson, toolNamed, type RpcMessage } from './mcp-server.ts';

/** A remote MCP server that real OAuth protects: RFC 9728, 8414, 7591 and 8707. */
export interface ProtectedMcpServer extends LoopbackServer {
  /** URL of the MCP server. */
  mcpUrl: string;
  provider: Provider;
  /** Client ids of those who have registered. */
  registered: string[];
  /** Parameters of the token requests that succeeded. */
  tokenRequests: Record<string, unknown>[];
  /** Lifetime of access tokens in seconds. */
  lifetime: number;
  /** Issuer of the authorization server that the server names; null for its own. */
  authorizationServer: string | null;
}

const RESOURCE_PATH = '/.well-known/oauth-protected-resource/mcp';

/**
 * Starts a server whose tools require the scope `tools`. Its authorization server is at the same address, and knows the
 * clients that `clientsOf` returns for it.
 */
export async function startProtectedMcpServer(
  clientsOf: (issuer: string) => object[] = () => [],
): Promise<ProtectedMcpServer> {
  const state: Pick<ProtectedMcpServer, 'registered' | 'tokenRequests' | 'lifetime' | 'authorizationServer'> = {
    registered: [],
    tokenRequests: [],
    lifetime: 3600,
    authorizationServer: null,
  };
  let provider!: Provider;
  const server = await serveOnLoopback((issuer) => {
    provider = createProvider(issuer, clientsOf(issuer), () => state.lifetime);
    provider.on('registration_create.success', (_ctx, { clientId }) => state.registered.push(clientId));
    provider.on('grant.success', ({ oidc }) => state.tokenRequests.push({ ...oidc.params }));
    const handle = provider.callback();
    return (request, response) => {
      const { pathname } = new URL(request.url!, issuer);
      if (pathname === RESOURCE_PATH)
        sendJson(response, {
          resource: `${issuer}/mcp`,
          authorization_servers: [state.authorizationServer ?? issuer],
          scopes_supported: ['tools'],
        });
      else if (pathname === '/mcp')
        respond(provider, issuer, request, response).catch((error: Error) => response.destroy(error));
      else handle(request, response);
    };
  });
  return Object.assign(state, server, { mcpUrl: `${server.url}/mcp`, provider });
}

const createProvider = (issuer: string, clients: object[], lifetime: () => number): Provider =>
  new Provider(issuer, {
    clients,
    scopes: ['tools', 'offline_access'],
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'tools', audience: `${issuer}/mcp`, accessTokenFormat: 'opaque' }),
        useGrantedResource: () => true,
      },
    },
    cookies: { keys: ['key of the tests'] },
    pkce: { required: () => true },
    ttl: { AccessToken: lifetime },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
  });

/** Responds to a message of MCP with an access token for this resource, else with a challenge. */
async function respond(
  provider: Provider,
  issuer: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  const token = await provider.AccessToken.find(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
  if (!token || !String(token.scope).split(' ').includes('tools')) {
    const challenge = `Bearer resource_metadata="${issuer}${RESOURCE_PATH}", scope="tools"`;
    return void response.writeHead(401, { 'www-authenticate': challenge }).end();
  }
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params = {} } = JSON.parse(body) as RpcMessage;
  if (id === undefined) return void response.writeHead(202).end();
  if (method === 'initialize') sendJson(response, { jsonrpc: '2.0', id, result: initializeResult(params) });
  else if (method === 'tools/list')
    sendJson(response, { jsonrpc: '2.0', id, result: { tools: [toolNamed('protected')] } });
  else sendJson(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
}

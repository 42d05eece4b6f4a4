import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  registerClient,
  RegistrationRejectedError,
  resourceUrlFromServerUrl,
  type AuthorizationServerMetadata,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import { upstreamFailed, type ApiError } from '../../core/errors.ts';
import type { KnownClients, McpClient, McpServer, RegisteredClient } from '../../core/mcp.ts';
import { McpExchange, type ExchangeOptions } from './mcp-exchange.ts';

/** The name that users see at authorization servers. */
const CLIENT_NAME = 'Data Workspace Service';
/** A scope by which authorization servers issue refresh tokens. */
const OFFLINE_ACCESS = 'offline_access';

const registerByHand = (redirectUri: string): string =>
  `Register this service there with the redirect URI ${redirectUri}, and set config.oauth of the toolkit`;

/** A request of the protocol. A server without authorization responds to it, and a protected one with a challenge. */
const PING = { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) };

interface Challenge {
  resourceMetadataUrl?: URL;
  scope?: string;
}

/** Creates the client by which users authorize calls of a server, as `McpClient.createOAuthClient` does. */
export async function createOAuthClient(
  options: ExchangeOptions,
  server: McpServer,
  known: KnownClients,
  caller: AbortSignal,
): ReturnType<McpClient['createOAuthClient']> {
  const exchange = new McpExchange(options, server, caller);
  return exchange.run('what an authorization requires', async () => {
    const challenge = await requestChallenge(exchange, server);
    const resource = await findResource(exchange, server, challenge);
    const issuer = resource?.authorization_servers?.[0] ?? new URL('/', server.url).href;
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: exchange.fetchPublic });
    if (!metadata) throw upstreamFailed(`The MCP server "${exchange.host}" names no authorization server`);
    checkMetadata(exchange, server, metadata);
    const scope = known.configured?.scope ?? scopeOf(challenge, resource, metadata);
    const registered = known.configured ? null : await findOrRegister(exchange, issuer, metadata, scope, known);
    const { clientId, clientSecret } = (known.configured ?? registered)!;
    const parameters: Record<string, string> = resource ? { resource: resource.resource } : {};
    const client = {
      clientId,
      clientSecret,
      secretInHeader: clientSecret !== null && !takesSecretInBody(metadata),
      issuer: metadata.issuer,
      issuerRequired: statesIssuer(metadata),
      authUri: metadata.authorization_endpoint,
      tokenUri: metadata.token_endpoint,
      revokeUri: revocationEndpointOf(server, metadata),
      scope,
      // Without asking the user, some authorization servers issue no refresh token.
      authParameters: { ...parameters, ...(scope.split(' ').includes(OFFLINE_ACCESS) && { prompt: 'consent' }) },
      tokenParameters: parameters,
      refreshTokenLifetimeMs: null,
    };
    return { client, registered };
  });
}

/** Asks the server where its authorization is described and which scope a call requires. */
async function requestChallenge(exchange: McpExchange, { url, transport, headers }: McpServer): Promise<Challenge> {
  const accept = 'application/json, text/event-stream';
  const init =
    transport === 'sse'
      ? { headers: { ...headers, accept } }
      : {
          ...PING,
          headers: { ...headers, accept, 'content-type': 'application/json' },
        };
  const response = await exchange.fetchPublic(url, init);
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

/** Returns the description of the server as a protected resource; undefined for a server before RFC 9728. */
async function findResource(
  exchange: McpExchange,
  { url }: McpServer,
  { resourceMetadataUrl }: Challenge,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const load = () => discoverOAuthProtectedResourceMetadata(url, { resourceMetadataUrl }, exchange.fetchPublic);
  // A description that the server names must exist; a server before RFC 9728 names none.
  const found = await (resourceMetadataUrl ? load() : load().catch(() => undefined));
  const requestedResource = resourceUrlFromServerUrl(url);
  if (found && !checkResourceAllowed({ requestedResource, configuredResource: found.resource }))
    throw upstreamFailed(
      `The MCP server "${exchange.host}" describes another resource: "${exchange.quote(found.resource)}"`,
    );
  return found;
}

/** Throws UPSTREAM_FAILED for an authorization server that lacks a feature that this service uses. */
function checkMetadata(exchange: McpExchange, server: McpServer, metadata: AuthorizationServerMetadata): void {
  const { response_types_supported: types, code_challenge_methods_supported: methods } = metadata;
  const name = `The authorization server of the MCP server "${exchange.host}"`;
  if (!types.includes('code')) throw upstreamFailed(`${name} does not support codes`);
  if (methods && !methods.includes('S256')) throw upstreamFailed(`${name} does not support PKCE with S256`);
  for (const url of [metadata.authorization_endpoint, metadata.token_endpoint])
    if (!isAllowed(server, url))
      throw upstreamFailed(`${name} has an endpoint that is not an https: URL: "${exchange.quote(url)}"`);
  if (!statesIssuer(metadata)) checkOneOrigin(exchange, name, metadata);
}

/**
 * Throws UPSTREAM_FAILED unless the endpoints have the origin of the issuer. Otherwise the code of another
 * authorization endpoint would be sent to the token endpoint of this server.
 */
function checkOneOrigin(exchange: McpExchange, name: string, metadata: AuthorizationServerMetadata): void {
  const { issuer, authorization_endpoint: authorization, token_endpoint: token } = metadata;
  const isOwn = (url: string) => URL.parse(url)?.origin === URL.parse(issuer)?.origin;
  if (isOwn(authorization) && isOwn(token)) return;
  const quote = (url: string) => `"${exchange.quote(url)}"`;
  throw upstreamFailed(
    `${name} has the issuer ${quote(issuer)}, the authorization endpoint ${quote(authorization)} and the token endpoint ` +
      `${quote(token)} on different origins, and does not state the issuer in its callbacks (RFC 9207)`,
  );
}

/** Returns whether the authorization server names itself in every callback (RFC 9207), so that a mix-up is noticed. */
const statesIssuer = (metadata: AuthorizationServerMetadata): boolean =>
  (metadata as { authorization_response_iss_parameter_supported?: unknown })
    .authorization_response_iss_parameter_supported === true;

/** The guarded client decides about plain http: where the server itself uses it. */
const isAllowed = (server: McpServer, url: string): boolean => {
  const protocol = URL.parse(url)?.protocol;
  return protocol === 'https:' || (protocol === 'http:' && URL.parse(server.url)?.protocol === 'http:');
};

function revocationEndpointOf(server: McpServer, metadata: AuthorizationServerMetadata): string | null {
  const { revocation_endpoint: url } = metadata as { revocation_endpoint?: string };
  return url !== undefined && isAllowed(server, url) ? url : null;
}

/** Returns the scope that the server requires, and the one for refresh tokens where it is supported. */
function scopeOf(
  challenge: Challenge,
  resource: OAuthProtectedResourceMetadata | undefined,
  { scopes_supported: supported }: AuthorizationServerMetadata,
): string {
  const scopes = challenge.scope?.split(' ') ?? resource?.scopes_supported ?? [];
  const offline = supported?.includes(OFFLINE_ACCESS) ? [OFFLINE_ACCESS] : [];
  return [...new Set([...scopes, ...offline])].filter(Boolean).join(' ');
}

const takesSecretInBody = ({ token_endpoint_auth_methods_supported: methods }: AuthorizationServerMetadata): boolean =>
  methods?.includes('client_secret_post') ?? false;

/** Returns the client that is already registered, unless it is for another purpose or its secret has ended. */
async function findOrRegister(
  exchange: McpExchange,
  issuer: string,
  metadata: AuthorizationServerMetadata,
  scope: string,
  { registered, redirectUriOf }: KnownClients,
): Promise<RegisteredClient> {
  const redirectUri = redirectUriOf(metadata.issuer);
  const isSame =
    registered?.issuer === metadata.issuer && registered.redirectUri === redirectUri && registered.scope === scope;
  if (isSame && (registered.expiresAt === null || registered.expiresAt > Date.now())) return registered;
  return { ...(await register(exchange, issuer, metadata, scope, redirectUri)), issuer: metadata.issuer };
}

/** Registers this service by RFC 7591. It gets a secret unless the authorization server does without. */
async function register(
  exchange: McpExchange,
  issuer: string,
  metadata: AuthorizationServerMetadata,
  scope: string,
  redirectUri: string,
): Promise<Omit<RegisteredClient, 'issuer'>> {
  if (metadata.registration_endpoint === undefined)
    throw upstreamFailed(
      `The authorization server of the MCP server "${exchange.host}" registers no clients. ${registerByHand(redirectUri)}`,
    );
  const takesNone = metadata.token_endpoint_auth_methods_supported?.includes('none');
  const withSecret = takesSecretInBody(metadata) ? 'client_secret_post' : 'client_secret_basic';
  const client = await registerClient(issuer, {
    metadata,
    clientMetadata: {
      client_name: CLIENT_NAME,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: takesNone ? 'none' : withSecret,
      ...(scope !== '' && { scope }),
    },
    fetchFn: exchange.fetchPublic,
  }).catch((error: unknown) => {
    throw error instanceof RegistrationRejectedError ? registrationRefused(exchange, error, redirectUri) : error;
  });
  const { client_id: clientId, client_secret: clientSecret = null, client_secret_expires_at: seconds = 0 } = client;
  return { clientId, clientSecret, redirectUri, scope, expiresAt: seconds > 0 ? seconds * 1000 : null };
}

/** An authorization server that registers others only. */
const registrationRefused = (
  exchange: McpExchange,
  { status, body }: RegistrationRejectedError,
  redirectUri: string,
): ApiError =>
  upstreamFailed(
    `The authorization server of the MCP server "${exchange.host}" refuses to register this service with ${status}: ` +
      `"${exchange.quote(body)}". ${registerByHand(redirectUri)}`,
  );

import * as oauth from 'openid-client';
import type { ConnectionTokens, OAuthClient } from '../../core/connection.ts';
import { ApiError, defineError, unavailable, upstreamFailed } from '../../core/errors.ts';
import { quoteUpstream, type OutboundClient } from '../../core/outbound.ts';
import { endsAuthorization, toReadableResponse } from './token-response.ts';

/** Maximum size of a response of a provider. */
const MAX_RESPONSE_BYTES = 1_000_000;
/** Maximum lifetime of a token; longer ones are stored as this. */
const MAX_LIFETIME_MS = 5 * 365 * 86_400_000;
/** Time of one request to a provider. */
const REQUEST_TIMEOUT_SECONDS = 15;

/** The provider does not accept the refresh token: a user has to authorize again. */
export class AuthorizationEnded extends Error {}

/** The secrets of one authorization. The provider gets `state` and a digest of `verifier`. */
export interface AuthorizationChecks {
  state: string;
  verifier: string;
}

/** The tokens from a provider, and when the refresh token ends (milliseconds since the epoch; null if unknown). */
export type IssuedTokens = ConnectionTokens & { refreshTokenExpiresAt: number | null };

const invalidClient = defineError(400, 'BAD_USER_INPUT', (name: string) => `The ${name} of the provider is not a URL`);

/** Generates the secrets of one authorization. */
export const generateChecks = (): AuthorizationChecks => ({
  state: oauth.randomState(),
  verifier: oauth.randomPKCECodeVerifier(),
});

/** Returns the URL at which the user authorizes this service, by the code flow with PKCE. */
export async function buildAuthorizationUrl(
  { clientId, authUri, scope, authParameters }: OAuthClient,
  redirectUri: string,
  { state, verifier }: AuthorizationChecks,
): Promise<string> {
  const url = URL.parse(authUri);
  if (!url || !/^https?:$/.test(url.protocol)) throw invalidClient('authorization endpoint');
  const parameters = {
    ...authParameters,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(scope !== '' && { scope }),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * Exchanges the code of a callback for tokens. Throws UPSTREAM_FAILED if the provider refuses it, UNAVAILABLE if it does
 * not respond.
 */
export async function redeemCode(
  outbound: OutboundClient,
  client: OAuthClient,
  redirectUri: string,
  code: string,
  { state, verifier }: AuthorizationChecks,
  signal: AbortSignal,
): Promise<IssuedTokens> {
  const url = new URL(redirectUri);
  // Other parameters of the callback are left out: the library would check an issuer that drives do not state.
  url.search = new URLSearchParams({ code, state }).toString();
  const checks = { expectedState: state, pkceCodeVerifier: verifier };
  const grant = (provider: oauth.Configuration) =>
    oauth.authorizationCodeGrant(provider, url, checks, { ...client.tokenParameters });
  try {
    return await callProvider(outbound, client, signal, [code, verifier, state], async (provider) =>
      readTokens(await grant(provider), client, null),
    );
  } catch (error) {
    if (error instanceof AuthorizationEnded) throw upstreamFailed(`The provider refused the code: ${error.message}`);
    throw error;
  }
}

/**
 * Gets new tokens by the refresh token. The former refresh token stays if the provider issues none. Throws
 * `AuthorizationEnded` if the provider wants the user to authorize again, otherwise like `redeemCode`.
 */
export async function refreshTokens(
  outbound: OutboundClient,
  client: OAuthClient,
  { refreshToken, accessToken }: ConnectionTokens,
  signal: AbortSignal,
): Promise<IssuedTokens> {
  if (refreshToken === null) throw new AuthorizationEnded('There is no refresh token');
  return callProvider(outbound, client, signal, [refreshToken, accessToken], async (provider) =>
    readTokens(
      await oauth.refreshTokenGrant(provider, refreshToken, { ...client.tokenParameters }),
      client,
      refreshToken,
    ),
  );
}

/** Revokes the refresh token, or the access token without one (RFC 7009). Throws like `redeemCode`. */
export async function revokeToken(
  outbound: OutboundClient,
  client: OAuthClient,
  { refreshToken, accessToken }: ConnectionTokens,
  signal: AbortSignal,
): Promise<void> {
  const token = refreshToken ?? accessToken;
  const hint = refreshToken === null ? 'access_token' : 'refresh_token';
  await callProvider(outbound, client, signal, [token, accessToken], (provider) =>
    oauth.tokenRevocation(provider, token, { token_type_hint: hint }),
  );
}

/** Reads a response. Throws UPSTREAM_FAILED for an access token that cannot be sent in a header. */
function readTokens(
  response: oauth.TokenEndpointResponse,
  { refreshTokenLifetimeMs }: OAuthClient,
  former: string | null,
): IssuedTokens {
  if (!/^[!-~]+$/.test(response.access_token))
    throw upstreamFailed('The provider issued an access token that is not of visible ASCII characters');
  const endOf = (lifetimeMs: number) => Date.now() + Math.min(lifetimeMs, MAX_LIFETIME_MS);
  const stated = Number(response.refresh_token_expires_in ?? response.refresh_expires_in);
  const lifetime = stated > 0 ? stated * 1000 : refreshTokenLifetimeMs;
  const refreshToken = response.refresh_token || former;
  return {
    accessToken: response.access_token,
    refreshToken,
    expiresAt: response.expires_in === undefined ? null : endOf(response.expires_in * 1000),
    refreshTokenExpiresAt: refreshToken === null || lifetime === null ? null : endOf(lifetime),
  };
}

/** Calls the provider by the guarded client. Its errors contain none of the secrets, not even as their cause. */
async function callProvider<T>(
  outbound: OutboundClient,
  client: OAuthClient,
  signal: AbortSignal,
  secrets: readonly string[],
  call: (provider: oauth.Configuration) => Promise<T>,
): Promise<T> {
  try {
    return await call(configure(outbound, client, signal));
  } catch (error) {
    throw toConnectionError(error, [...secrets, client.clientSecret ?? '']);
  }
}

function configure(outbound: OutboundClient, client: OAuthClient, signal: AbortSignal): oauth.Configuration {
  const { clientId, clientSecret, authUri, tokenUri, revokeUri } = client;
  const url = URL.parse(tokenUri);
  if (!url) throw invalidClient('token endpoint');
  const metadata: oauth.ServerMetadata = {
    issuer: url.origin,
    authorization_endpoint: authUri,
    token_endpoint: tokenUri,
    ...(revokeUri !== null && { revocation_endpoint: revokeUri }),
  };
  const provider = new oauth.Configuration(metadata, clientId, undefined, authenticate(clientSecret, client));
  provider.timeout = REQUEST_TIMEOUT_SECONDS;
  provider[oauth.customFetch] = async (address, options) => {
    const response = await outbound.fetch(address, {
      method: options.method,
      headers: options.headers,
      body: options.body == null ? null : String(options.body as URLSearchParams),
      signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
      maxBytes: MAX_RESPONSE_BYTES,
    });
    return response.ok ? toReadableResponse(response) : response;
  };
  // The guarded client decides which hosts may be called by http:.
  if ([tokenUri, revokeUri].some((one) => one?.startsWith('http:'))) oauth.allowInsecureRequests(provider);
  return provider;
}

const authenticate = (secret: string | null, { secretInHeader }: OAuthClient): oauth.ClientAuth => {
  if (secret === null) return oauth.None();
  return secretInHeader ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
};

const TIMED_OUT: ReadonlySet<string> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);

/**
 * Converts an error of openid-client to one for the user. It quotes the code and description of the provider only: other
 * parts of a response may be tokens.
 */
function toConnectionError(error: unknown, secrets: readonly string[]): Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ApiError) return cause;
  const quote = (...texts: (string | undefined)[]) => quoteUpstream(texts.filter(Boolean).join(': '), secrets);
  if (error instanceof oauth.ResponseBodyError) {
    if (endsAuthorization(error.error)) return new AuthorizationEnded(quote(error.error, error.error_description));
    return upstreamFailed(`The provider refused the request: ${quote(error.error, error.error_description)}`);
  }
  const code = error instanceof oauth.ClientError ? (error.code ?? '') : '';
  if (TIMED_OUT.has(code)) return unavailable('The provider does not respond');
  const { message, cause } = error as Error;
  const status = cause instanceof Response ? `HTTP ${cause.status}` : undefined;
  // The cause names the property that is missing or of another type, without its value.
  const what = code === 'OAUTH_INVALID_RESPONSE' && cause instanceof Error ? cause.message : message;
  return upstreamFailed(`The response of the provider is not usable: ${quote(what, status)}`);
}

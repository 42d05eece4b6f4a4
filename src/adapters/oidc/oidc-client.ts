import { LRUCache } from 'lru-cache';
import * as client from 'openid-client';
import { ApiError, upstreamFailed } from '../../core/errors.ts';
import { quoteUpstream, type OutboundClient } from '../../core/outbound.ts';
import { invalidResponse, toLoginError } from './oidc-error.ts';

/** Maximum size of a response of a provider. */
const MAX_RESPONSE_BYTES = 1_000_000;
/** Time of one request to a provider. */
const REQUEST_TIMEOUT_SECONDS = 15;

/** Seconds by which the clock of a provider may be ahead. */
const MAX_CLOCK_SKEW_S = 300;

/** As the protocol demands. */
const MAX_SUBJECT_CHARACTERS = 255;

/** The registration of this service at a provider. */
export interface OidcRegistration {
  issuer: string;
  clientId: string;
  /** Null for a client that proves itself by PKCE alone. */
  clientSecret: string | null;
  redirectUri: string;
}

/** The secrets of one login. The provider gets `state`, `nonce` and a digest of `verifier`. */
export interface LoginChecks {
  state: string;
  nonce: string;
  verifier: string;
}

/** Claims about the user. The ID token has precedence over the user info. */
type Claims = Readonly<Record<string, unknown>> & { sub: string };

/** The claims of a provider about the user who logs in. */
export interface RedeemedLogin {
  claims: Claims;
  /** Why the claims come from the ID token alone, although others were requested; null if they are complete. */
  userInfoError: Error | null;
}

const issuerRefused = (found: string, configured: string): Error =>
  upstreamFailed(`The identity provider names the issuer "${quoteUpstream(found)}", not "${configured}"`);

/** Generates the secrets of one login. */
export const generateLoginChecks = (): LoginChecks => ({
  state: client.randomState(),
  nonce: client.randomNonce(),
  verifier: client.randomPKCECodeVerifier(),
});

/**
 * Returns the URL at which the user logs in, by the code flow with PKCE. Throws UNAVAILABLE if the provider does not
 * respond, and UPSTREAM_FAILED for a response that does not come from a provider with this issuer.
 */
export async function buildLoginUrl(
  outbound: OutboundClient,
  registration: OidcRegistration,
  scope: string,
  { state, nonce, verifier }: LoginChecks,
  signal: AbortSignal,
): Promise<string> {
  try {
    const provider = await discover(outbound, registration, signal);
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: registration.redirectUri,
      scope,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  } catch (error) {
    throw await toLoginError(error, secretsOf(registration), false);
  }
}

/**
 * Exchanges the code of a callback for the claims about the user. `parameters` is the query string of the callback.
 * Checks state, issuer, PKCE, and the signature, issuer, audience, nonce and times of the ID token. Asks the user info
 * for claims of `wanted` that the ID token lacks; if the user info fails, only the claims of the ID token remain.
 * Throws UNAUTHENTICATED if a check fails or the provider refuses the login, otherwise like `buildLoginUrl`.
 */
export async function redeemCode(
  outbound: OutboundClient,
  registration: OidcRegistration,
  parameters: string,
  { state, nonce, verifier }: LoginChecks,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<RedeemedLogin> {
  const toError = (error: unknown) =>
    toLoginError(error, [...secretsOf(registration), verifier, ...codesOf(parameters)], true);
  try {
    const provider = await discover(outbound, registration, signal);
    const url = new URL(registration.redirectUri);
    url.search = parameters;
    const tokens = await client.authorizationCodeGrant(provider, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    // An ID token for another client, or of the future, was not issued for this login.
    if (claims.azp !== undefined && claims.azp !== registration.clientId) throw invalidResponse();
    if (claims.iat > Date.now() / 1000 + MAX_CLOCK_SKEW_S) throw invalidResponse();
    if (claims.sub.trim() === '' || claims.sub.length > MAX_SUBJECT_CHARACTERS) throw invalidResponse();
    if (wanted.every((name) => name in claims) || !provider.serverMetadata().userinfo_endpoint)
      return { claims, userInfoError: null };
    try {
      const userInfo = await client.fetchUserInfo(provider, tokens.access_token, claims.sub);
      return { claims: mergeClaims(claims, userInfo), userInfoError: null };
    } catch (error) {
      const userInfoError = await toError(error);
      // The user info of another user is not a mere failure: the login was forged.
      if (signal.aborted || (userInfoError instanceof ApiError && userInfoError.status === 401)) throw userInfoError;
      return { claims, userInfoError };
    }
  } catch (error) {
    throw await toError(error);
  }
}

/**
 * Merges claims. An address and whether it is verified come from the same place, so that neither verifies the other's: from the
 * first that says both, else the address is not verified.
 */
function mergeClaims(idToken: Claims, userInfo: Readonly<Record<string, unknown>>): Claims {
  const source = [idToken, userInfo].find((claims) => 'email' in claims && 'email_verified' in claims);
  const { email_verified: _mixed, ...merged } = { ...userInfo, ...idToken };
  return source ? { ...merged, email: source['email'], email_verified: source['email_verified'] } : merged;
}

const secretsOf = ({ clientSecret }: OidcRegistration): string[] => (clientSecret === null ? [] : [clientSecret]);

const codesOf = (parameters: string): string[] => new URLSearchParams(parameters).getAll('code');

/**
 * Configurations of providers by issuer. Callers without credentials start logins, which must not become as many calls to
 * a host that users name.
 */
const configurations = new LRUCache<string, client.ServerMetadata>({
  ttl: 60_000,
  maxSize: 10 * MAX_RESPONSE_BYTES,
  sizeCalculation: (configuration) => JSON.stringify(configuration).length,
});

/** Returns the client of a provider whose configuration is at most a minute old. */
async function discover(
  outbound: OutboundClient,
  { issuer, clientId, clientSecret }: OidcRegistration,
  signal: AbortSignal,
): Promise<client.Configuration> {
  const call: client.CustomFetch = (url, options) =>
    outbound.fetch(url, {
      method: options.method,
      headers: options.headers,
      body: options.body == null ? null : String(options.body as URLSearchParams),
      signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
      maxBytes: MAX_RESPONSE_BYTES,
    });
  let configuration = configurations.get(issuer);
  if (!configuration) configurations.set(issuer, (configuration = await loadConfiguration(issuer, call)));
  const provider = new client.Configuration(configuration, clientId, undefined, authenticateClient(clientSecret));
  provider[client.customFetch] = call;
  provider.timeout = REQUEST_TIMEOUT_SECONDS;
  // Without this, the signature of the ID token would not be checked.
  client.enableNonRepudiationChecks(provider);
  allowPlainHttp(issuer).forEach((allow) => allow(provider));
  return provider;
}

/** Under an http: issuer, the guarded client decides about http:. */
const allowPlainHttp = (issuer: string): ((provider: client.Configuration) => void)[] =>
  isPlainHttp(issuer) ? [client.allowInsecureRequests] : [];

const isPlainHttp = (issuer: string): boolean => new URL(issuer).protocol === 'http:';

/**
 * Loads the configuration of a provider. Its issuer must be the registered one, which excludes issuers for the users of
 * many organisations.
 */
async function loadConfiguration(issuer: string, call: client.CustomFetch): Promise<client.ServerMetadata> {
  const server = new URL(issuer);
  const provider = await client
    .discovery(server, 'any', undefined, client.None(), {
      [client.customFetch]: call,
      timeout: REQUEST_TIMEOUT_SECONDS,
      execute: allowPlainHttp(issuer),
    })
    .catch((error: unknown) => {
      const found = foreignIssuerOf(error);
      throw found === undefined ? error : issuerRefused(found, issuer);
    });
  const configuration = provider.serverMetadata();
  // openid-client accepts other issuers of some providers.
  if (URL.parse(configuration.issuer)?.href !== server.href) throw issuerRefused(configuration.issuer, issuer);
  checkEndpoint('authorization', configuration.authorization_endpoint, issuer);
  checkEndpoint('token', configuration.token_endpoint, issuer);
  return configuration;
}

/** Throws UPSTREAM_FAILED for an endpoint that is missing or not https:. Under an http: issuer it may be http:. */
function checkEndpoint(name: string, url: string | undefined, issuer: string): void {
  if (url === undefined) throw upstreamFailed(`The identity provider has no ${name} endpoint`);
  const protocol = URL.parse(url)?.protocol;
  if (protocol === 'https:' || (protocol === 'http:' && isPlainHttp(issuer))) return;
  throw upstreamFailed(`The ${name} endpoint "${quoteUpstream(url)}" of the identity provider is not an https: URL`);
}

/** Returns the issuer of a configuration that openid-client refused because of it; undefined for other errors. */
function foreignIssuerOf(error: unknown): string | undefined {
  const cause = error instanceof client.ClientError ? error.cause : undefined;
  const { attribute, body } = (cause ?? {}) as { attribute?: unknown; body?: { issuer: string } };
  return attribute === 'issuer' ? body?.issuer : undefined;
}

/** Authenticates this service by the secret, in the form that the provider supports. */
function authenticateClient(secret: string | null): client.ClientAuth {
  if (secret === null) return client.None();
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (methods.includes('client_secret_basic') ? basic : post)(server, ...request);
  };
}

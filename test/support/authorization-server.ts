import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider from 'oidc-provider';
import { digest } from '../../src/core/secret.ts';
import type { BrowserSession } from './browser-session.ts';
import { CLIENT, serveOnLoopback } from './identity-provider-server.ts';

/** A real OAuth 2.0 authorization server with the account resource of a drive. Refresh tokens work once. */
export interface AuthorizationServer {
  url: string;
  provider: Provider;
  /** Grant types of the token requests that succeeded, in their order. */
  grants: string[];
  /** Paths of all requests. */
  paths: string[];
  /** Lifetime of access tokens in seconds. */
  lifetime: number;
  /** Takes requests instead of the server. Returns false to leave one to it. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>) | null;
  /** Integration of type `google-drive` with the addresses of this server. */
  integration(): Record<string, string>;
  /** Ends a refresh token, as a user does at the provider. */
  withdraw(refreshToken: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a server that knows this service as `CLIENT`, with the redirect URI of integrations and the one of its issuer,
 * and an account of every name.
 */
export async function startAuthorizationServer(redirectUri: string): Promise<AuthorizationServer> {
  const state: Pick<AuthorizationServer, 'grants' | 'paths' | 'lifetime' | 'intercept'> = {
    grants: [],
    paths: [],
    lifetime: 3600,
    intercept: null,
  };
  let provider!: Provider;
  const { url, close } = await serveOnLoopback((issuer) => {
    provider = createProvider(issuer, redirectUri, () => state.lifetime);
    provider.on('grant.success', ({ oidc }) => state.grants.push(oidc.params.grant_type!));
    const handle = provider.callback();
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const { pathname } = new URL(request.url!, issuer);
      state.paths.push(pathname);
      if (await state.intercept?.(request, response)) return;
      if (pathname === '/drive/about') await sendAccount(provider, request, response);
      else handle(request, response);
    };
    return (request, response) => void respond(request, response);
  });
  return Object.assign(state, {
    url,
    provider,
    close,
    integration: () => ({
      name: 'Drive of the tests',
      type: 'google-drive',
      ...CLIENT,
      authUri: `${url}/auth`,
      tokenUri: `${url}/token`,
      revokeUri: `${url}/token/revocation`,
      apiUri: `${url}/drive`,
      scope: 'files',
    }),
    async withdraw(refreshToken: string) {
      await (await provider.RefreshToken.find(refreshToken))!.destroy();
    },
  });
}

const createProvider = (issuer: string, redirectUri: string, lifetime: () => number): Provider =>
  new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirectUri, `${redirectUri}/${digest(issuer)}`],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    scopes: ['files'],
    features: { revocation: { enabled: true } },
    cookies: { keys: ['key of the tests'] },
    pkce: { required: () => true },
    ttl: { AccessToken: lifetime },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
  });

/** Responds like `about` of Google Drive to an access token that this server has issued. */
async function sendAccount(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const token = await provider.AccessToken.find(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
  response.setHeader('content-type', 'application/json');
  response.statusCode = token ? 200 : 401;
  const user = token && { emailAddress: `${token.accountId}@drive.test`, displayName: token.accountId };
  response.end(JSON.stringify(token ? { user: { ...user, permissionId: token.accountId } } : { error: { code: 401 } }));
}

/** Logs in at the server and consents. Returns the URL of the callback, which the browser does not open. */
export async function authorizeInBrowser(browser: BrowserSession, url: string, login: string): Promise<string> {
  const isCallback = (next: string) => next.includes('/api/oauth/callback');
  let shown = await browser.open(url, isCallback);
  if (shown.text.includes('name="login"')) shown = await browser.submit(shown, { login, password: 'any' }, isCallback);
  if (!isCallback(shown.url)) shown = await browser.submit(shown, {}, isCallback);
  return shown.url;
}

import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { CLIENT, serveOnLoopback, type LoopbackServer } from './identity-provider-server.ts';

/** Deviations of the provider from the protocol. */
export interface Forgery {
  /** Changes the claims of the ID token. */
  claims?: Record<string, unknown>;
  /** Header of the ID token, e.g. with the algorithm `none`. */
  header?: Record<string, unknown>;
  /** Signs the ID token with a key that the provider does not publish. */
  foreignKey?: boolean;
  /** Parameters of the callback in place of those that the protocol demands. Null removes one. */
  callback?: Record<string, string | null>;
  /** Changes the published configuration. */
  configuration?: Record<string, unknown>;
  /** Runs before the request to this path is handled. */
  before?: (path: string) => Promise<void>;
  /** Handles the requests to these paths. */
  paths?: Record<string, (request: IncomingMessage, response: ServerResponse) => void>;
}

/** A provider of the same protocol that logs in whom the test names, without a form, and that can forge responses. */
export interface ForgingProvider extends LoopbackServer {
  /** Claims of the account that logs in next. */
  account: Record<string, unknown>;
  forgery: Forgery;
  /**
   * Claims of the user info besides `sub`, or the status with which it refuses; null without a user info. Providers may
   * send a claim there alone (OpenID Connect Core 1.0, 5.4), or refuse it to tokens without a scope (5.3.3).
   */
  userInfo: Record<string, unknown> | number | null;
  /** Requests so far: method and path, with bodies of the token endpoint and the headers. */
  requests: { path: string; body: URLSearchParams; headers: IncomingMessage['headers'] }[];
}

interface Login {
  nonce: string;
  challenge: string;
  redirectUri: string;
  account: Record<string, unknown>;
}

const createKey = (): { privateKey: KeyObject; publicKey: KeyObject } =>
  generateKeyPairSync('rsa', { modulusLength: 2048 });
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts the provider. */
export async function startForgingProvider(): Promise<ForgingProvider> {
  const [key, foreignKey] = [createKey(), createKey()];
  const logins = new Map<string, Login>();
  let issuer = '';
  const sendJson = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  const signIdToken = ({ nonce, account }: Login): string => {
    const now = Math.floor(Date.now() / 1000);
    const standard = { iss: issuer, aud: CLIENT.clientId, iat: now, exp: now + 300, nonce };
    const { header, claims, foreignKey: isForeign } = provider.forgery;
    const signed = `${encode({ alg: 'RS256', kid: 'key', ...header })}.${encode({ ...standard, ...account, ...claims })}`;
    if (header?.['alg'] === 'none') return `${signed}.`;
    const signature = createSign('RSA-SHA256')
      .update(signed)
      .sign((isForeign ? foreignKey : key).privateKey);
    return `${signed}.${signature.toString('base64url')}`;
  };
  const redeem = (parameters: URLSearchParams): [number, unknown] => {
    const login = logins.get(parameters.get('code') ?? '');
    logins.delete(parameters.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(parameters.get('code_verifier') ?? '')
      .digest('base64url');
    if (!login || login.challenge !== challenge || login.redirectUri !== parameters.get('redirect_uri'))
      return [400, { error: 'invalid_grant', error_description: 'unknown code' }];
    return [200, { access_token: 'access', token_type: 'Bearer', id_token: signIdToken(login) }];
  };
  const authorize = (query: URLSearchParams, response: ServerResponse): void => {
    const code = `code${logins.size}-${Math.random()}`;
    const redirectUri = query.get('redirect_uri')!;
    logins.set(code, {
      nonce: query.get('nonce')!,
      challenge: query.get('code_challenge')!,
      redirectUri,
      account: provider.account,
    });
    const callback = { code, state: query.get('state')!, iss: issuer, ...provider.forgery.callback };
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries(callback)) if (value !== null) url.searchParams.set(name, value);
    response.writeHead(302, { location: url.href }).end();
  };

  const server = await serveOnLoopback((url) => {
    issuer = url;
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { pathname, searchParams } = new URL(request.url!, url);
      const body = new URLSearchParams(await text(request));
      provider.requests.push({ path: pathname, body, headers: request.headers });
      await provider.forgery.before?.(pathname);
      const own = provider.forgery.paths?.[pathname];
      if (own) return own(request, response);
      if (pathname === '/authorize') return authorize(searchParams, response);
      if (pathname === '/token') return sendJson(response, ...redeem(body));
      if (pathname === '/userinfo' && typeof provider.userInfo === 'number')
        return sendJson(response, provider.userInfo, { error: 'insufficient_scope' });
      if (pathname === '/userinfo' && provider.userInfo)
        return sendJson(response, 200, { sub: provider.account['sub'], ...(provider.userInfo as object) });
      if (pathname === '/jwks')
        return sendJson(response, 200, {
          keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: 'key', use: 'sig' }],
        });
      if (pathname === '/.well-known/openid-configuration')
        return sendJson(response, 200, {
          issuer,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks`,
          response_types_supported: ['code'],
          authorization_response_iss_parameter_supported: true,
          ...(provider.userInfo !== null && { userinfo_endpoint: `${url}/userinfo` }),
          ...provider.forgery.configuration,
        });
      response.writeHead(404).end();
    };
    return (request, response) => void respond(request, response);
  });
  const provider: ForgingProvider = { ...server, account: {}, forgery: {}, userInfo: null, requests: [] };
  return provider;
}

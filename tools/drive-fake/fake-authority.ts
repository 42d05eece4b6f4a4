/** The OAuth 2.0 endpoints of a fake drive: consent page, tokens with PKCE and rotation, revocation. */
import { createHash, randomUUID } from 'node:crypto';
import type { FakeReply, FakeRequest } from './fake-http.ts';

export interface AuthorityRules {
  /** Whether a refresh token is replaced with each use. */
  rotates: boolean;
  /** Whether an authorization gets a refresh token at all. */
  isOffline: (query: URLSearchParams) => boolean;
}

interface Grant {
  refreshToken: string | null;
  isRevoked: boolean;
}

interface Code {
  redirectUri: string;
  challenge: string | null;
  isOffline: boolean;
}

const PAGE = (query: string, clientId: string) => `<!doctype html>
<title>Sign in</title>
<h1>${clientId.replaceAll(/[^\w-]/g, '')} wants to read your files</h1>
<form method="post" action="/oauth2/authorize?${query.replaceAll('&', '&amp;').replaceAll('"', '%22')}">
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button>
</form>`;

export class FakeAuthority {
  readonly clientId = 'drive-client';
  readonly clientSecret = 'drive-secret';
  /** Seconds for which access tokens are valid. */
  tokenSeconds = 3600;
  /**
   * The error by which refreshes are refused; null refuses none. Microsoft asks for the user by errors of OpenID Connect,
   * GitHub refuses with the status 200:
   * https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow#error-codes-for-token-endpoint-errors
   * https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
   */
  refusal: { error: string; status?: number } | null = null;
  /** Replaces values of token responses; undefined leaves one out. Only `access_token` and `token_type` are required (RFC 6749, 5.1). */
  tokenChanges: Record<string, unknown> = {};
  /** All tokens, codes and refresh tokens that were ever issued: none may appear in logs. */
  readonly issued: string[] = [];
  readonly #codes = new Map<string, Code>();
  readonly #access = new Map<string, { grant: Grant; endsAt: number }>();
  readonly #refresh = new Map<string, Grant>();
  readonly #rules: AuthorityRules;

  constructor(rules: AuthorityRules) {
    this.#rules = rules;
  }

  /** Issues an access token without a user. */
  issueToken(): string {
    return this.#issueAccess({ refreshToken: null, isRevoked: false });
  }

  /** Issues a refresh token without a user. */
  issueRefreshToken(): string {
    const grant: Grant = { refreshToken: null, isRevoked: false };
    this.#issueRefresh(grant);
    return grant.refreshToken!;
  }

  isValid(token: string): boolean {
    const found = this.#access.get(token);
    return found !== undefined && !found.grant.isRevoked && found.endsAt > Date.now();
  }

  /** Ends all access tokens. Refresh tokens stay valid. */
  expireTokens(): void {
    for (const token of this.#access.values()) token.endsAt = 0;
  }

  /** Ends all authorizations, as a user does at the provider. */
  revokeAll(): void {
    for (const grant of this.#refresh.values()) grant.isRevoked = true;
    for (const { grant } of this.#access.values()) grant.isRevoked = true;
  }

  revoke(token: string): void {
    const grant = this.#refresh.get(token) ?? this.#access.get(token)?.grant;
    if (grant) grant.isRevoked = true;
  }

  authorize({ method, query, form }: FakeRequest): FakeReply {
    const redirect = URL.parse(query.get('redirect_uri') ?? '');
    if (query.get('client_id') !== this.clientId || query.get('response_type') !== 'code' || !redirect)
      return { status: 400, text: 'This application is not registered' };
    if (method === 'GET') return { html: PAGE(query.toString(), this.clientId) };
    const state = query.get('state');
    if (state !== null) redirect.searchParams.set('state', state);
    if (form().get('decision') === 'allow') redirect.searchParams.set('code', this.#issueCode(query));
    else redirect.searchParams.set('error', 'access_denied');
    return { status: 303, headers: { location: redirect.href } };
  }

  token(request: FakeRequest): FakeReply {
    const form = request.form();
    if (!this.#isClient(request, form)) return { status: 401, json: { error: 'invalid_client' } };
    const type = form.get('grant_type');
    if (type === 'authorization_code') return this.#exchange(form);
    return type === 'refresh_token' ? this.#refreshToken(form) : refuse('unsupported_grant_type');
  }

  revocation(request: FakeRequest): FakeReply {
    this.revoke(request.form().get('token') ?? '');
    return {};
  }

  #isClient({ headers }: FakeRequest, form: URLSearchParams): boolean {
    const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1];
    const [id, secret] = basic
      ? Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
      : [form.get('client_id'), form.get('client_secret')];
    return id === this.clientId && secret === this.clientSecret;
  }

  #exchange(form: URLSearchParams): FakeReply {
    const text = form.get('code') ?? '';
    const code = this.#codes.get(text);
    this.#codes.delete(text);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isProven = code && (code.challenge === null || code.challenge === challenge);
    if (!isProven || code.redirectUri !== form.get('redirect_uri')) return refuse('invalid_grant');
    const grant: Grant = { refreshToken: null, isRevoked: false };
    if (code.isOffline) this.#issueRefresh(grant);
    return this.#respond(grant, true);
  }

  #refreshToken(form: URLSearchParams): FakeReply {
    if (this.refusal) return refuse(this.refusal.error, this.refusal.status);
    const token = form.get('refresh_token') ?? '';
    const grant = this.#refresh.get(token);
    if (!grant || grant.isRevoked) return refuse('invalid_grant');
    if (!this.#rules.rotates) return this.#respond(grant, false);
    this.#refresh.delete(token);
    this.#issueRefresh(grant);
    return this.#respond(grant, true);
  }

  #respond(grant: Grant, withRefresh: boolean): FakeReply {
    return {
      json: {
        access_token: this.#issueAccess(grant),
        token_type: 'bearer',
        expires_in: this.tokenSeconds,
        ...(withRefresh && grant.refreshToken !== null && { refresh_token: grant.refreshToken }),
        ...this.tokenChanges,
      },
    };
  }

  #issueCode(query: URLSearchParams): string {
    const code = this.#note(`code-${randomUUID()}`);
    this.#codes.set(code, {
      redirectUri: query.get('redirect_uri')!,
      challenge: query.get('code_challenge_method') === 'S256' ? query.get('code_challenge') : null,
      isOffline: this.#rules.isOffline(query),
    });
    return code;
  }

  #issueAccess(grant: Grant): string {
    const token = this.#note(`access-${randomUUID()}`);
    this.#access.set(token, { grant, endsAt: Date.now() + this.tokenSeconds * 1000 });
    return token;
  }

  #issueRefresh(grant: Grant): void {
    grant.refreshToken = this.#note(`refresh-${randomUUID()}`);
    this.#refresh.set(grant.refreshToken, grant);
  }

  #note(secret: string): string {
    this.issued.push(secret);
    return secret;
  }
}

const refuse = (error: string, status = 400): FakeReply => ({
  status,
  json: { error, error_description: `It is ${error}` },
});

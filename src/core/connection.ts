/** The account at an outside service, as it was last seen. */
export interface ConnectionAccount {
  email: string | null;
  displayName: string | null;
  accountId: string;
}

/** The tokens that authorize calls. They are stored encrypted. */
export interface ConnectionTokens {
  accessToken: string;
  /** Null if the provider gave none: the connection expires with its access token. */
  refreshToken: string | null;
  /** Milliseconds since the epoch; null if unknown. */
  expiresAt: number | null;
}

/** The authorization server and the identity of this service there. Independent of drives and MCP. */
export interface OAuthClient {
  clientId: string;
  /** Null for a client that proves itself by PKCE alone. */
  clientSecret: string | null;
  /** Whether the secret is sent in the header `Authorization` instead of the body. Default: false. */
  secretInHeader?: boolean;
  /** Issuer of the authorization server, which a callback that states one must name (RFC 9207). Null: not checked. */
  issuer?: string | null;
  /** Whether every callback states the issuer, so that one without it is refused. Default: false. */
  issuerRequired?: boolean;
  authUri: string;
  tokenUri: string;
  /** Null if the provider revokes no tokens. */
  revokeUri: string | null;
  scope: string;
  /** Additional parameters of the authorization request, e.g. `access_type` of Google. */
  authParameters: Readonly<Record<string, string>>;
  /** Additional parameters of token requests, e.g. `resource` of MCP. */
  tokenParameters: Readonly<Record<string, string>>;
  /** Lifetime of a refresh token that the provider does not state; null if it does not end. */
  refreshTokenLifetimeMs: number | null;
}

/**
 * Returns the access token of a connection, refreshed if it ends within a minute. `refused` is a token that the provider
 * has refused with 401: it is replaced first. Throws CONFLICT if the connection has ended or expired.
 */
export type TokenSource = (refused?: string) => Promise<string>;

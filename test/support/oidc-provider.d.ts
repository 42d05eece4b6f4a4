/** The part of oidc-provider that tests use. The package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  interface StoredToken {
    accountId: string;
    scope?: string;
    destroy(): Promise<void>;
  }

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly AccessToken: { find(value: string): Promise<StoredToken | undefined> };
    readonly RefreshToken: { find(value: string): Promise<StoredToken | undefined> };
    callback(): RequestListener;
    on(event: 'grant.success', listener: (ctx: { oidc: { params: Record<string, string> } }) => void): void;
    on(event: 'registration_create.success', listener: (ctx: unknown, client: { clientId: string }) => void): void;
  }
}

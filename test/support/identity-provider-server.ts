import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { Page } from 'playwright-core';

/** Registration of the service at the providers of the tests. */
export const CLIENT = { clientId: 'workspace', clientSecret: 'the secret of the workspace' };

/** A server on loopback. */
export interface LoopbackServer {
  url: string;
  close(): Promise<void>;
}

/** Starts an HTTP server on a free port. `createListener` takes its URL. */
export async function serveOnLoopback(createListener: (url: string) => RequestListener): Promise<LoopbackServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', createListener(url));
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Claims of the accounts by their `sub`, which is what people type as their login. */
export type Accounts = Record<string, Record<string, unknown>>;

/** Starts a real OpenID Connect provider with these accounts, whose login and consent are forms. */
export const startOidcProvider = (accounts: Accounts, redirectUri: string): Promise<LoopbackServer> =>
  serveOnLoopback((issuer) =>
    new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code'],
        },
      ],
      claims: {
        openid: ['sub'],
        profile: ['preferred_username', 'name', 'given_name', 'family_name'],
        email: ['email', 'email_verified'],
      },
      cookies: { keys: ['key of the tests'] },
      pkce: { required: () => true },
      findAccount: (_: unknown, sub: string) =>
        accounts[sub] && { accountId: sub, claims: async () => ({ sub, ...accounts[sub] }) },
    }).callback(),
  );

/** Fills in the forms for login and consent of `startOidcProvider` in a page. */
export async function logInAtProvider(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('input[name=login]').waitFor({ state: 'detached' });
  await page.locator('button[type=submit]').click();
}

import { expect } from 'vitest';
import { Client, type ApiResponse } from './client.ts';
import { expectBody } from './expect.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

export const NEW_PASSWORD = 'a quite different one';

/** Matches the line of a mail with the link of a service at its default URL. */
const LINK = /^http:\/\/127\.0\.0\.1\/password-reset\/([\w-]{43})$/m;

export const requestLink = (client: Client, username: string, more = {}): Promise<ApiResponse> =>
  client.post('/password-reset', { username, ...more });

export const resetPassword = (client: Client, token: string, password = NEW_PASSWORD): Promise<ApiResponse> =>
  client.post(`/password-reset/${token}`, { password });

/** Expects the error of a link that was used, has expired or never existed. */
export const expectLinkGone = (response: Promise<ApiResponse>) =>
  expectBody(response, 410, {
    statusCode: 410,
    error: 'Gone',
    message: 'This link was already used, has expired or never existed',
    code: 'GONE',
  });

export const canLogIn = async ({ url }: Service, username: string, password: string): Promise<boolean> =>
  (await new Client(url).post('/login', { username, password })).status === 200;

/** Returns the secrets that were mailed to a user, latest first. */
export async function mailedTokens(service: Service, user: Client): Promise<string[]> {
  const mails = await systemQuery<{ sealed: string }>(
    service,
    `select sealed_text as sealed from dws.mail where user_id = $1 order by created_at desc, id desc`,
    user.id,
  );
  return mails.map(({ sealed }) => LINK.exec(service.platform.secrets.open(sealed, 'a test'))![1]!);
}

/** Creates a user and requests a link for them. Returns both. */
export async function createUserWithLink(service: Service, name: string): Promise<{ user: Client; token: string }> {
  const user = await service.user(name);
  expect(await requestLink(new Client(service.url), name)).toMatchObject({ status: 204, body: '' });
  return { user, token: (await mailedTokens(service, user))[0]! };
}

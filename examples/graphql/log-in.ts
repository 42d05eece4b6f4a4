import { ServiceError } from './errors.ts';

/** Calls the REST API. Throws `ServiceError`. */
async function post(url: URL, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new ServiceError(((await response.json()) as { message: string }).message);
  return response;
}

/**
 * Logs in and creates an API token that is valid for an hour. Returns the value of the header `Authorization`. A page
 * of the service's own origin needs the first call only: from then on the browser sends the cookie of the session.
 */
export async function logIn(url: string, username: string, password: string): Promise<string> {
  const session = await post(new URL('/api/login', url), { username, password });
  const cookie = session.headers.getSetCookie().map((line) => line.split(';')[0]);
  const created = await post(
    new URL('/api/tokens', url),
    { name: 'GraphQL example', expiresAt: new Date(Date.now() + 3_600_000).toISOString() },
    // A browser sends both by itself.
    { cookie: cookie.join('; '), origin: new URL(url).origin },
  );
  const { token } = (await created.json()) as { token: string };
  return `Bearer ${token}`;
}

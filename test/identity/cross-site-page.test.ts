import { createClient } from 'graphql-ws';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD, startService, type Service, type ServiceOptions } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const ORIGIN = 'http://localhost:4111';
const CREDENTIALS = { username: 'ann', password: PASSWORD };
const LOGIN = `mutation { login(username: "ann", password: "${PASSWORD}") { expiresAt } }`;
const UNSENT =
  `Browsers do not send the session cookie from ${ORIGIN} to 127.0.0.1, which is another site: open the page at the ` +
  'host 127.0.0.1, or set COOKIE_SAME_SITE=none (https only)';

/** Starts a service that pages at `ORIGIN` may call, with the user `ann`. */
async function startCalled(variables: Record<string, string> = {}, options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ CORS_ORIGINS: ORIGIN, ...variables }, options);
  await service.user('ann');
  return service;
}

/** Opens a socket with a session cookie. Returns the username that it reads, or why it is closed. */
async function readBySocket({ url }: Service, headers: Record<string, string>): Promise<unknown> {
  const closed = Promise.withResolvers<unknown>();
  class Upgrade extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers });
    }
  }
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Upgrade,
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => undefined,
    on: { closed: (event) => closed.resolve((event as CloseEvent).reason) },
  });
  const read = async () => {
    for await (const { data } of client.iterate<{ me: { username: string } }>({ query: '{ me { username } }' }))
      return data?.me.username;
    return closed.promise;
  };
  const result = await Promise.race([closed.promise, read().catch(() => closed.promise)]);
  await client.dispose();
  return result;
}

describe('a page of CORS_ORIGINS', () => {
  test('has sockets and event streams by the rule of all requests with the session cookie', async () => {
    const lines: string[] = [];
    const log = { write: (line: string) => void lines.push(line) };
    const service = await startCalled({ LOG_LEVEL: 'warn' }, { log });
    const { cookie } = (await service.login('ann')).headers as { cookie: string };
    const own = { cookie, origin: service.url };
    const listed = { cookie, origin: ORIGIN };
    const foreign = { cookie, origin: 'http://127.0.0.1:4111' };
    const proxied = { cookie, origin: 'http://localhost:5173', 'sec-fetch-site': 'same-origin' };
    for (const headers of [own, listed, proxied]) {
      expect(await readBySocket(service, headers)).toBe('ann');
      await expectStatus(new Client(service.url, headers).put('/me', { displayName: 'Ann' }), 200);
    }
    expect(lines).toEqual([]);
    expect(await readBySocket(service, foreign)).toBe('Origin http://127.0.0.1:4111 is not in CORS_ORIGINS');
    expect(lines.join()).toContain('A socket was refused: Origin http://127.0.0.1:4111 is not in CORS_ORIGINS');
    await expectStatus(new Client(service.url, foreign).put('/me', { displayName: 'Ann' }), 403);

    await systemQuery(
      service,
      `insert into dws.operation
        (id, tenant_id, work_id, user_id, operation, resource_kind, resource_id, status, progress)
      select $1, tenant_id, $1, id, 'dataset.refresh', 'dataset', $1, 'running', 'mine'
      from dws.app_user where username = 'ann'`,
      '01900000-0000-7000-8000-00000000000c',
    );
    const readStream = async (headers: Record<string, string>) => {
      const response = await fetch(`${service.url}/api/progress/mine/events`, { headers });
      await response.body?.cancel();
      return [response.headers.get('content-type'), response.headers.get('access-control-allow-origin')];
    };
    expect(await readStream(listed)).toEqual(['text/event-stream; charset=utf-8', ORIGIN]);
    // Without the header, the browser does not let the page read the stream.
    expect(await readStream(foreign)).toEqual(['text/event-stream; charset=utf-8', null]);
    await service.close();
  });

  test('of another site gets no session, and login and 401 say why', async () => {
    const service = await startCalled();
    const page = new Client(service.url, { origin: ORIGIN, 'sec-fetch-site': 'cross-site' });
    const refused = await page.post('/login', CREDENTIALS);
    await expectError(refused, 403, UNSENT);
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(refused.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    await expectGraphqlError(page.gql(LOGIN), 'FORBIDDEN', UNSENT);
    await expectError(page.get('/me'), 401, `Missing authentication. ${UNSENT}`);
    await expectGraphqlError(page.gql('{ me { id } }'), 'UNAUTHENTICATED', `Missing authentication. ${UNSENT}`);
    const withToken = page.with({ authorization: 'Bearer nonsense' });
    await expectError(withToken.get('/me'), 401, 'Missing authentication');

    for (const site of ['same-site', 'same-origin', 'none'])
      await expectStatus(page.with({ 'sec-fetch-site': site }).post('/login', CREDENTIALS), 200);
    await expectStatus(new Client(service.url).post('/login', CREDENTIALS), 200);
    await service.close();
  });

  test('of another site has a session with COOKIE_SAME_SITE=none', async () => {
    const service = await startCalled({ COOKIE_SAME_SITE: 'none', PUBLIC_URL: 'https://dws.example' });
    const page = new Client(service.url, { origin: ORIGIN, 'sec-fetch-site': 'cross-site' });
    const response = await page.post('/login', CREDENTIALS);
    expect(response.status).toBe(200);
    const [cookie] = response.headers.getSetCookie();
    expect(cookie).toMatch(/; HttpOnly; Secure; SameSite=None$/);
    const session = page.with({ cookie: cookie!.split(';')[0]! });
    await expectBody(session.get('/me'), 200, { username: 'ann' });
    await expectStatus(session.put('/me', { displayName: 'Ann' }), 200);
    await expectError(page.get('/me'), 401, 'Missing authentication');
    const evil = session.with({ origin: 'https://evil.example' });
    await expectStatus(evil.put('/me', { displayName: 'Evil' }), 403);
    expect(await readBySocket(service, evil.headers as Record<string, string>)).toMatch(/^Origin https:\/\/evil/);
    const out = await session.post('/logout');
    expect(out.headers.getSetCookie()[0]).toMatch(/SameSite=None/);
    await service.close();
  });
});

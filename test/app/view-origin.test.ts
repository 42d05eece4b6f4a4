import { beforeEach, describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test, type World } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { deployApp, echo, sendRaw, startSecond } from './echo-app.ts';

const REFUSAL = 'A request with a session cookie must come from the same origin';
const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' };

let app: string;
let session: Client;

beforeEach<World>(async ({ service, admin, ann }) => {
  app ??= await deployApp(admin, 'Orders & <b>more', {
    'server/x.js': `export const get = async ({ query }) => query("insert into seen values ('view')");`,
    'server/echo.js': echo(['get', 'post']),
    'webhooks/echo.js': echo(['get', 'post']),
    'migrations/001.sql': 'create table seen (by text);',
  });
  await admin.put(`/apps/${app}/shares/${ann.username}`, { accessLevel: 1 });
  session ??= await service.login('admin');
});

/** Requests of browsers that a page of another site can cause. */
const WITHOUT_PROOF: [name: string, headers: Record<string, string>][] = [
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another host of the site', { 'sec-fetch-site': 'same-site' }],
  ['an address that was typed', { 'sec-fetch-site': 'none' }],
  ['another origin, of an old browser', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
];

/** Opens a path as a browser does that follows a link. `fetch` cannot set the headers of one. */
async function navigate(path: string, site: string) {
  const { status, headers, body } = await sendRaw(session, 'GET', path, {
    headers: { ...NAVIGATION, 'sec-fetch-site': site },
  });
  return { status, headers, body: body.toString() };
}

/** Returns the session without a header of its origin. */
const withoutOrigin = ({ url, headers, ...client }: Client) =>
  Object.assign(Object.create(Object.getPrototypeOf(session)) as Client, client, {
    url,
    headers: { cookie: headers['cookie']! },
  });

describe('a view that a session opens without proof of origin', () => {
  test.for(WITHOUT_PROOF)('does not run: %s', async ([, headers], { service }) => {
    await expectError(session.get(`/apps/${app}/view/x`, headers), 401, REFUSAL);
    expect(await seen(service)).toBe(0);
  });

  test('does not run without any header of the origin, also in another process', async ({ service }) => {
    const second = await startSecond(service);
    for (const url of [service.url, second.url]) {
      const client = withoutOrigin(session);
      await expectError(Object.assign(client, { url }).get(`/apps/${app}/view/x`), 401, REFUSAL);
    }
    await second.close();
    expect(await seen(service)).toBe(0);
  });

  test('is a page of the service, which names app and owner', async () => {
    const { status, headers, body } = await navigate(`/apps/${app}/view/x?a="><script>&b=1`, 'cross-site');
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      401,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    const policy = headers['content-security-policy'];
    expect(policy).toContain(`default-src 'self'`);
    expect(policy).toContain(`frame-ancestors 'none'`);
    expect(policy).not.toContain('sandbox');
    expect(body).toContain('<strong>Orders &amp; &lt;b>more</strong> of <strong>admin</strong>');
    expect(body).toContain(`<a href="/api/apps/${app}/view/x?a=&quot;>&lt;script>&amp;b=1"><strong>Continue</strong>`);
  });

  test('names a team that owns the app', async ({ admin, ann }) => {
    const id = await deployApp(admin, 'Of a team', { 'server/x.js': echo(['get']) });
    const team = await createTeam(admin, 'Owners of apps', ann);
    await admin.put(`/apps/${id}/owner`, { ownerId: `team:${team}` });
    const { body } = await navigate(`/apps/${id}/view/x`, 'none');
    expect(body).toContain('of <strong>Owners of apps</strong>');
  });

  test('is JSON for frames, scripts and other requests', async () => {
    const frame: Record<string, string> = { ...NAVIGATION, 'sec-fetch-dest': 'iframe' };
    for (const headers of [frame, { 'sec-fetch-mode': 'cors' }, {}]) {
      const sent = { headers: { ...headers, 'sec-fetch-site': 'cross-site' } };
      const { status, body } = await sendRaw(session, 'GET', `/apps/${app}/view/x`, sent);
      expect([status, JSON.parse(body.toString()).message]).toEqual([401, REFUSAL]);
    }
  });

  test('does not exist for those who may not read it', async ({ service, bob }) => {
    const other = await service.login(bob.username);
    for (const path of [`/apps/${app}/view/x`, '/apps/no-such/view/x'])
      await expectError(
        other.get(path, { ...NAVIGATION, 'sec-fetch-site': 'cross-site' }),
        404,
        'There is no route GET /x',
      );
  });
});

test('a view runs with proof of origin, by a token, and a webhook always', async ({ ann }) => {
  const foreign = { 'sec-fetch-site': 'cross-site' };
  await expectBody(session.get(`/apps/${app}/view/echo`), 200, { path: '/echo' });
  await expectBody(session.get(`/apps/${app}/view/echo`, NAVIGATION), 200, { path: '/echo' });
  await expectBody(ann.get(`/apps/${app}/view/echo`, foreign), 200, { path: '/echo' });
  await expectBody(session.get(`/apps/${app}/_hook/echo`, foreign), 200, { path: '/echo' });
});

test('a response is never code of a page', async ({ ann }) => {
  for (const destination of ['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'manifest', 'embed'])
    for (const path of ['view', '_hook'])
      for (const client of [session, ann])
        await expectError(
          client.get(`/apps/${app}/${path}/echo`, { 'sec-fetch-dest': destination }),
          403,
          'A response of an app is never a script, style or worker of a page',
        );
  for (const destination of ['empty', 'document', 'image', 'iframe'])
    await expectStatus(ann.get(`/apps/${app}/view/echo`, { 'sec-fetch-dest': destination }), 200);
  const { headers } = await session.get(`/apps/${app}/view/echo`);
  expect(headers.get('content-security-policy')).toBe('sandbox');
  expect(headers.getSetCookie()).toEqual([]);
});

/** Returns how often the handler of the app ran. */
async function seen(service: World['service']): Promise<number> {
  const [row] = await systemQuery<{ tenantId: string }>(
    service,
    'select tenant_id as "tenantId" from dws.app where id = $1',
    app,
  );
  const key = { tenantId: row!.tenantId, appId: app };
  const sql = 'select count(*)::int as count from seen';
  return (await service.platform.workspaces.query(key, sql, [], new AbortController().signal))[0]!['count'] as number;
}

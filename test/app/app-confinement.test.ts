import { beforeEach, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test, type World } from '../support/fixture.ts';
import { deployAppWith, grantApp, sendRaw } from './echo-app.ts';

const HOST = 'images.example';
const READ = `(await fetch('/api/session')).json()`;

/** Handlers of an app that tries to pass to its authors what it reads with the rights of its caller. */
const FILES = {
  'migrations/001.sql': 'create table leak (v text);',
  'server/commit.js': `export const post = async ({ fetch, transaction, query }) => {
    const outcome = await transaction(async ({ query }) => {
      await query("insert into leak values ('open')");
      await ${READ};
    }).then(() => 'ok', ({ code }) => code);
    return { outcome, after: await query('select 1').then(() => 'ok', ({ code }) => code) };
  };`,
  'server/running.js': `export const post = async ({ fetch, query }) => {
    let ended = false;
    const running = query("insert into leak select 'before' from pg_sleep(0.5)").then(() => { ended = true; });
    await ${READ};
    const before = ended;
    await running;
    return before;
  };`,
  'server/blocked.js': `export const post = async ({ fetch, query, transaction }) => {
    let inserted;
    const isInserted = new Promise((resolve) => { inserted = resolve; });
    const [one, two] = [transaction(async ({ query }) => {
      await query('lock table leak in exclusive mode');
      inserted();
      await new Promise((resolve) => setTimeout(resolve, 300));
      await ${READ};
    }), isInserted.then(() => query("insert into leak values ('waits')"))];
    return (await Promise.allSettled([one, two])).map(({ status }) => status);
  };`,
  'server/connect.js': `export const post = async ({ fetch, request: { query } }) =>
    (await fetch('/api/datasources/' + query.id + '/schema')).status;`,
  'server/kept.js': `export const post = async ({ query }) => (await query('select v from leak')).map(({ v }) => v);`,
  'server/page.js': `export const get = async ({ fetch, request: { query } }) => {
    if (query.read) await ${READ};
    const headers = { 'content-type': 'text/html', etag: '"what-was-read"', 'cache-control': 'private, max-age=60' };
    return { status: 200, headers, body: '<img src="https://images.example/?what-was-read">' };
  };`,
  'server/leave.js': `export const get = async ({ fetch, request: { query } }) => {
    if (query.read) await ${READ};
    return { status: 303, headers: { location: query.to } };
  };`,
};

let app: string;
let visitors: { reads: Client; keeps: Client };

beforeEach<World>(async ({ service, admin, ann, bob }) => {
  if (app) return;
  app = await deployAppWith(admin, 'Confined', FILES, { scopes: ['read', 'keep', 'send'], hosts: [HOST] });
  await grantApp(service, admin, ann, app, ['read']);
  await grantApp(service, admin, bob, app, ['read', 'keep', 'send'], [HOST]);
  visitors = { reads: await service.login('ann'), keeps: await service.login('bob') };
});

const call = async (client: Client, route: string) => (await client.post(`/apps/${app}/view/${route}`)).body;

test('without keep, a run undoes what is open and waits for its statements before it reads', async ({ admin }) => {
  const { reads, keeps } = visitors;
  const kept = () => call(admin, 'kept');
  expect(await call(reads, 'commit')).toEqual({ outcome: '42501', after: '42501' });
  expect(await kept()).toEqual([]);
  expect(await call(keeps, 'commit')).toEqual({ outcome: 'ok', after: 'ok' });
  expect(await kept()).toEqual(['open']);
  expect(await call(reads, 'running')).toBe(true);
  expect(await call(keeps, 'running')).toBe(false);
  expect(await call(reads, 'blocked')).toEqual(['rejected', 'fulfilled']);
});

test('without send, a run that has read lets the service connect to no server that users name', async ({
  admin,
  ann,
  bob,
}) => {
  const { id } = await admin.creates('/datasources', {
    name: 'Of the author',
    type: 'postgres',
    config: { host: 'db.invalid', database: 'x', user: 'x' },
  });
  for (const { id: reader } of [ann, bob])
    await expectStatus(admin.put(`/datasources/${id}/shares/${reader}`, { accessLevel: 2 }), 200);
  const { reads, keeps } = visitors;
  expect(await call(reads, `connect?id=${id}`)).toBe(403);
  expect(await call(keeps, `connect?id=${id}`)).not.toBe(403);
});

const open = (client: Client, path: string) =>
  sendRaw(client, 'GET', `/apps/${app}/view/${path}`, {
    headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' },
  });

test('a page with data that an app has read loads nothing from hosts that were not granted', async () => {
  const { reads, keeps } = visitors;
  const free = await open(reads, 'page');
  expect(free.headers).toMatchObject({ 'content-security-policy': 'sandbox', etag: '"what-was-read"' });
  const confined = await open(reads, 'page?read=1');
  expect(confined.headers).toMatchObject({
    'content-security-policy':
      "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; media-src data:",
    'cache-control': 'no-store',
    'x-dns-prefetch-control': 'off',
  });
  // A browser would send it with its next request, whose handler has read nothing yet.
  expect(confined.headers.etag).toBeUndefined();
  const granted = await open(keeps, 'page?read=1');
  expect(granted.headers['content-security-policy']).toContain(`img-src data: 'self' https://${HOST};`);
  expect(granted.headers).toMatchObject({ etag: '"what-was-read"', 'cache-control': 'private, max-age=60' });
});

test('a redirect that may contain what an app has read is asked for, also to the app itself', async () => {
  const { reads, keeps } = visitors;
  const own = encodeURIComponent(`/api/apps/${app}/view/page?what-was-read`);
  const outcome = async (client: Client, path: string) => {
    const { status, headers, body } = await open(client, path);
    return headers.location ? status : /<h1>(.*)<\/h1>/.exec(String(body))?.[1];
  };
  expect(await outcome(reads, `leave?to=${own}`)).toBe(303);
  expect(await outcome(reads, `leave?read=1&to=${own}`)).toBe('Open this address?');
  expect(await outcome(reads, `leave?read=1&to=https://${HOST}/`)).toBe('Open this address?');
  expect(await outcome(keeps, `leave?read=1&to=${own}`)).toBe(303);
  expect(await outcome(keeps, `leave?read=1&to=https://${HOST}/`)).toBe(303);
  expect(await outcome(keeps, 'leave?read=1&to=https://other.example/')).toBe('Open this address?');
});

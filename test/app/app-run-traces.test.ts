import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { deployAppWith, grantApp } from './echo-app.ts';

/** Routes that a handler can call by what it has read, and what they leave in the log if their run may keep it. */
const CALLED = {
  throws: `throw new Error('x');`,
  logs: `log.warn('x'); return 1;`,
  late: `await new Promise((resolve) => setTimeout(resolve, 5000));`,
  quiet: `return 1;`,
};
const FILES = {
  ...Object.fromEntries(
    Object.entries(CALLED).map(([name, body]) => [
      `server/${name}.js`,
      `${name === 'late' ? 'export const config = { timeout: 200 };' : ''}
      export const get = async ({ log }) => { ${body} };`,
    ]),
  ),
  'server/outer.js': `export const post = async ({ fetch, log, request: { query } }) => {
    if (query.read) await fetch('/api/session');
    const readAt = Date.now();
    for (const path of (query.call ?? '').split(',').filter(Boolean)) await fetch('/api/apps/' + path);
    for (const level of (query.log ?? '').split(',').filter(Boolean)) log[level]('x');
    if (query.fail) throw new Error('x');
    return { readAt };
  };`,
};

/** Actions of a run of `outer` that depend on data that it has read, with the ids of its own app and of another one. */
const CHOICES = (own: string, other: string): string[] => [
  '',
  ...[own, other].flatMap((app) => Object.keys(CALLED).map((name) => `call=${app}/view/${name}`)),
  `call=${own}/view/logs,${other}/view/throws,${own}/view/logs`,
  'log=error,info,debug',
  'fail=1',
  'log=warn&fail=1',
];

const MARK = { level: 'info', message: expect.stringMatching(/^Not kept/), route: '/outer' };

test('a run without keep leaves the same for authors, whatever it has read', async ({ service, admin, ann }) => {
  const [own, other] = [await deploy('Calls'), await deploy('Is called')];
  async function deploy(name: string): Promise<string> {
    const id = await deployAppWith(admin, name, FILES, { scopes: ['read'] });
    await grantApp(service, admin, ann, id, ['read']);
    return id;
  }
  for (const choice of CHOICES(own, other)) {
    const before = { own: await linesOf(admin, own), other: await linesOf(admin, other) };
    const events = await usageOf(service);
    await ann.post(`/apps/${own}/view/outer?read=1&${choice}`);
    const added = (await linesOf(admin, own)).slice(0, -before.own.length || undefined);
    expect([choice, added]).toEqual([choice, [expect.objectContaining(MARK)]]);
    expect([choice, await linesOf(admin, other)]).toEqual([choice, before.other]);
    const charged = (await usageOf(service)).slice(events.length);
    expect(charged.map(({ app }) => app)).toEqual(charged.map(() => own));
    expect(new Set(charged.map(({ route }) => route))).toEqual(
      new Set(choice.startsWith('call=') ? [null, '/outer'] : ['/outer']),
    );
  }
});

test('the mark of a run is written before it reads', async ({ service, admin, ann }) => {
  const id = await deployAppWith(admin, 'Marked', FILES, { scopes: ['read'] });
  await grantApp(service, admin, ann, id, ['read']);
  const { readAt } = (await ann.post(`/apps/${id}/view/outer?read=1&call=${id}/view/late`)).body;
  const [mark] = await linesOf(admin, id);
  expect(Date.parse(mark!.at)).toBeLessThanOrEqual(readAt);
  // The first 48 bits of a UUID of version 7 are its time.
  expect(Number.parseInt(mark!.id.replace('-', '').slice(0, 12), 16)).toBeLessThanOrEqual(readAt);
});

test('a run that has read nothing, or may keep it, is logged with the runs that it causes', async ({
  service,
  admin,
  ann,
}) => {
  const id = await deployAppWith(admin, 'Keeps', FILES, { scopes: ['read', 'keep'] });
  const routes = async (query: string) => {
    const before = (await linesOf(admin, id)).length;
    await ann.post(`/apps/${id}/view/outer?${query}`);
    return (await linesOf(admin, id)).slice(0, -before || undefined).map(({ level, route }) => `${level} ${route}`);
  };
  await grantApp(service, admin, ann, id, ['read']);
  expect(await routes('log=debug&fail=1')).toEqual(['error /outer', 'debug /outer']);
  await grantApp(service, admin, ann, id, ['read', 'keep']);
  expect(await routes(`read=1&call=${id}/view/logs&log=debug`)).toEqual(['debug /outer', 'warn /logs']);
});

/** A line in the log of an app. */
type Line = Record<'id' | 'at' | 'level' | 'message' | 'route', string>;

/** Returns the lines of the log of an app, newest first, if REST and GraphQL agree. */
async function linesOf(author: Client, appId: string): Promise<Line[]> {
  const lines: Line[] = (await author.get(`/apps/${appId}/logs?limit=1000`)).body._embedded['svc:app-log'];
  const { app } = await author.data(`{ app(id: "${appId}") { logs(limit: 1000) { items { id route } } } }`);
  expect(app.logs.items).toEqual(lines.map(({ id, route }) => ({ id, route })));
  return lines;
}

/** Returns the apps and routes that compute time was charged to. */
const usageOf = (service: Parameters<typeof systemQuery>[0]) =>
  systemQuery<{ app: string; route: string | null }>(
    service,
    `select entity_id as app, metadata->>'route' as route from dws.usage_event
    where resource_type = 'app_compute' order by occurred_at, id`,
  );

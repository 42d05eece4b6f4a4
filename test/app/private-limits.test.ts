import { buildSchema } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limitSubscriptions } from '../../resolvers/support/limit-subscriptions.ts';
import type { Client } from '../support/client.ts';
import { waitForEarlyMinute } from '../support/early-minute.ts';
import { startService, type Service } from '../support/service.ts';
import { deployAppWith, grantApp } from './echo-app.ts';

/* Limits of a visitor: the calls of runs that read, but may not keep it, count apart from all others. */

const LIMIT = 40;
const FILES = {
  'server/calls.js': `
    export const config = { timeout: 30_000 };
    export const get = async ({ fetch, request }) => {
      const statuses = [];
      while (statuses.length < Number(request.query.count)) statuses.push((await fetch('/api/me')).status);
      return statuses;
    };`,
};

let service: Service;
let visitor: Client;
/** Paths of the routes of two apps: the visitor lets the first one read, and the other one keep what it reads. */
let path: Record<'private' | 'keeping', string>;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_API: String(LIMIT) });
  const author = await service.user('author', { permissions: ['apps:create'] });
  visitor = await service.user('visitor');
  const deploy = async (name: string, scopes: string[]) => {
    const id = await deployAppWith(author, name, FILES, { scopes: ['read', 'keep'] });
    await grantApp(service, author, visitor, id, scopes);
    return `/apps/${id}/view/calls`;
  };
  path = { private: await deploy('Reads', ['read']), keeping: await deploy('Keeps', ['read', 'keep']) };
});

afterAll(() => service.close());

const statuses = (...counts: [status: number, count: number][]): number[] =>
  counts.flatMap(([status, count]) => Array<number>(count).fill(status));

test('the calls of private runs have a limit of their own, of the same size', async () => {
  await waitForEarlyMinute();
  const calls = await visitor.get(`${path.private}?count=${LIMIT + 5}`);
  expect([calls.status, calls.body]).toEqual([200, statuses([200, LIMIT], [429, 5])]);
  const again = await visitor.get(`${path.private}?count=1`);
  expect([again.status, again.body]).toEqual([200, [429]]);

  const keeping = await visitor.get(`${path.keeping}?count=2`);
  expect([keeping.status, keeping.body]).toEqual([200, [200, 200]]);
  expect((await visitor.get('/me')).status).toBe(200);
});

test('the streams of private runs have a limit of their own, of the same size', async () => {
  const schema = buildSchema('type Query { me: ID } type Subscription { events: ID }');
  const field = schema.getSubscriptionType()!.getFields()['events']!;
  const endless = { next: () => new Promise(() => {}), [Symbol.asyncIterator]: () => endless };
  field.subscribe = () => endless;
  limitSubscriptions(schema);
  const open = async (ofPrivateRun: boolean): Promise<string> => {
    const ctx = { viewer: { userId: 'visitor', ofPrivateRun }, request: { signal: new AbortController().signal } };
    const opened = Promise.resolve(field.subscribe!(null, {}, ctx, null as never));
    return opened.then(
      () => 'open',
      ({ code }: { code: string }) => code,
    );
  };
  const outcomes: string[] = [];
  for (let n = 0; n <= 200; n++) outcomes.push(await open(true));
  expect(outcomes).toEqual([...Array<string>(200).fill('open'), 'RATE_LIMITED']);
  expect(await open(false)).toBe('open');
});

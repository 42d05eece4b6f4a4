import { expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { readMetric } from '../support/read-metric.ts';
import { startService, type Service } from '../support/service.ts';
import { deployApp, deployAppWith } from './echo-app.ts';

/* Visitors of the apps of an owner, and owners of the apps of a tenant, whose handlers others do not stop. */

const AUTHOR = { permissions: ['apps:create'] };

const LONG = 'export const config = { timeout: 120_000 };';
const waiting = (ms: number) => `() => new Promise((resolve) => setTimeout(() => resolve('ok'), ${ms}))`;
/** A handler that calls another view of its app. */
const calling = (view: string) => `${LONG}
  export const get = async ({ fetch, context }) =>
    (await fetch(\`/api/apps/\${context.app.id}/view/${view}\`)).text();`;
const FILES = {
  'server/fast.js': `export const get = () => 'fast';`,
  'server/slow.js': `export const get = ${waiting(700)};`,
  'server/stuck.js': `${LONG} export const get = ${waiting(110_000)};`,
  'server/called-fast.js': calling('fast'),
  'server/nested-fast.js': calling('called-fast'),
  'server/called-stuck.js': calling('stuck'),
  'server/nested-stuck.js': calling('called-stuck'),
  'webhooks/slow.js': `export const post = ${waiting(700)};`,
};

/** Runs a test with a service, which ends all calls of `stuck`. */
async function withService(run: (service: Service, stuck: (calls: Promise<unknown>[]) => void) => Promise<void>) {
  const service = await startService({ TRUST_PROXY: 'loopback' });
  const calls: Promise<unknown>[] = [];
  try {
    await run(service, (more) => calls.push(...more));
  } finally {
    await Promise.all([service.close(), Promise.allSettled(calls)]);
  }
}

/** Waits until handlers run or wait for a place. */
async function expectHandlers({ url }: Service, work: string, count: number) {
  const places = (state: string) => readMetric(new Client(url), 'dws_places', { work, state });
  const all = async () => Number(await places('running')) + Number(await places('waiting'));
  await expect.poll(all, { timeout: 60_000 }).toBe(count);
}

test('the stuck views of a visitor leave a place to the views of another one, in all apps of the owner', () =>
  withService(async (service, stuck) => {
    const [owner, bob, mia] = [
      await service.user('owner', AUTHOR),
      await service.user('bob'),
      await service.user('mia'),
    ];
    const [one, two] = [await deployApp(owner, 'One', FILES), await deployApp(owner, 'Two', FILES)];
    await owner.put(`/apps/${one}/shares/${bob.id}`, { accessLevel: 1 });
    await owner.put(`/apps/${two}/shares/${mia.id}`, { accessLevel: 1 });
    stuck(Array.from({ length: 20 }, () => bob.get(`/apps/${one}/view/stuck`)));
    await expectHandlers(service, 'handlers', 20);
    expect((await mia.get(`/apps/${two}/view/fast`)).body).toBe('fast');
  }));

test.for([
  ['called', 'called handlers'],
  ['nested', 'nested handlers'],
])('a stuck %s handler leaves a place to the handler of another owner', ([depth, work]) =>
  withService(async (service, stuck) => {
    const [eve, ann] = [await service.user('eve', AUTHOR), await service.user('ann', AUTHOR)];
    const access = { scopes: ['read'] };
    const [ofEve, ofAnn] = [
      await deployAppWith(eve, 'Of Eve', FILES, access),
      await deployAppWith(ann, 'Of Ann', FILES, access),
    ];
    stuck([eve.get(`/apps/${ofEve}/view/${depth}-stuck`)]);
    await expectHandlers(service, work!, 1);
    expect((await ann.get(`/apps/${ofAnn}/view/${depth}-fast`)).body).toBe('fast');
  }),
);

type Send = (
  service: Service,
  owner: Client,
  apps: [string, string],
) => Promise<[() => Promise<unknown>, () => Promise<unknown>]>;
const fromTwo: Record<string, Send> = {
  users: async (service, owner, [app]) => {
    const bob = await service.user('bob');
    await owner.put(`/apps/${app}/shares/${bob.id}`, { accessLevel: 1 });
    return [() => bob.get(`/apps/${app}/view/slow`), () => owner.get(`/apps/${app}/view/slow`)];
  },
  'addresses without proof': async ({ url }, _owner, [app]) => {
    const call = (address: string) => () =>
      new Client(url).request('POST', `/api/apps/${app}/_hook/slow`, '{}', { 'x-forwarded-for': address });
    return [call('203.0.113.1'), call('203.0.113.2')];
  },
  'hook tokens': async ({ url }, owner, apps) => {
    const call = async (app: string) => {
      const { token } = (await owner.get(`/apps/${app}/webhooks`)).body.hookToken;
      return () => new Client(url).request('POST', `/api/hooks/${token}/slow`, '{}');
    };
    return [await call(apps[0]), await call(apps[1])];
  },
};

test.for(Object.keys(fromTwo))('two %s take turns at the places of an owner', (kind) =>
  withService(async (service) => {
    const owner = await service.user('owner', AUTHOR);
    const apps: [string, string] = [await deployApp(owner, 'One', FILES), await deployApp(owner, 'Two', FILES)];
    const [first, second] = await fromTwo[kind]!(service, owner, apps);
    const ended: string[] = [];
    const send = (name: string, call: () => Promise<any>) =>
      call().then(({ status }) => ended.push(`${name} ${status}`));
    const calls = Array.from({ length: 10 }, () => send('first', first));
    await Promise.race(calls);
    await Promise.all([...calls, send('second', second)]);
    expect(ended.filter((end) => !end.endsWith(' 200'))).toEqual([]);
    expect(ended.indexOf('second 200')).toBeLessThan(7);
  }),
);

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { readMetric } from '../support/read-metric.ts';
import { startService, type Service } from '../support/service.ts';
import { deployAppWith, grantApp } from './echo-app.ts';

/* Runs of visitors who let an app read, but not keep it: others do not see what they occupy. */

const LONG = 'export const config = { timeout: 120_000 };';
/** A handler that calls another view of its app. */
const calling = (view: string) => `${LONG}
  export const get = async ({ fetch, context }) =>
    (await fetch(\`/api/apps/\${context.app.id}/view/${view}\`)).text();`;
const FILES = {
  'server/fast.js': `export const get = () => 'fast';`,
  'server/called-fast.js': calling('fast'),
  'server/called-stuck.js': calling('stuck'),
  'server/stuck.js': `${LONG} export const get = () => new Promise((resolve) => setTimeout(resolve, 110_000));`,
  'server/nested-fast.js': calling('called-fast'),
  'server/nested-stuck.js': calling('called-stuck'),
};

let service: Service;
let author: Client;
let ann: Client;
let bob: Client;
let eve: Client;
/** Below which the routes of the app are. */
let path: string;

/** Starts requests that end with the service. */
const start = (client: Client, url: string, count = 1): void => {
  for (let n = 0; n < count; n++) client.get(url).catch(() => {});
};

/** Waits until so many handlers run and wait. */
async function expectPlaces(work: string, running: number, waiting: number): Promise<void> {
  const client = new Client(service.url);
  const read = async () => [
    await readMetric(client, 'dws_places', { work, state: 'running' }),
    await readMetric(client, 'dws_places', { work, state: 'waiting' }),
  ];
  await expect.poll(read, { timeout: 60_000 }).toEqual([running, waiting]);
}

/** Ann and bob let an app read, eve does not. Ann's run calls a handler, which calls another one, and none of them ends. */
beforeAll(async () => {
  service = await startService({});
  author = await service.user('author', { permissions: ['apps:create'] });
  [ann, bob, eve] = [await service.user('ann'), await service.user('bob'), await service.user('eve')];
  const id = await deployAppWith(author, 'Reads', FILES, { scopes: ['read', 'keep'] });
  for (const user of [ann, bob]) await grantApp(service, author, user, id, ['read']);
  await author.put(`/apps/${id}/shares/${eve.id}`, { accessLevel: 1 });
  path = `/apps/${id}/view`;
  start(ann, `${path}/nested-stuck`);
});

afterAll(() => service.close());

/** Waits until the run of ann is stuck. */
const untilStuck = () => expectPlaces('private nested handlers', 1, 0);

test('the private runs of a user have one place at each depth, and wait for each other alone', async () => {
  await untilStuck();
  start(ann, `${path}/stuck`, 4);
  await expectPlaces('private handlers', 1, 4);
  await expectPlaces('private called handlers', 1, 0);
  for (const work of ['handlers', 'called handlers', 'nested handlers']) await expectPlaces(work, 0, 0);
});

test('two accounts of an author find all places of the author free while a visitor’s run reads', async () => {
  await untilStuck();
  start(eve, `${path}/stuck`);
  await expectPlaces('handlers', 1, 0);
  for (const route of ['fast', 'called-fast', 'nested-fast'])
    expect([route, (await author.get(`${path}/${route}`)).body]).toEqual([route, 'fast']);
});

test('a private run of another user waits for none', async () => {
  await untilStuck();
  for (const route of ['fast', 'called-fast', 'nested-fast'])
    expect([route, (await bob.get(`${path}/${route}`)).body]).toEqual([route, 'fast']);
});

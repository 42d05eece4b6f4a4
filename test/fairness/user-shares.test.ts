import { globSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import { FairGate, halfOf } from '../../src/core/fair-gate.ts';
import { queueLimitsOf } from '../../src/operations/queue-limits.ts';
import {
  MAX_APP_MAILS,
  MAX_OF_ONE,
  MAX_OF_OWNER,
  MAX_OF_TENANT,
  MAX_PLAIN_MAILS,
} from '../../src/services/resource/hourly-limits.ts';
import { CONTRACT } from '../support/contract.ts';
import { expectBody } from '../support/expect.ts';
import { readMetric } from '../support/read-metric.ts';
import { test } from '../support/shop-fixture.ts';

/** The places of gates whose callers have another share than half, by their files. Each is for a reason. */
const OTHER_SHARES: Record<string, string> = {
  'src/core/fair-gate.ts': 'the gate itself',
  'src/services/report/dataset-reference-view.ts': 'a gate of one request, which has one caller',
  'src/services/library/sync-download.ts': 'a quarter: half of the places of a tenant',
  'src/adapters/sandbox/sandbox.ts': 'private runs: few callers must not fill the places of a tenant',
};

/** A gate that opens with a search engine. */
const OF_SEARCH_ENGINE =
  'queries of a search engine with `$regex`, until it has responded, also after the client has left';

/** The work of the table of places in the contract, by the names of its gates. */
const PLACES: Record<string, string[]> = {
  'queries of the dataset index': ['queries of the index'],
  [OF_SEARCH_ENGINE]: ['queries of the index with $regex'],
  'requests with rows of the index in memory, until the response is complete, at most 5 seconds': [
    'results of the index',
  ],
  exports: ['exports'],
  'queries of database servers': ['queries of datasources'],
  'runs with a timeout of their own': ['runs'],
  'queries of uploaded files': ['queries of uploaded files'],
  'uploads whose type is detected': ['uploads'],
  'word indexes that are built': ['word indexes'],
  'charts that are drawn': ['pictures'],
  'renderings, previews and checks of templates': ['renderings'],
  'avatars that are read and drawn': ['uploads of pictures'],
  'programs in the sandbox': ['programs'],
  'handlers of apps': ['handlers'],
  'handlers that handlers call, of each depth': ['called handlers', 'nested handlers'],
  'handlers of private runs, of each depth': ['private handlers', 'private called handlers', 'private nested handlers'],
  'connections of apps': ['queries of apps'],
  'files of apps that are parsed': ['modules to parse'],
  PDFs: ['PDFs'],
  'uploaded pictures that GraphQL reads as a whole': ['reads of uploaded pictures'],
  'changes in a transaction': ['changes'],
  'statements that read': ['reads'],
  'hashes of passwords, shared among addresses instead of users': ['passwords'],
  'logins that call an identity provider, shared among addresses': ['logins'],
  'JSON bodies longer than 64 kB that are parsed, shared among addresses': ['large bodies'],
  'responses with the SDL that are printed; without credentials shared among addresses': ['responses with the SDL'],
  'complete responses of 64 kB and more that are compressed; without credentials shared among addresses': [
    'large responses',
  ],
  'GraphQL documents longer than 2,000 characters that are validated, and introspection; without credentials shared among addresses':
    ['long GraphQL documents'],
  'calls of MCP servers': ['calls of MCP servers'],
  'callbacks of authorizations': ['authorizations'],
  'token refreshes of connections': ['token refreshes'],
  'downloads from drives, shared among libraries instead of users': ['downloads of libraries'],
};
/** A gate of one request. */
const OF_REQUEST = 'queries';

/** The places of one worker: of all, of a tenant and of a user. */
const QUEUES = {
  operations: [4, 2, 1],
  jobs: [64, 16, 8],
  renderings: [4, 2, 1],
  syncs: [4, 2, 1],
  images: [8, 4, 2],
  agents: [64, 16, 8],
};

/** Returns how many of many tasks a gate runs concurrently, of one caller and of all callers of a tenant. */
async function countRunning(options: { places: number; maxPerTenant?: number }) {
  const gate = new FairGate({ ...options, maxWaiting: 1000, taskNoun: 'tasks' });
  const { signal } = new AbortController();
  let running = 0;
  const enter = (userId: string) =>
    Array.from({ length: 50 }, () => gate.enter({ tenantId: 'one', userId }, signal).then(() => (running += 1)));
  void enter('ann');
  await setImmediate();
  const ofCaller = running;
  for (const userId of ['bob', 'carl', 'dora', 'eve', 'fred']) void enter(userId);
  await setImmediate();
  return { ofCaller, ofTenant: running };
}

test('a gate gives a caller half of its places, and half of the places of a tenant', async () => {
  for (const places of [1, 2, 3, 4, 8, 16, 20]) {
    expect(await countRunning({ places })).toEqual({ ofCaller: halfOf(places), ofTenant: places });
    for (const maxPerTenant of [1, 2, 3, 8].filter((count) => count <= places)) {
      const ofCaller = Math.min(halfOf(places), halfOf(maxPerTenant));
      expect(await countRunning({ places, maxPerTenant })).toEqual({ ofCaller, ofTenant: maxPerTenant });
    }
  }
});

test('no gate but those with a reason gives a caller another share', () => {
  const sources = globSync('src/**/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const others = sources.filter(({ text }) => text.includes('maxPerCaller')).map(({ path }) => path);
  expect(others.toSorted()).toEqual(Object.keys(OTHER_SHARES).toSorted());
});

/** Returns the rows of the table of the contract that begins with a heading, without it and without links. */
const tableOf = (heading: string): string[][] =>
  CONTRACT.slice(CONTRACT.indexOf(`| ${heading} |`))
    .split('\n\n')[0]!
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')),
    );

test('the contract states the places of every gate', async ({ service, anonymous, ann, source }) => {
  expect(tableOf('Work').map(([work]) => work)).toEqual(expect.arrayContaining(Object.keys(PLACES)));
  expect(Object.keys(PLACES)).toHaveLength(tableOf('Work').length);
  const sources = globSync('src/**/*.ts').map((path) => readFileSync(path, 'utf8'));
  const gates = sources
    .filter((text) => /FairGate\b/.test(text))
    .flatMap((text) => [...text.matchAll(/(?:taskNoun: |gate\()'([^']+)'/gi)]);
  expect(gates.map(([, noun]) => noun).toSorted()).toEqual(
    [...Object.values(PLACES).flat(), PLACES['queries of the dataset index']![0], OF_REQUEST].toSorted(),
  );
  // The index opens when it is first read.
  const { id } = await ann.creates('/datasets', {
    name: 'One',
    datasourceId: source.id,
    query: 'select 1 as x',
    refresh: true,
  });
  await expectBody(ann.get(`/datasets/${id}/data`), 200, { total: 1 });
  const open = tableOf('Work').filter(([work]) => work !== OF_SEARCH_ENGINE);
  const stated = open.flatMap(([work, places]) => PLACES[work!]!.map((noun) => [noun, places!] as const));
  const countOf = (places: string) =>
    places === '`SANDBOX_PROCESSES`' ? service.platform.config.SANDBOX_PROCESSES : Number.parseInt(places, 10);
  const real = stated.map(async ([work]) => [
    work,
    await readMetric(anonymous, 'dws_places', { work, state: 'total' }),
  ]);
  expect(await Promise.all(real)).toEqual(stated.map(([noun, places]) => [noun, countOf(places)]));
});

test('of every limit of an hour, an owner has half, and the contract states the limits', () => {
  expect(MAX_OF_OWNER).toBe(halfOf(MAX_OF_TENANT));
  for (const ofOne of [MAX_OF_ONE, MAX_PLAIN_MAILS, MAX_APP_MAILS])
    expect(ofOne).toBeLessThanOrEqual(halfOf(MAX_OF_OWNER));
  const numbersOf = (cell: string) =>
    [...cell.matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replace(',', '')));
  expect(tableOf('Who').map((row) => row.slice(1).map(numbersOf))).toEqual([
    [[MAX_OF_TENANT], [MAX_OF_TENANT]],
    [[MAX_OF_OWNER, MAX_PLAIN_MAILS], [MAX_OF_OWNER]],
    [[MAX_OF_ONE], [MAX_OF_ONE]],
    [[MAX_APP_MAILS], [MAX_OF_ONE]],
  ]);
});

test('every queue of operations gives a user half of the places of a tenant', () => {
  const limits = Object.entries(queueLimitsOf(4)).map(([name, { concurrency, perTenant }]) => [
    name,
    [concurrency, perTenant, halfOf(perTenant)],
  ]);
  expect(Object.fromEntries(limits)).toEqual(QUEUES);
});

test.for([
  [1, 1, 1],
  [3, 1, 1],
  [4, 2, 1],
  [8, 4, 2],
])('with %i concurrent operations a tenant has %i, a user %i', ([concurrency, ofTenant, ofUser]) => {
  const { perTenant } = queueLimitsOf(concurrency!).operations;
  expect([perTenant, halfOf(perTenant)]).toEqual([ofTenant, ofUser]);
});

import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { halfOf } from '../../src/core/fair-gate.ts';
import { queueLimitsOf } from '../../src/operations/queue-limits.ts';

/** The places of gates whose callers have another share than half, by their files. Each is for a reason. */
const OTHER_SHARES: Record<string, string> = {
  'src/core/fair-gate.ts': 'the gate itself',
  'src/services/report/dataset-reference-view.ts': 'a gate of one request, which has one caller',
  'src/services/library/sync-download.ts': 'a quarter: half of what a tenant has',
};

/** The work of the table of places in the contract, by the names of its gates. */
const PLACES: Record<string, string[]> = {
  'queries of the dataset index': ['queries of the index'],
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
  '[handlers](#handlers) of apps': ['handlers'],
  'handlers that handlers call, of each depth': ['called handlers', 'nested handlers'],
  'connections of [apps](#workspace)': ['queries of apps'],
  'files of apps that are parsed': ['modules to parse'],
  PDFs: ['PDFs'],
  'uploaded pictures that GraphQL reads as a whole': ['reads of uploaded pictures'],
  'changes in a transaction': ['changes'],
  'hashes of passwords, shared among addresses instead of users': ['passwords'],
  'logins that call an identity provider, shared among addresses': ['logins'],
  'JSON bodies longer than 64 kB that are parsed, shared among addresses': ['large bodies'],
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

test('every gate gives a caller half of its places, and of those of a tenant', () => {
  const sources = globSync('src/**/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const others = sources.filter(({ text }) => text.includes('maxPerCaller')).map(({ path }) => path);
  expect(others.toSorted()).toEqual(Object.keys(OTHER_SHARES).toSorted());
});

const contract = readFileSync('docs/contract.md', 'utf8');

/** Returns the rows of the table of the contract that begins with a heading, without it. */
const tableOf = (heading: string): string[][] =>
  contract
    .slice(contract.indexOf(`| ${heading} |`))
    .split('\n\n')[0]!
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

test('the contract states the places of every gate', () => {
  expect(tableOf('Work').map(([work]) => work)).toEqual(expect.arrayContaining(Object.keys(PLACES)));
  expect(Object.keys(PLACES)).toHaveLength(tableOf('Work').length);
  const sources = globSync('src/**/*.ts').map((path) => readFileSync(path, 'utf8'));
  const gates = sources
    .filter((text) => /FairGate\b/.test(text))
    .flatMap((text) => [...text.matchAll(/(?:places: (\d+),[^}]*)?(?:taskNoun: |gate\()'([^']+)'/g)]);
  expect(gates.map(([, , noun]) => noun).toSorted()).toEqual(
    [...Object.values(PLACES).flat(), PLACES['queries of the dataset index']![0], OF_REQUEST].toSorted(),
  );
  for (const [work, places] of tableOf('Work'))
    for (const [, count, noun] of gates)
      if (count && PLACES[work!]!.includes(noun!)) expect([work, places]).toEqual([work, count]);
});

test('of every limit of an hour, an owner has half', () => {
  const numbers = tableOf('Who').map((row) =>
    row.slice(1).map((cell) => Number(cell.match(/^[\d,]+/)![0].replace(',', ''))),
  );
  const [ofTenant, ofOwner, ofJob, ofApp] = numbers;
  expect(ofOwner).toEqual(ofTenant!.map(halfOf));
  for (const ofOne of [ofJob!, ofApp!])
    ofOne.forEach((count, i) => expect(count).toBeLessThanOrEqual(halfOf(ofOwner![i]!)));
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
])('with %i operations at once a tenant has %i, a user %i', ([concurrency, ofTenant, ofUser]) => {
  const { perTenant } = queueLimitsOf(concurrency!).operations;
  expect([perTenant, halfOf(perTenant)]).toEqual([ofTenant, ofUser]);
});

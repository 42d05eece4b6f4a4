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

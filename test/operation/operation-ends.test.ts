import { expect } from 'vitest';
import type { OperationEnd } from '../../src/core/operation-ends.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { countingHandlers } from './counting.ts';
import { count, test, until, type World } from './fixture.ts';

/** Counts until it is cancelled. */
const ENDLESS = { until: 1_000_000, every: 10 };

/** Collects the work that ends by a cancellation, with whether it had started. */
function collectEnds({ platform }: World): unknown[] {
  const ended: unknown[] = [];
  const end: OperationEnd<'test.count'> = {
    async cancelled(_tx, { workId, input, startedAt }) {
      ended.push({ workId, input, hasStarted: startedAt !== null });
    },
  };
  Object.assign(platform, { operationEnds: { ...platform.operationEnds, 'test.count': end } });
  return ended;
}

test('a cancellation cleans up, whether the operation waited or ran', async ({ world }) => {
  const ann = await world.caller();
  const ended = collectEnds(world);
  const waiting = await count(ann, { until: 1 });
  await operations.cancel(ann, waiting);
  expect(ended).toEqual([{ workId: waiting, input: { until: 1 }, hasStarted: false }]);

  await world.startWorker(countingHandlers());
  const running = await count(ann, ENDLESS);
  await until(ann, running, 'running');
  await operations.cancel(ann, running);
  await until(ann, running, 'cancelled');
  expect(ended.slice(1)).toEqual([{ workId: running, input: ENDLESS, hasStarted: true }]);
});

test('of operations that share their work, the cancellation of the last cleans up', async ({ world }) => {
  const ann = await world.caller();
  const ended = collectEnds(world);
  const shared = { concurrencyKey: 'shared', fingerprint: 'same' };
  const first = await count(ann, {}, shared);
  const second = await count(ann, {}, shared);
  await operations.cancel(ann, first);
  expect(ended).toEqual([]);
  await operations.cancel(ann, second);
  expect(ended).toEqual([{ workId: first, input: {}, hasStarted: false }]);
});

test('an operation that ends otherwise cleans up by its handler', async ({ world }) => {
  const ann = await world.caller();
  const ended = collectEnds(world);
  await world.startWorker(countingHandlers());
  await until(ann, await count(ann), 'succeeded');
  await until(ann, await count(ann, { fail: 'callerError' }), 'failed');
  expect(ended).toEqual([]);
});

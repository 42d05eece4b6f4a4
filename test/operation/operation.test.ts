import { describe, expect, vi } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Handler } from '../../src/operations/handler.ts';
import { queueLimitsOf } from '../../src/operations/queue-limits.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { lockConcurrencyKey } from '../../src/services/operation/operation-queue.ts';
import { claimWork } from '../../src/services/operation/operation-repository.ts';
import { followOperation, wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { WAITING_FOR_LOCKS } from '../support/waiting-locks.ts';
import { countingHandlers } from './counting.ts';
import { collect, count, eventually, published, rows, test, until, type World } from './fixture.ts';
import { QUICK } from './platform.ts';

/** Counts until it is cancelled. */
const ENDLESS = { until: 1_000_000, every: 10 };

const operationIds = async (world: World, where = 'true'): Promise<unknown[]> =>
  (await rows(world, `select id from dws.operation where ${where} order by id`)).map(({ id }) => id);

describe('starting', () => {
  test('leaves nothing behind when the transaction is rolled back', async ({ world }) => {
    const ann = await world.caller();
    const rolledBack = ann.transaction(async (tx) => {
      await operations.start(ann, tx, {
        operation: 'test.count',
        resource: { kind: 'dataset', id: newId() },
        input: {},
      });
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');

    expect(await operationIds(world)).toEqual([]);
    expect(await rows(world, `select id from dws_jobs.job_common where name = 'operation'`)).toEqual([]);
  });

  test('reserves the caller’s `progress` name until the operation has ended, then finds the latest', async ({
    world,
  }) => {
    const [ann, bob] = [await world.caller(), await world.caller()];
    const first = await count(ann, {}, { progress: 42 });
    await expect(count(ann, {}, { progress: '42' })).rejects.toMatchObject({ status: 409, code: 'CONFLICT' });
    await expect(count(bob, {}, { progress: 42 })).resolves.toBeTypeOf('string');
    expect(await operations.get(ann, '42')).toMatchObject({
      id: first,
      progress: '42',
      status: 'queued',
      percent: null,
      current: 0,
    });

    await operations.cancel(ann, '42');
    const second = await count(ann, {}, { progress: 42 });
    expect(await operations.get(ann, '42')).toMatchObject({ id: second });
  });

  test('refuses an empty `progress` name and starts nothing', async ({ world }) => {
    const ann = await world.caller();
    for (const progress of ['', '  '])
      await expect(count(ann, {}, { progress })).rejects.toMatchObject({ status: 400 });
    expect(await operationIds(world)).toEqual([]);
  });

  test('is visible to the caller only', async ({ world }) => {
    const [ann, bob] = [await world.caller(), await world.caller()];
    const eve = await world.caller(newId());
    const id = await count(ann, {}, { progress: 'nightly' });
    for (const other of [bob, eve]) {
      for (const idOrAlias of [id, 'nightly']) {
        await expect(operations.get(other, idOrAlias)).rejects.toMatchObject({ status: 404 });
        await expect(operations.cancel(other, idOrAlias)).rejects.toMatchObject({ status: 404 });
        await expect(followOperation(other.platform, other.viewer, idOrAlias).next()).rejects.toMatchObject({
          status: 404,
        });
      }
    }
  });
});

describe('waiting', () => {
  test('returns the result of another process', async ({ world }) => {
    const ann = await world.caller();
    const worker = await world.startWorkerProcess();
    const record = await wait(ann, await count(ann));
    expect(record).toMatchObject({
      status: 'succeeded',
      percent: 100,
      error: null,
      result: { pid: worker.pid, attempt: 1 },
    });
    expect(record.finishedAt).toBeInstanceOf(Date);
  });

  test('throws the error of the operation, without the details of a bug', async ({ world }) => {
    const ann = await world.caller();
    await world.startWorker(countingHandlers());
    await expect(wait(ann, await count(ann, { fail: 'callerError' }))).rejects.toMatchObject({
      status: 400,
      code: 'BAD_USER_INPUT',
      message: 'The number is odd',
    });
    await expect(wait(ann, await count(ann, { fail: 'bug' }))).rejects.toMatchObject({
      status: 500,
      code: 'INTERNAL',
      message: 'Something went wrong on our side',
    });
    expect(await published(world)).toEqual([]);
  });

  test('ends when the caller disconnects, and the operation continues', async ({ world }) => {
    const ann = await world.caller();
    const connection = new AbortController();
    const id = await count(ann);
    const waiting = wait({ ...ann, request: { ...ann.request, signal: connection.signal } }, id);
    connection.abort(new Error('disconnected'));
    await expect(waiting).rejects.toThrow('disconnected');

    await world.startWorker(countingHandlers());
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded' });
  });
});

describe('following', () => {
  test('yields every state from the current to the final one, from every process', async ({ world }) => {
    const ann = await world.caller();
    const id = await count(ann, { until: 5, every: 300 });
    const following = followOperation(world.platform, ann.viewer, id);
    const first = (await following.next()).value!;
    await world.startWorkerProcess();
    const records = [first, ...(await collect(following))];

    const sequences = records.map((record) => record.sequence);
    expect([...new Set(records.map((record) => record.status))]).toEqual(['queued', 'running', 'succeeded']);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect(records.some(({ percent }) => percent! > 0 && percent! < 100)).toBe(true);
    expect(records.at(-1)).toMatchObject({ current: 5, total: 5, percent: 100, message: null });
  });

  test('yields a finished operation once', async ({ world }) => {
    const ann = await world.caller();
    const id = await count(ann);
    await operations.cancel(ann, id);
    const records = await collect(followOperation(world.platform, ann.viewer, id));
    expect(records.map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('ends immediately when the follower stops', async ({ world }) => {
    const ann = await world.caller();
    const records = followOperation(world.platform, ann.viewer, await count(ann));
    expect(await records.next()).toMatchObject({ done: false, value: { status: 'queued' } });
    const pending = records.next();
    expect(await records.return()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
  });

  test('yields progress at most ten times a second', async ({ world }) => {
    const ann = await world.caller();
    await world.startWorker(countingHandlers());
    const record = await wait(ann, await count(ann, { until: 300, every: 1 }));
    const intervals = (record.finishedAt!.getTime() - record.startedAt!.getTime()) / 100;
    // Besides progress, the sequence counts the claim, the outcome, and the last progress before it.
    expect(record.sequence).toBeLessThanOrEqual(intervals + 4);
    expect(record.current).toBe(300);
  });
});

describe('cancelling', () => {
  test('stops a running operation in another process, and waiting callers get 409 CANCELLED', async ({ world }) => {
    const ann = await world.caller();
    await world.startWorkerProcess();
    const id = await count(ann, ENDLESS);
    const waiting = wait(ann, id).catch((error: unknown) => error);
    await until(ann, id, 'running');
    await operations.cancel(ann, id);

    expect(await waiting).toMatchObject({ status: 409, code: 'CANCELLED' });
    expect(await operations.get(ann, id)).toMatchObject({
      status: 'cancelled',
      error: { statusCode: 409, code: 'CANCELLED' },
      result: null,
    });
    expect(await published(world)).toEqual([]);
    await expect(operations.cancel(ann, id)).rejects.toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  test('ends a queued operation immediately, and no worker starts it', async ({ world }) => {
    const ann = await world.caller();
    const id = await count(ann);
    expect(await operations.cancel(ann, id)).toMatchObject({ status: 'cancelled', startedAt: null });
    await world.startWorker(countingHandlers());
    await wait(ann, await count(ann));
    expect(await operations.get(ann, id)).toMatchObject({ status: 'cancelled', startedAt: null });
  });

  test('prevents the publication even if the handler ignores its signal', async ({ world }) => {
    const ann = await world.caller();
    await world.startWorker(countingHandlers());
    const id = await count(ann, { until: 30, every: 30, ignoreSignal: true });
    await until(ann, id, 'running');
    await operations.cancel(ann, id);
    await expect(wait(ann, id)).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await published(world)).toEqual([]);
  });
});

describe('concurrency keys', () => {
  const SAME_WORK = { concurrencyKey: 'dataset:1', fingerprint: 'same' };
  const OTHER_WORK = { concurrencyKey: 'dataset:1', fingerprint: 'other' };

  test('run one operation at a time, in order; an identical third joins the second', async ({ world }) => {
    const [ann, bob] = [await world.caller(), await world.caller()];
    const firstId = await count(ann, ENDLESS, SAME_WORK);
    await world.startWorker(countingHandlers());
    await until(ann, firstId, 'running');
    const secondId = await count(ann, {}, SAME_WORK);
    const joinedId = await count(bob, {}, SAME_WORK);
    const lastId = await count(ann, {}, OTHER_WORK);
    expect(await operationIds(world, `status = 'running'`)).toEqual([firstId]);

    await operations.cancel(ann, firstId);
    const [second, joined, last] = await Promise.all([wait(ann, secondId), wait(bob, joinedId), wait(ann, lastId)]);
    expect(second.startedAt).toEqual(joined.startedAt);
    expect(last.startedAt!.getTime()).toBeGreaterThanOrEqual(second.finishedAt!.getTime());
    expect(await published(world)).toEqual([1, 1]);
  });

  test('run one operation at a time also where the clock of another process is ahead', async ({ world }) => {
    const ann = await world.caller();
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    const fromFuture = await count(ann, ENDLESS, SAME_WORK).finally(() => now.mockRestore());
    await world.startWorker(countingHandlers());
    await until(ann, fromFuture, 'running');
    const later = await count(ann, {}, OTHER_WORK);
    expect(later < fromFuture).toBe(true);
    expect(await claimWork(world.platform, { workId: later, tenantId: ann.viewer.tenantId })).toBeNull();
    expect(await operationIds(world, `status = 'running'`)).toEqual([fromFuture]);

    await operations.cancel(ann, fromFuture);
    const [ended, started] = [await operations.get(ann, fromFuture), await wait(ann, later)];
    expect(started.startedAt!.getTime()).toBeGreaterThanOrEqual((ended.finishedAt ?? started.startedAt)!.getTime());
    expect(await published(world)).toEqual([1]);
  });

  test('run in the order in which the key was locked', async ({ world }) => {
    const ann = await world.caller();
    // The first caller waits for the lock that the second one has already.
    const isLocked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const holding = ann.transaction(async (tx) => {
      lockConcurrencyKey(tx, SAME_WORK.concurrencyKey);
      await tx.query({ text: 'select 1' });
      isLocked.resolve();
      await goOn.promise;
      const resource = { kind: 'dataset', id: newId() };
      return operations.start(ann, tx, { operation: 'test.count', resource, input: {}, ...SAME_WORK });
    });
    await isLocked.promise;
    const waiting = count(ann, {}, OTHER_WORK);
    await eventually(async () => {
      return (await rows(world, WAITING_FOR_LOCKS)).length === 1;
    });
    goOn.resolve();
    const [lockedFirst, lockedSecond] = await Promise.all([holding, waiting]);
    expect(lockedFirst < lockedSecond).toBe(true);
  });

  test('cancel shared work only with its last operation', async ({ world }) => {
    const [ann, bob] = [await world.caller(), await world.caller()];
    const first = await count(ann, ENDLESS, SAME_WORK);
    const joined = await count(bob, ENDLESS, SAME_WORK);
    await world.startWorker(countingHandlers());
    await until(bob, joined, 'running');

    expect(await operations.cancel(ann, first)).toMatchObject({ status: 'cancelled' });
    const { current } = await operations.get(bob, joined);
    await eventually(async () => (await operations.get(bob, joined)).current > current);

    await operations.cancel(bob, joined);
    await expect(wait(bob, joined)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

test('operations of one tenant use at most half of a worker’s concurrency', async ({ world }) => {
  const [ann, eve] = [await world.caller(), await world.caller(newId())];
  const running = new Map<string, number>();
  let maxRunning = 0;
  const released = Promise.withResolvers<void>();
  const waitingHandler: Handler<'test.count'> = {
    takeover: false,
    async run({ tenantId, attempt }) {
      running.set(tenantId, (running.get(tenantId) ?? 0) + 1);
      maxRunning = Math.max(maxRunning, ...running.values());
      await released.promise;
      running.set(tenantId, running.get(tenantId)! - 1);
      return { publish: async () => ({ pid: process.pid, attempt }) };
    },
  };
  const bob = await world.caller();
  const half = queueLimitsOf(world.platform.config.WORKER_CONCURRENCY).operations.perTenant;
  const idsOfAnn: string[] = [];
  const idsOfBob: string[] = [];
  for (let n = 0; n < half; n++) {
    idsOfAnn.push(await count(ann));
    idsOfBob.push(await count(bob));
  }
  await world.startWorker({ 'test.count': waitingHandler });
  const idOfEve = await eventually(async () => running.get(ann.viewer.tenantId) === half && count(eve));
  await until(eve, idOfEve, 'running');

  released.resolve();
  await Promise.all([
    ...idsOfAnn.map((id) => wait(ann, id)),
    ...idsOfBob.map((id) => wait(bob, id)),
    wait(eve, idOfEve),
  ]);
  expect(maxRunning).toBe(half);
});

test('records are kept for seven days after the end of the operation', async ({ world }) => {
  const ann = await world.caller();
  const [old, young, open] = [await count(ann), await count(ann), await count(ann)];
  for (const id of [old, young]) await operations.cancel(ann, id);
  await rows(
    world,
    `update dws.operation
      set created_at = now() - interval '9 days',
        finished_at = case
          when id = $1 then now() - interval '169 hours'
          when id = $2 then now() - interval '167 hours'
        end`,
    [old, young],
  );
  await reconcile(world.platform, {}, QUICK);
  expect(await operationIds(world)).toEqual([young, open]);
});

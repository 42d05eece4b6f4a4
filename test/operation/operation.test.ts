import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Handler } from '../../src/operations/handler.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { events } from '../../src/services/operation/operation-events.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { countingHandlers } from './counting.ts';
import { count, eventually, published, rows, test, until } from './fixture.ts';
import { QUICK } from './platform.ts';

describe('starting', () => {
  test('an operation of a transaction that is undone never was', async ({ world }) => {
    const ann = await world.caller();
    await expect(
      ann.transaction(async (tx) => {
        await operations.start(ann, tx, {
          operation: 'test.count',
          resource: { kind: 'dataset', id: newId() },
          input: {},
        });
        throw new Error('Changed my mind');
      }),
    ).rejects.toThrow('Changed my mind');

    expect(await rows(world, 'select id from dws.operation')).toEqual([]);
    expect(await rows(world, `select id from dws_jobs.job_common where name = 'operation'`)).toEqual([]);
  });

  test('a caller’s own name for an operation is taken until it ended, and finds the latest', async ({ world }) => {
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

  test('an empty name is refused and starts nothing', async ({ world }) => {
    const ann = await world.caller();
    for (const progress of ['', '  '])
      await expect(count(ann, {}, { progress })).rejects.toMatchObject({ status: 400 });
    expect(await rows(world, 'select id from dws.operation')).toEqual([]);
  });

  test('operations of others do not exist', async ({ world }) => {
    const [ann, bob] = [await world.caller(), await world.caller()];
    const eve = await world.caller(newId());
    const id = await count(ann, {}, { progress: 'held' });
    for (const other of [bob, eve]) {
      for (const name of [id, 'held']) {
        await expect(operations.get(other, name)).rejects.toMatchObject({ status: 404 });
        await expect(operations.cancel(other, name)).rejects.toMatchObject({ status: 404 });
        await expect(events(other.platform, other.viewer, name).next()).rejects.toMatchObject({ status: 404 });
      }
    }
  });
});

describe('waiting', () => {
  test('the caller gets the result of work that another process did', async ({ world }) => {
    const ann = await world.caller();
    const worker = await world.worker();
    const record = await wait(ann, await count(ann));
    expect(record).toMatchObject({
      status: 'succeeded',
      percent: 100,
      error: null,
      result: { pid: worker.pid, attempt: 1 },
    });
    expect(record.finishedAt).toBeInstanceOf(Date);
  });

  test('a failure reaches the caller as it happened; ours says no more than that', async ({ world }) => {
    const ann = await world.caller();
    await world.here(countingHandlers());
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

  test('a caller who hangs up ends the waiting and nothing else', async ({ world }) => {
    const ann = await world.caller();
    const hungUp = new AbortController();
    const id = await count(ann);
    const waiting = wait({ ...ann, request: { ...ann.request, signal: hungUp.signal } }, id);
    hungUp.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await world.here(countingHandlers());
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded' });
  });
});

describe('following', () => {
  test('every state is told, from the current to the final one, whichever process works', async ({ world }) => {
    const ann = await world.caller();
    await world.worker();
    const told: OperationRecord[] = [];
    for await (const record of events(world.platform, ann.viewer, await count(ann, { until: 5, every: 150 })))
      told.push(record);

    expect([...new Set(told.map((record) => record.status))]).toEqual(['queued', 'running', 'succeeded']);
    expect(told.map((record) => record.sequence)).toEqual(
      told.map((record) => record.sequence).toSorted((a, b) => a - b),
    );
    expect(told.map((record) => record.percent)).toContain(60);
    expect(told.at(-1)).toMatchObject({ current: 5, total: 5, percent: 100, message: 'Number 5' });
  });

  test('a finished operation is told once', async ({ world }) => {
    const ann = await world.caller();
    const id = await count(ann);
    await operations.cancel(ann, id);
    const told: string[] = [];
    for await (const record of events(world.platform, ann.viewer, id)) told.push(record.status);
    expect(told).toEqual(['cancelled']);
  });

  test('who stops following is not followed up', async ({ world }) => {
    const ann = await world.caller();
    const told = events(world.platform, ann.viewer, await count(ann));
    expect(await told.next()).toMatchObject({ done: false, value: { status: 'queued' } });
    const pending = told.next();
    expect(await told.return()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
  });

  test('percentages are written at most ten times a second', async ({ world }) => {
    const ann = await world.caller();
    await world.here(countingHandlers());
    const record = await wait(ann, await count(ann, { until: 300, every: 1 }));
    const writes = (record.finishedAt!.getTime() - record.startedAt!.getTime()) / 100;
    // The claim, the end, and what is still untold at the end come beside the rhythm.
    expect(record.sequence).toBeLessThanOrEqual(writes + 4);
    expect(record.current).toBe(300);
  });
});

describe('cancelling', () => {
  test('what runs elsewhere stops, and who waited gets 409 CANCELLED', async ({ world }) => {
    const ann = await world.caller();
    await world.worker();
    const id = await count(ann, { until: 1_000_000, every: 10 });
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

  test('what still waits in the queue ends at once and is never begun', async ({ world }) => {
    const ann = await world.caller();
    const id = await count(ann);
    expect(await operations.cancel(ann, id)).toMatchObject({ status: 'cancelled', startedAt: null });
    await world.here(countingHandlers());
    await wait(ann, await count(ann));
    expect(await operations.get(ann, id)).toMatchObject({ status: 'cancelled', startedAt: null });
  });

  test('what does not listen is not published all the same', async ({ world }) => {
    const ann = await world.caller();
    await world.here(countingHandlers());
    const id = await count(ann, { until: 30, every: 30, ignoreSignal: true });
    await until(ann, id, 'running');
    await operations.cancel(ann, id);
    await expect(wait(ann, id)).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await published(world)).toEqual([]);
  });
});

describe('concurrency keys', () => {
  const sameKey = { concurrencyKey: 'dataset:1', fingerprint: 'same' };

  test('one runs at a time, in the order of asking; an identical third joins the second', async ({ world }) => {
    const [ann, bob] = [await world.caller(), await world.caller()];
    const first = await count(ann, { until: 1_000_000, every: 10 }, sameKey);
    await world.here(countingHandlers());
    await until(ann, first, 'running');
    const second = await count(ann, {}, sameKey);
    const third = await count(bob, {}, sameKey);
    const other = await count(ann, {}, { ...sameKey, fingerprint: 'other' });
    expect(await rows(world, `select id from dws.operation where status = 'running'`)).toEqual([{ id: first }]);

    await operations.cancel(ann, first);
    const [a, b, c] = await Promise.all([wait(ann, second), wait(bob, third), wait(ann, other)]);
    expect(a.startedAt).toEqual(b.startedAt);
    expect(c.startedAt!.getTime()).toBeGreaterThanOrEqual(a.finishedAt!.getTime());
    expect(await published(world)).toEqual([1, 1]);
  });

  test('cancelling ends only the caller’s wait, unless it is the last', async ({ world }) => {
    const [ann, bob] = [await world.caller(), await world.caller()];
    const [first, joined] = [
      await count(ann, { until: 1_000_000, every: 10 }, sameKey),
      await count(bob, { until: 1_000_000, every: 10 }, sameKey),
    ];
    await world.here(countingHandlers());
    await until(bob, joined, 'running');
    expect(await operations.cancel(ann, first)).toMatchObject({ status: 'cancelled' });
    const seen = (await operations.get(bob, joined)).current;
    await eventually(async () => (await operations.get(bob, joined)).current > seen);
    await operations.cancel(bob, joined);
    await expect(wait(bob, joined)).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  test('one tenant takes at most half of a worker', async ({ world }) => {
    const [ann, eve] = [await world.caller(), await world.caller(newId())];
    const running = new Map<string, number>();
    let most = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const patient: Handler<'test.count'> = {
      takeover: false,
      async run({ tenantId, attempt }) {
        running.set(tenantId, (running.get(tenantId) ?? 0) + 1);
        most = Math.max(most, ...running.values());
        await released;
        running.set(tenantId, running.get(tenantId)! - 1);
        return { publish: async () => ({ pid: process.pid, attempt }) };
      },
    };
    const annes = [await count(ann), await count(ann), await count(ann), await count(ann)];
    await world.here({ 'test.count': patient });
    await eventually(async () => running.get(ann.viewer.tenantId) === 2);
    const eves = await count(eve);
    await until(eve, eves, 'running');
    release();
    await Promise.all([...annes.map((id) => wait(ann, id)), wait(eve, eves)]);
    expect(most).toBe(2);
  });
});

test('records stay seven days after the end', async ({ world }) => {
  const ann = await world.caller();
  const [old, young, open] = [await count(ann), await count(ann), await count(ann)];
  for (const id of [old, young]) await operations.cancel(ann, id);
  await rows(
    world,
    `update dws.operation set created_at = now() - interval '9 days', finished_at = case when id = $1 then now() - interval '169 hours' when id = $2 then now() - interval '167 hours' end`,
    [old, young],
  );
  await reconcile(world.platform, {}, QUICK);
  expect((await rows(world, 'select id from dws.operation order by id')).map(({ id }) => id)).toEqual([young, open]);
});

import { describe, expect } from 'vitest';
import { Interrupted } from '../../src/operations/handler.ts';
import { events } from '../../src/services/operation/operation-events.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { runSql } from '../support/run-sql.ts';
import { countingHandlers } from './counting.ts';
import { count, eventually, published, rows, test, until } from './fixture.ts';

describe('workers that die', () => {
  test('what a killed worker did starts again elsewhere', async ({ world }) => {
    const ann = await world.caller();
    const doomed = await world.worker();
    const id = await count(ann, { until: 300, every: 10 });
    await until(ann, id, 'running');
    await doomed.kill('SIGKILL');
    const heir = await world.worker();
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { pid: heir.pid, attempt: 2 } });
    expect(await published(world)).toEqual([2]);
  });

  test('what must not be done twice is recorded failed', async ({ world }) => {
    const ann = await world.caller();
    const doomed = await world.worker('mortal counting');
    const id = await count(ann, { until: 1_000_000, every: 10 });
    await until(ann, id, 'running');
    await doomed.kill('SIGKILL');
    await world.here(countingHandlers({ takeover: false }));
    await expect(wait(ann, id)).rejects.toMatchObject({
      status: 500,
      message: 'The process that did the work ended before it was done',
    });
    expect(await published(world)).toEqual([]);
  });

  test('a worker that was away too long publishes nothing when it is back', async ({ world }) => {
    const ann = await world.caller();
    const sleepy = await world.worker();
    const id = await count(ann, { until: 50, every: 20 });
    await until(ann, id, 'running');
    sleepy.child.kill('SIGSTOP');
    const heir = await world.worker();
    const record = await wait(ann, id);
    sleepy.child.kill('SIGCONT');
    // Back again, it does what is next; by then it has let go of what it held.
    await heir.kill('SIGKILL');
    expect(await wait(ann, await count(ann))).toMatchObject({ result: { pid: sleepy.pid } });
    await sleepy.kill('SIGTERM');
    expect(record.result).toEqual({ pid: heir.pid, attempt: 2 });
    expect(await operations.get(ann, id)).toEqual(record);
    expect(await rows(world, `select records from dws.generation where dataset_id = $1`, [record.resourceId])).toEqual([
      { records: 2 },
    ]);
  });

  test('a worker told to end hands back what it cannot finish', async ({ world }) => {
    const ann = await world.caller();
    const leaving = await world.worker();
    const id = await count(ann, { until: 200, every: 20 });
    await until(ann, id, 'running');
    await leaving.kill('SIGTERM');
    expect(leaving.child.exitCode).toBe(0);
    expect(await operations.get(ann, id)).toMatchObject({ status: 'queued' });
    await world.here(countingHandlers());
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { attempt: 2 } });
  });

  test('work that is interrupted each time is begun three times at most', async ({ world }) => {
    const ann = await world.caller();
    const attempts: number[] = [];
    await world.here({
      'test.count': {
        takeover: true,
        run: async ({ attempt }) => {
          attempts.push(attempt);
          throw new Interrupted('Out of memory');
        },
      },
    });
    await expect(wait(ann, await count(ann))).rejects.toMatchObject({ status: 500 });
    expect(attempts).toEqual([1, 2, 3]);
  });

  test('what waits without a job in the queue is found', async ({ world }) => {
    const ann = await world.caller();
    const id = await count(ann);
    await rows(world, `update dws.operation set updated_at = now() - interval '1 minute'`);
    await runSql(world.url, 'delete from dws_jobs.job_common');
    await world.here(countingHandlers());
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded' });
  });
});

test('a Postgres that drops all connections costs nobody their answer', async ({ world }) => {
  const ann = await world.caller();
  await world.worker();
  const id = await count(ann, { until: 60, every: 25 });
  const told: string[] = [];
  const following = (async () => {
    for await (const record of events(world.platform, ann.viewer, id)) told.push(record.status);
  })();
  const waiting = wait(ann, id);
  await until(ann, id, 'running');
  await runSql(
    world.url,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  expect(await waiting).toMatchObject({ status: 'succeeded' });
  await following;
  expect(told.at(-1)).toBe('succeeded');
  expect(await wait(ann, await eventually(() => count(ann).catch(() => null)))).toMatchObject({ status: 'succeeded' });
});

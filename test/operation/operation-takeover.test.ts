import { describe, expect } from 'vitest';
import { Interrupted } from '../../src/operations/handler.ts';
import { followOperation, wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { runSql } from '../support/run-sql.ts';
import { countingHandlers } from './counting.ts';
import { collect, count, eventually, published, rows, test, until } from './fixture.ts';

describe('the operation of a worker', () => {
  test('that is killed restarts on another worker', async ({ world }) => {
    const ann = await world.caller();
    const killed = await world.startWorkerProcess();
    const id = await count(ann, { until: 300, every: 10 });
    await until(ann, id, 'running');
    await killed.kill('SIGKILL');
    const successor = await world.startWorkerProcess();
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { pid: successor.pid, attempt: 2 } });
    expect(await published(world)).toEqual([2]);
  });

  test('that is killed is recorded as failed if it must not run twice', async ({ world }) => {
    const ann = await world.caller();
    const killed = await world.startWorkerProcess('counting without takeover');
    const id = await count(ann, { until: 1_000_000, every: 10 });
    await until(ann, id, 'running');
    await killed.kill('SIGKILL');
    await world.startWorker(countingHandlers({ takeover: false }));
    await expect(wait(ann, id)).rejects.toMatchObject({
      status: 500,
      message: 'The worker process ended before the operation was done',
    });
    expect(await published(world)).toEqual([]);
  });

  test('that was suspended too long publishes nothing when the worker resumes', async ({ world }) => {
    const ann = await world.caller();
    const suspended = await world.startWorkerProcess();
    const id = await count(ann, { until: 50, every: 20 });
    await until(ann, id, 'running');
    suspended.child.kill('SIGSTOP');
    const successor = await world.startWorkerProcess();
    const record = await wait(ann, id);
    suspended.child.kill('SIGCONT');

    // The resumed worker runs the next operation. By then it has released its lease on the first.
    await successor.kill('SIGKILL');
    expect(await wait(ann, await count(ann))).toMatchObject({ result: { pid: suspended.pid } });
    await suspended.kill('SIGTERM');

    expect(record.result).toEqual({ pid: successor.pid, attempt: 2 });
    expect(await operations.get(ann, id)).toEqual(record);
    const generations = await rows(world, `select records from dws.generation where dataset_id = $1`, [
      record.resourceId,
    ]);
    expect(generations).toEqual([{ records: 2 }]);
  });

  test('that shuts down is queued again if it cannot finish', async ({ world }) => {
    const ann = await world.caller();
    const leaving = await world.startWorkerProcess();
    const id = await count(ann, { until: 200, every: 20 });
    await until(ann, id, 'running');
    await leaving.kill('SIGTERM');
    expect(leaving.child.exitCode).toBe(0);
    expect(await operations.get(ann, id)).toMatchObject({ status: 'queued' });
    await world.startWorker(countingHandlers());
    expect(await wait(ann, id)).toMatchObject({ status: 'succeeded', result: { attempt: 2 } });
  });

  test('that interrupts each attempt runs three times at most', async ({ world }) => {
    const ann = await world.caller();
    const attempts: number[] = [];
    await world.startWorker({
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
});

test('an operation whose job was lost from the queue is sent again', async ({ world }) => {
  const ann = await world.caller();
  const id = await count(ann);
  await rows(world, `update dws.operation set updated_at = now() - interval '1 minute'`);
  await runSql(world.url, 'delete from dws_jobs.job_common');
  await world.startWorker(countingHandlers());
  expect(await wait(ann, id)).toMatchObject({ status: 'succeeded' });
});

test('callers get their results although Postgres drops all connections', async ({ world }) => {
  const ann = await world.caller();
  await world.startWorkerProcess();
  const id = await count(ann, { until: 60, every: 25 });
  const following = collect(followOperation(world.platform, ann.viewer, id));
  const waiting = wait(ann, id);
  await until(ann, id, 'running');
  await runSql(
    world.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );

  expect(await waiting).toMatchObject({ status: 'succeeded' });
  expect((await following).at(-1)!.status).toBe('succeeded');
  const next = await eventually(() => count(ann).catch(() => null));
  expect(await wait(ann, next)).toMatchObject({ status: 'succeeded' });
});

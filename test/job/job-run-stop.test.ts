import { expect } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { GATED, makeMillion } from '../support/million-rows.ts';
import { test, type JobCluster } from './job-cluster.ts';
import { createJob, type TestJob } from './job-fixture.ts';

/** Creates a job that refreshes a dataset, which waits at its gate. */
async function createGatedJob({ caller, onEnd }: JobCluster, name: string) {
  const dataset = await makeMillion(caller, GATED);
  onEnd(dataset.drop);
  const job = await createJob(caller, { name, type: 'dataset-refresh', datasets: { a: dataset.id } });
  return { ...job, dataset, openGate: await dataset.closeGate() };
}

/** Starts a run, and waits until its refresh runs in the source. */
async function startRefreshing(caller: Client, { path, dataset }: Awaited<ReturnType<typeof createGatedJob>>) {
  await expectStatus(caller.post(path, {}, { prefer: 'respond-async' }), 202);
  await eventually(async () => (await dataset.running()).length > 0);
}

const lastRun = async (caller: Client, { path }: TestJob) =>
  (await caller.get(`${path}/history`)).body._embedded['svc:job-history'][0];

test('a worker that is stopped lets runs end for 20 seconds, then records them as failed; others go on', async ({
  cluster,
}) => {
  const { caller, startWorker, sql } = cluster;
  const [quick, slow] = [await createGatedJob(cluster, 'Quick'), await createGatedJob(cluster, 'Slow')];
  // Two concurrent refreshes of a user.
  const leaving = await startWorker({ WORKER_CONCURRENCY: '8' });
  await startRefreshing(caller, quick);
  await startRefreshing(caller, slow);

  const exited = leaving.end('SIGTERM');
  await quick.openGate();
  expect(await exited).toBe(0);
  expect(await lastRun(caller, quick)).toMatchObject({ status: 'succeeded', success: true, error: null });
  expect(await lastRun(caller, slow)).toMatchObject({
    status: 'failed',
    success: false,
    error: 'The worker process ended before the operation was done',
    history: [],
  });
  for (const job of [quick, slow]) await expectBody(caller.get(job.path), 200, { lockedAt: null, heartbeat: null });

  // Neither the run nor its refresh is repeated.
  await startWorker();
  await eventually(async () => (await slow.dataset.running()).length === 0);
  await slow.openGate();
  await expectBody(caller.post(slow.path, {}), 200, { success: true });
  const operations = await sql(
    `select operation, status, attempt from dws.operation where resource_id = any($1) order by id`,
    [[slow.id, slow.dataset.id]],
  );
  expect(operations).toEqual([
    { operation: 'job.run', status: 'failed', attempt: 1 },
    { operation: 'dataset.refresh', status: 'cancelled', attempt: 1 },
    { operation: 'job.run', status: 'succeeded', attempt: 1 },
    { operation: 'dataset.refresh', status: 'succeeded', attempt: 1 },
  ]);
});

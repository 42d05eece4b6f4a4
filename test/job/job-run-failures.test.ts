import { expect } from 'vitest';
import { startDueJobs } from '../../src/services/job/job-due.ts';
import { recoverJobs } from '../../src/services/job/job-recovery.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { fillStorage, STORAGE_FULL } from '../support/full-storage.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createJob, createNotify } from './job-fixture.ts';
import { latestRun, test } from './job-run-fixture.ts';

/** Creates a job of ann's with one action, and returns how to let it fail or succeed, without a source. */
async function createFailing(ann: Client, service: Service, datasetId: string) {
  const job = await createJob(ann);
  const action = await createNotify(ann, job, 'Counted');
  await ann.creates(`${job.path}/actions/${action}/job-action-run-conditions`, {
    type: 'criteria',
    data: { datasetId, criteria: { region: 'EU' }, op: 'gte', count: 0 },
  });
  const set = (field: string) =>
    systemQuery(
      service,
      `update dws.job_action_condition
      set data = jsonb_set(data, '{criteria}', jsonb_build_object($2::text, 'EU'))
      where job_action_id = $1`,
      action,
      field,
    );
  return { job, fail: () => set('vanished'), work: () => set('region') };
}

test('the owner is notified of the first failed run of a streak', async ({ ann, orders, service }) => {
  const { job, fail, work } = await createFailing(ann, service, orders.id);
  const notified = async () => {
    const { notifications } = await ann.data(
      `{ notifications(limit: 100) { items { type message resource { id } } } }`,
    );
    return notifications.items.filter(({ type }: { type: string }) => type === 'JOB_RUN_FAILED');
  };
  const runs = async (...states: ('fails' | 'works')[]) => {
    for (const state of states) {
      await (state === 'fails' ? fail() : work());
      await expectBody(ann.post(job.path), 200, { success: state === 'works' });
    }
  };
  await runs('works');
  expect(await notified()).toEqual([]);
  await runs('fails', 'fails', 'fails');
  expect(await notified()).toEqual([
    { type: 'JOB_RUN_FAILED', message: 'A run of the job Nightly failed', resource: { id: job.id } },
  ]);
  await runs('works', 'fails', 'fails');
  expect(await notified()).toHaveLength(2);
  await runs('works');
  await expectStatus(ann.put(job.path, { data: { notifyOnFailure: false } }), 200);
  await runs('fails');
  expect(await notified()).toHaveLength(2);
});

test('a failed run is an activity of the job and in the feed of its team', async ({
  ann,
  admin,
  refreshJob,
  switched,
}) => {
  const { id } = await admin.creates('/teams', { name: 'Analysts' });
  await expectStatus(admin.put(`/teams/${id}/members/ann`, { role: 'memberPlus' }), 200);
  const job = await refreshJob({}, { ownerId: `team:${id}` });
  await switched.set('fails');
  await expectBody(ann.post(job.path), 200, { success: false });
  const { body: activity } = await ann.get(`${job.path}/activity`);
  expect(activity._embedded['svc:activity'][0]).toMatchObject({
    type: 'job.run.failed',
    message: 'A run of Nightly failed',
  });
  const { body: feed } = await ann.get(`/teams/${id}/feed`);
  expect(Object.values<{ type: string }[]>(feed._embedded)[0]![0]).toMatchObject({ type: 'jobRunFailed' });
});

test('a run is metered once, for its owner, with its seconds', async ({ ann, admin, refreshJob }) => {
  const job = await refreshJob();
  await expectBody(ann.post(job.path), 200, { success: true });
  const { id, duration } = await latestRun(ann, job);
  const { body } = await admin.get('/usage/events?limit=1000');
  const events = body._embedded['svc:usage-event'].filter(({ entityId }: { entityId: string }) => entityId === job.id);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    key: `job:${id}`,
    actor: `user:${ann.id}`,
    resourceType: 'job_compute',
    metadata: { trigger: 'manual', status: 'succeeded' },
  });
  expect(Number(events[0].quantity)).toBeGreaterThan(0);
  expect(Math.abs(Number(events[0].quantity) - duration / 1000)).toBeLessThan(0.01);
  expect(Number(events[0].credits)).toBeCloseTo(Number(events[0].quantity) * 0.01, 5);
});

test('a job keeps its latest 1,000 runs', async ({ ann, service }) => {
  const job = await createJob(ann);
  await systemQuery(
    service,
    `insert into dws.job_run (id, tenant_id, job_id, trigger, status, created_at)
    select gen_random_uuid(), j.tenant_id, j.id, 'manual', 'succeeded', now() - n * interval '1 minute'
    from dws.job j, generate_series(1, 1005) n
    where j.id = $1`,
    job.id,
  );
  await expectBody(ann.post(job.path), 200, { success: true });
  const { body } = await ann.get(`${job.path}/history?limit=1000`);
  expect(body.total).toBe(1000);
  expect(body._embedded['svc:job-history'][0].id).toBe((await latestRun(ann, job)).id);
});

test('a run whose clock was set back ends, with no usage', async ({ ann, service, refreshJob, switched }) => {
  const job = await refreshJob();
  await switched.set('waits');
  const waiting = ann.post(job.path, { progress: 'in the past' });
  await expect.poll(() => switched.waiting()).toBe(1);
  await systemQuery(service, `update dws.job_run set started_at = now() + interval '1 hour' where job_id = $1`, job.id);
  await expectStatus(ann.delete('/progress/in the past'), 202);
  await waiting;
  expect(await latestRun(ann, job)).toMatchObject({ status: 'cancelled', duration: 0 });
  await expectBody(ann.get(job.path), 200, { lockedAt: null });
});

test('a run without its operation, as in a restored backup, ends at its last heartbeat', async ({ ann, service }) => {
  const job = await createJob(ann);
  await systemQuery(
    service,
    `with run as (
      insert into dws.job_run (id, tenant_id, job_id, trigger, status, started_at)
      select gen_random_uuid(), tenant_id, id, 'schedule', 'running', date_trunc('milliseconds', now()) - interval '7 days'
      from dws.job
      where id = $1
    )
    update dws.job
    set locked_at = now() - interval '7 days',
      heartbeat = date_trunc('milliseconds', now()) - interval '7 days' + interval '90 s'
    where id = $1`,
    job.id,
  );
  await recoverJobs(service.platform);
  const run = await latestRun(ann, job);
  expect(run).toMatchObject({ status: 'failed', error: 'The worker process ended before the run was done' });
  expect(Math.round(run.duration)).toBe(90_000);
  await expectBody(ann.get(job.path), 200, { lockedAt: null, heartbeat: null });
});

test('a scheduled run on a full quota is recorded as failed before its first action', async ({ ann, service }) => {
  const job = await createJob(ann, { interval: '1 hour', intervalType: 'simple', enabled: true });
  await createNotify(ann, job, 'Counted');
  const notified = () =>
    systemQuery(
      service,
      `select id from dws.notification where type = 'job.notification' and resource_id = $1`,
      job.id,
    );
  const empty = await fillStorage(service);
  await startDueJobs(service.platform, new Date(Date.now() + 2 * 3_600_000));
  await expect.poll(async () => (await latestRun(ann, job))?.status).toBe('failed');
  await expectBody(ann.get(`${job.path}/history`), 200, {
    _embedded: { 'svc:job-history': [{ status: 'failed', error: STORAGE_FULL, history: [], success: false }] },
  });
  const { job: read } = await ann.data(`{ job(id: "${job.id}") { runs { status error } } }`);
  expect(read.runs).toEqual([{ status: 'FAILED', error: STORAGE_FULL }]);
  await expectError(ann.post(job.path), 413, STORAGE_FULL);
  expect(await notified()).toEqual([]);
  await empty();
  await expectBody(ann.post(job.path), 200, { success: true });
  expect(await notified()).toHaveLength(1);
});

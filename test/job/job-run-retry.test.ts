import { describe, expect } from 'vitest';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { createNotify, createRefresh, latestRun, test } from './job-run-fixture.ts';

type Run = Awaited<ReturnType<typeof latestRun>>;
const keysOf = ({ history }: Run): string[] => history.map(({ task }: { task: { key: string } }) => task.key);

describe('a failed run', () => {
  test('is continued from the first failed action, with the results before it', async ({
    ann,
    orders,
    refreshJob,
    switched,
  }) => {
    const job = await refreshJob();
    const last = await createNotify(ann, job, 'Last');
    const first = await createRefresh(ann, job, orders.id, 'First');
    await expectStatus(ann.post(`${job.path}/_job-action-order`, { actions: [first, job.actionId, last] }), 200);
    await switched.set('fails');
    await expectBody(ann.post(job.path), 200, { success: false });
    const failed = await latestRun(ann, job);
    expect(keysOf(failed)).toEqual([`action:${first}`, job.key]);
    const { dataUpdatedAt } = (await ann.get(orders.path)).body;

    await switched.set('works');
    await expectBody(ann.post(`${job.path}/history/${failed.id}/_retry`), 200, { success: true });
    const retried = await latestRun(ann, job);
    expect(retried).toMatchObject({ trigger: 'retry', status: 'succeeded', success: true, error: null });
    expect(retried).toMatchObject({
      userId: ann.id,
      retryOfId: failed.id,
      _links: {
        'svc:user': { href: `/api/users/${ann.id}` },
        'svc:retry-of': { href: `/api${job.path}/history/${failed.id}` },
      },
    });
    expect(failed).toMatchObject({ userId: ann.id, retryOfId: null });
    expect(failed._links).not.toHaveProperty('svc:retry-of');
    const { job: found } = await ann.data(
      `{ job(id: "${job.id}") { runs(limit: 1) { userId user { username } retryOfId retryOf { status } } } }`,
    );
    expect(found.runs).toEqual([
      { userId: ann.id, user: { username: 'ann' }, retryOfId: failed.id, retryOf: { status: 'FAILED' } },
    ]);
    expect(keysOf(retried)).toEqual([`action:${first}`, job.key, `action:${last}`]);
    expect(retried.history[0]).toEqual(failed.history[0]);
    await expectBody(ann.get(orders.path), 200, { dataUpdatedAt });
    await expectBody(ann.get(`${job.path}/history/${failed.id}`), 200, { status: 'failed' });
    await expectError(ann.post(`${job.path}/history/${retried.id}/_retry`), 409);
  });

  test('is continued from an action, or from the key of a task', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob();
    const last = await createNotify(ann, job, 'Last');
    await ann.creates(`${job.path}/actions/${last}/job-action-run-conditions`, { type: 'always' });
    await switched.set('fails');
    await expectBody(ann.post(job.path), 200, { success: false });
    const failed = await latestRun(ann, job);
    const retry = (from: string) => ann.post(`${job.path}/history/${failed.id}/_retry`, { from });
    // The failure that was kept is one of the new run too.
    await expectBody(retry(last), 200, { success: false });
    expect((await latestRun(ann, job)).error).toBe(failed.history[0].result.error);
    await switched.set('works');
    await expectBody(retry(job.key), 200, { success: true });
    await expectInvalid(
      retry('dataset:unknown'),
      'from',
      'from must be an action of the job, or the key of a task of the run',
    );
    const { retryJobRun } = await ann.data(
      `mutation ($job: ID!, $run: ID!) { retryJobRun(jobId: $job, runId: $run) { result { success } } }`,
      { job: job.id, run: failed.id },
    );
    expect(retryJobRun.result.success).toBe(true);
  });
});

describe('a run that was cancelled', () => {
  test('is continued after the last task that ended, which is not repeated', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob();
    const first = await createNotify(ann, job, 'First');
    const last = await createNotify(ann, job, 'Last');
    await expectStatus(ann.post(`${job.path}/_job-action-order`, { actions: [first, job.actionId, last] }), 200);
    await switched.set('waits');
    const waiting = ann.post(job.path, { progress: 'cancelled' });
    await expect.poll(() => switched.waiting()).toBe(1);
    await expectStatus(ann.delete('/progress/cancelled'), 202);
    await waiting;
    await expect.poll(() => switched.waiting()).toBe(0);
    await switched.set('works');
    const cancelled = await latestRun(ann, job);
    expect(keysOf(cancelled)).toEqual([`action:${first}`]);
    await expectBody(ann.post(`${job.path}/history/${cancelled.id}/_retry`), 200, { success: true });
    const retried = await latestRun(ann, job);
    expect(keysOf(retried)).toEqual([`action:${first}`, job.key, `action:${last}`]);
    expect(retried.history[0]).toEqual(cancelled.history[0]);
  });

  test('is not continued from a failed action that was deleted', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob();
    const other = await createNotify(ann, job, 'Other');
    await switched.set('fails');
    await expectBody(ann.post(job.path), 200, { success: false });
    const failed = await latestRun(ann, job);
    await expectStatus(ann.delete(`${job.path}/actions/${job.actionId}`), 204);
    const retry = (body?: object) => ann.post(`${job.path}/history/${failed.id}/_retry`, body);
    await expectError(retry(), 409, /no longer a part of the job/);
    await expectStatus(retry({ from: job.key }), 400);
    await expectBody(retry({ from: other.toUpperCase() }), 200, { success: true });
  });
});

describe('a run', () => {
  test('is cancelled by others too, down to the statement in the source', async ({
    ann,
    admin,
    refreshJob,
    switched,
  }) => {
    const job = await refreshJob({ retry: { times: 3, delay: 10 } });
    await createNotify(ann, job, 'Never');
    await switched.set('waits');
    const waiting = ann.post(job.path);
    await expect.poll(() => switched.waiting()).toBe(1);
    const { id, status } = await latestRun(ann, job);
    expect(status).toBe('running');
    await expectStatus(admin.post(`${job.path}/history/${id}/_cancel`), 200);
    await expectError(waiting, 409);
    await expect.poll(() => switched.waiting()).toBe(0);
    const run = await latestRun(ann, job);
    expect(run).toMatchObject({ status: 'cancelled', success: false, error: 'The run was cancelled', history: [] });
    await expectBody(ann.get(job.path), 200, { lockedAt: null });
    await expectError(admin.post(`${job.path}/history/${id}/_cancel`), 409);
    await switched.set('works');
    await expectBody(ann.post(job.path), 200, { success: true });
  });

  test('that is deleted with its job stops', async ({ ann, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('waits');
    const waiting = ann.post(job.path);
    await expect.poll(() => switched.waiting()).toBe(1);
    await expectStatus(ann.delete(job.path), 204);
    await expectError(waiting, 409);
    await expect.poll(() => switched.waiting()).toBe(0);
  });
});

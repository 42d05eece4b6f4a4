import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { createJob } from './job-fixture.ts';
import { createSwitched, createRefresh, latestRun, test } from './job-run-fixture.ts';

describe('a run', () => {
  test('has the rights of the owner of the job, not the rights of the caller', async ({
    ann,
    bob,
    refreshJob,
    switched,
  }) => {
    const job = await refreshJob();
    await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 2 }), 200);
    await expectStatus(bob.get(switched.path), 404);
    await expectBody(bob.post(job.path), 200, { success: true });
    const { activity } = (
      await ann.data(`query ($id: ID!) { dataset(id: $id) { activity { items { type user { name } } } } }`, {
        id: switched.id,
      })
    ).dataset;
    expect(activity.items[0]).toEqual({ type: 'DATASET_REFRESHED', user: { name: 'ann' } });
    const { run } = (
      await ann.data(`query ($id: ID!, $run: ID!) { job(id: $id) { run(runId: $run) { user { username } } } }`, {
        id: job.id,
        run: (await latestRun(ann, job)).id,
      })
    ).job;
    expect(run.user.username).toBe('bob');
  });

  test('fails when the owner has lost a right', async ({ ann, bob, admin, refreshJob, switched }) => {
    const job = await refreshJob();
    await expectStatus(admin.put(`${job.path}/owner`, { ownerId: bob.id }), 200);
    await expectBody(admin.post(job.path), 200, { success: false });
    expect((await latestRun(bob, job)).error).toBe(`Refresh: There is no dataset ${switched.id}`);
    await expectStatus(ann.put(`${switched.path}/shares/bob`, { accessLevel: 1 }), 200);
    await expectBody(admin.post(job.path), 200, { success: false });
    expect((await latestRun(bob, job)).error).toMatch(/^Refresh: .*dataset:refresh/);
    await expectStatus(ann.delete(`${switched.path}/shares/bob`), 204);
  });

  test('fails with a sentence while an administrator locks the owner', async ({ admin, service }) => {
    const job = await createJob(await service.user('carlo'));
    await expectStatus(admin.put('/users/carlo', { locked: true }), 200);
    await expectBody(admin.post(job.path), 200, { success: false, history: [] });
    expect((await latestRun(admin, job)).error).toBe('The owner cannot run it: The user carlo is locked');
    await expectStatus(admin.put('/users/carlo', { locked: false }), 200);
    await expectBody(admin.post(job.path), 200, { success: true });
  });

  test('fails with a sentence when the owner is disabled', async ({ admin, service }) => {
    const carol = await service.user('carol');
    const job = await createJob(carol);
    await expectStatus(carol.put(`${job.path}/shares/ann`, { accessLevel: 2 }), 200);
    await expectStatus(admin.put('/users/carol', { enabled: false }), 200);
    await expectBody(admin.post(job.path), 200, { success: false, history: [] });
    expect((await latestRun(admin, job)).error).toBe('The owner cannot run it: The user carol is disabled');
  });

  test('of a team has the rights of the team, and none of its members', async ({ ann, admin, shop, source }) => {
    const { id } = await admin.creates('/teams', { name: 'Night shift' });
    await expectStatus(admin.put(`/teams/${id}/members/ann`, { role: 'memberPlus' }), 200);
    const own = await createSwitched(ann, shop, source.id);
    const job = await createJob(ann, { ownerId: `team:${id}` });
    await createRefresh(ann, job, own.id);
    await expectBody(ann.post(job.path), 200, { success: false });
    expect((await latestRun(ann, job)).error).toBe(`Refresh: There is no dataset ${own.id}`);
    await expectStatus(ann.put(`${own.path}/shares/team:${id}`, { accessLevel: 2 }), 200);
    await expectBody(ann.post(job.path), 200, { success: true });
    const { body } = await admin.get('/usage/events?limit=1000');
    const events: { entityId: string }[] = body._embedded['svc:usage-event'];
    expect(events.findLast(({ entityId }) => entityId === job.id)).toMatchObject({
      actor: `user:${ann.id}`,
      entityType: 'job',
      entityId: job.id,
      resourceType: 'job_compute',
    });
  });

  test('requires job:run, and a reader sees neither errors nor logs', async ({ ann, bob, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('fails');
    await expectBody(ann.post(job.path), 200, { success: false });
    await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 1 }), 200);
    await expectError(bob.post(job.path), 403, /job:run/);
    await expectGraphqlError(
      bob.gql(`mutation ($id: ID!) { runJob(id: $id) { operation { id } } }`, { id: job.id }),
      'FORBIDDEN',
    );
    const run = await latestRun(ann, job);
    expect(run.error).toMatch(/^Refresh: /);
    expect(run.history[0].result).toMatchObject({ success: false, error: expect.any(String), log: /failed/ });
    const seen = await latestRun(bob, job);
    expect(seen).toMatchObject({ status: 'failed', success: false, error: null });
    expect(seen.history).toEqual([
      {
        task: { key: job.key },
        result: { ...run.history[0].result, error: null, log: null },
      },
    ]);
    for (const action of ['_retry', '_cancel'])
      await expectError(bob.post(`${job.path}/history/${run.id}/${action}`), 403, /job:run/);
  });

  test('of another tenant or an unknown job is 404', async ({ stranger, anonymous, refreshJob, ann }) => {
    const job = await refreshJob();
    await expectBody(ann.post(job.path), 200, { success: true });
    const run = `${job.path}/history/${(await latestRun(ann, job)).id}`;
    await expectStatus(stranger.post(job.path), 404);
    await expectStatus(anonymous.post(job.path), 401);
    for (const path of [run, `${job.path}/history`]) {
      await expectStatus(stranger.get(path), 404);
      await expectStatus(anonymous.get(path), 401);
    }
    const other = await refreshJob();
    await expectError(ann.get(`${other.path}/history/${run.split('/').at(-1)}`), 404, /job run/);
    await expectError(ann.post(`${other.path}/history/${run.split('/').at(-1)}/_retry`), 404, /job run/);
  });
});

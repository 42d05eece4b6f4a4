import { describe, expect } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { createJob, type TestJob } from './job-fixture.ts';
import { createNotify, latestRun, test } from './job-run-fixture.ts';

const TIME = '2027-01-01T00:00:00.000Z';
const LOCKED = 'A superuser has locked the job';
const DENIED = 'You lack the permission tenant:superuser';

/** Sets `lockedAt` by GraphQL. */
const lockByGraphql = (client: Client, { id }: TestJob, lockedAt: string | null) =>
  client.gql(
    `mutation ($id: ID!, $lockedAt: DateTime) { updateJob(id: $id, input: { lockedAt: $lockedAt }) { lockedAt } }`,
    { id, lockedAt },
  );

describe('lockedAt of a job', () => {
  test('is set and cleared by superusers only, in both APIs', async ({ ann, bob, admin }) => {
    const job = await createJob(ann);
    await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 3 }), 200);
    for (const client of [ann, bob]) {
      await expectError(client.put(job.path, { lockedAt: TIME }), 403, DENIED);
      await expectGraphqlError(lockByGraphql(client, job, TIME), 'FORBIDDEN', DENIED);
    }
    await expectBody(admin.put(job.path, { lockedAt: TIME }), 200, { lockedAt: TIME, heartbeat: null });
    const { body } = await ann.get(job.path);
    await expectBody(ann.put(job.path, { ...body, notes: 'seen' }), 200, { lockedAt: TIME, notes: 'seen' });
    for (const value of [null, '2001-01-01T00:00:00.000Z'])
      await expectError(ann.put(job.path, { lockedAt: value }), 403, DENIED);
    const { data } = await lockByGraphql(admin, job, '2001-01-01T00:00:00.000Z');
    expect(data).toEqual({ updateJob: { lockedAt: '2001-01-01T00:00:00.000Z' } });
    await expectBody(admin.put(job.path, { lockedAt: null }), 200, { lockedAt: null });
    await expectBody(ann.put(job.path, { lockedAt: null }), 200, { lockedAt: null });
  });

  test('is null for a new job', async ({ ann }) => {
    const create = (lockedAt: string | null) => ann.post('/jobs', { name: 'New', type: 'actions', lockedAt });
    await expectInvalid(create(TIME), 'lockedAt', 'lockedAt must be absent or null for a new job');
    await expectStatus(create(null), 201);
  });

  test('keeps the job and its draft from running, until it is cleared', async ({ ann, admin }) => {
    const job = await createJob(ann);
    await createNotify(ann, job, 'Tell');
    const { id: draftId } = (await ann.post(`${job.path}/_edit`)).body;
    await expectStatus(admin.put(job.path, { lockedAt: TIME }), 200);
    for (const client of [ann, admin]) {
      await expectError(client.post(job.path), 409, LOCKED);
      await expectError(client.post(`/jobs/${draftId}`), 409, LOCKED);
      await expectGraphqlError(client.gql(`mutation { runJob(id: "${job.id}") { __typename } }`), 'CONFLICT', LOCKED);
    }
    await expectStatus(admin.put(job.path, { lockedAt: null }), 200);
    await expectBody(ann.post(job.path), 200, { success: true });
  });

  test('leaves due times out, and a run that waits fails', async ({ ann, admin, refreshJob, switched, service }) => {
    const schedule = { intervalType: 'cron', interval: '0 3 1 1 *', enabled: true, data: { overlap: 'queue' } };
    const job = await refreshJob({}, schedule);
    const due = async () => {
      await systemQuery(service, `update dws.job set next_run_at = now() where id = $1`, job.id);
      await eventually(async () => (await ann.get(job.path)).body.nextRunAt?.endsWith('-01-01T03:00:00.000Z') === true);
    };
    const total = async () => (await ann.get(`${job.path}/history`)).body.total;
    await switched.set('waits');
    const first = ann.post(job.path);
    await expect.poll(() => switched.waiting()).toBe(1);
    await due();
    expect(await total()).toBe(2);
    await expectStatus(admin.put(job.path, { lockedAt: TIME }), 200);
    await switched.set('works');
    await switched.release();
    await expectStatus(first, 200);
    await eventually(async () => (await latestRun(ann, job)).status === 'failed');
    expect(await latestRun(ann, job)).toMatchObject({ trigger: 'schedule', error: LOCKED, history: [] });
    await due();
    expect(await total()).toBe(2);
    await expectBody(ann.get(job.path), 200, { lockedAt: TIME, heartbeat: null });
  });

  test('is the lock of a run while it lasts, which no one clears', async ({ ann, admin, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('waits');
    const run = ann.post(job.path, { progress: 'locked-run' });
    await expect.poll(() => switched.waiting()).toBe(1);
    const { body } = await ann.get(job.path);
    const lock = { lockedAt: body.lockedAt, heartbeat: expect.any(String) };
    expect(lock.lockedAt).toEqual(expect.any(String));
    for (const client of [ann, admin])
      for (const lockedAt of [null, body.lockedAt]) await expectBody(client.put(job.path, { lockedAt }), 200, lock);
    await expectBody(admin.put(job.path, { lockedAt: TIME }), 200, { ...lock, lockedAt: TIME });
    await expectBody(admin.put(job.path, { lockedAt: null }), 200, lock);
    await expectStatus(ann.delete('/progress/locked-run'), 202);
    await expectError(run, 409);
    // A record that was read during the run locks nothing after it.
    for (const client of [ann, admin])
      await expectBody(client.put(job.path, body), 200, { lockedAt: null, heartbeat: null });
  });

  test('stays after the end of a run and with a new owner', async ({ ann, bob, admin, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('waits');
    const run = ann.post(job.path);
    await expect.poll(() => switched.waiting()).toBe(1);
    await expectStatus(admin.put(job.path, { lockedAt: TIME }), 200);
    await switched.release();
    await expectStatus(run, 200);
    await expectBody(ann.get(job.path), 200, { lockedAt: TIME, heartbeat: null });
    await expectStatus(ann.put(`${job.path}/owner`, { ownerId: 'bob' }), 200);
    await expectError(bob.post(job.path), 409, LOCKED);
    await expectBody(bob.put(job.path, { enabled: true }), 200, { accepted: true, lockedAt: TIME });
  });
});

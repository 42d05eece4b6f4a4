import { describe, expect } from 'vitest';
import { startDueJobs } from '../../src/services/job/job-due.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { putFile } from './email-fixture.ts';
import { createJob, createNotify, type TestJob } from './job-fixture.ts';
import { latestRun, test } from './job-run-fixture.ts';

const NOT_ACCEPTED = 'The owner has not accepted the job yet';
const SCHEDULE = { interval: '1 hour', intervalType: 'simple', enabled: true };
const GIVEN = { accepted: false, enabled: false, nextRunAt: null };

/** Returns the file of an action as the service stores it. */
const storedFile = async (service: Service, actionId: string): Promise<string | null> =>
  (
    await systemQuery<{ id: string | null }>(
      service,
      `select file_id as id from dws.job_action where id = $1`,
      actionId,
    )
  )[0]!.id;

/** Creates a team in which a user may write. Returns its id. */
async function createWritingTeam(admin: Client, name: string, { username }: Client): Promise<string> {
  const { id } = await admin.creates('/teams', { name });
  await expectStatus(admin.put(`/teams/${id}/members/${username}`, { role: 'memberPlus' }), 200);
  return id;
}

const GIVE = `mutation ($id: ID!, $owner: ID!) { setJobOwner(id: $id, ownerId: $owner) { id } }`;

describe('a job that a user gives to another user', () => {
  test.for<[string, (job: TestJob, from: Client, to: Client) => Promise<unknown>]>([
    ['PUT …/owner', (job, from, to) => expectStatus(from.put(`${job.path}/owner`, { ownerId: to.id }), 200)],
    ['PUT with ownerId', (job, from, to) => expectStatus(from.put(job.path, { ownerId: to.username }), 200)],
    ['setJobOwner', (job, from, to) => from.data(GIVE, { id: job.id, owner: to.id })],
  ])('by %s is disabled until the new owner accepts it', async ([, give], { ann, bob, admin, service }) => {
    const job = await createJob(ann, SCHEDULE);
    await createNotify(ann, job, 'Notify');
    const { id } = (await ann.post(`${job.path}/_edit`)).body;
    await expectBody(ann.get(job.path), 200, { accepted: true, enabled: true, nextRunAt: expect.any(String) });
    await give(job, ann, bob);
    for (const path of [job.path, `/jobs/${id}`]) await expectBody(bob.get(path), 200, GIVEN);
    expect((await bob.data(`{ job(id: "${job.id}") { accepted } }`)).job).toEqual({ accepted: false });
    const inAYear = new Date(Date.now() + 366 * 86_400_000);
    await startDueJobs(service.platform, inAYear);
    expect(await latestRun(bob, job)).toBeUndefined();
    // A call of a superuser accepts it too.
    await expectStatus(admin.post(job.path, {}), 200);
    await expectBody(bob.get(job.path), 200, { accepted: true, enabled: false });
    await expectBody(bob.get(`/jobs/${id}`), 200, { accepted: true });
  });

  test('is not run or enabled by others, not even with the level Admin', async ({ ann, bob }) => {
    const job = await createJob(ann, SCHEDULE);
    await createNotify(ann, job, 'Notify');
    await expectBody(ann.post(job.path), 200, { success: true });
    await expectStatus(ann.put(`${job.path}/owner`, { ownerId: bob.id }), 200);
    await expectStatus(bob.put(`${job.path}/shares/ann`, { accessLevel: 3 }), 200);
    const refused = async (draft?: string) => {
      for (const path of draft ? [job.path, draft] : [job.path]) {
        await expectError(ann.post(path), 409, NOT_ACCEPTED);
        await expectError(ann.put(path, { enabled: true }), 409, NOT_ACCEPTED);
      }
    };
    await refused();
    const draft = `/jobs/${(await ann.post(`${job.path}/_edit`)).body.id}`;
    await refused(draft);
    await expectGraphqlError(
      ann.gql(`mutation ($id: ID!) { runJob(id: $id) { operation { id } } }`, { id: job.id }),
      'CONFLICT',
    );
    await expectStatus(ann.put(draft, { name: 'Other', accepted: true }), 200);
    await expectStatus(ann.post(`${draft}/_commit`), 200);
    await expectBody(ann.get(job.path), 200, { ...GIVEN, name: 'Other' });
    await expectError(ann.post(job.path), 409, NOT_ACCEPTED);
  });

  test('is not continued by others after a run failed', async ({ ann, bob, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('fails');
    await expectBody(ann.post(job.path), 200, { success: false });
    const { id } = await latestRun(ann, job);
    await expectStatus(ann.put(`${job.path}/shares/ann`, { accessLevel: 2 }), 200);
    await expectStatus(ann.put(`${job.path}/owner`, { ownerId: bob.id }), 200);
    await expectError(ann.post(`${job.path}/history/${id}/_retry`), 409, NOT_ACCEPTED);
    await expectStatus(bob.post(`${job.path}/history/${id}/_retry`), 200);
    await expectBody(bob.get(job.path), 200, { accepted: true });
  });

  test('is accepted when the new owner enables it, also by a draft', async ({ ann, bob }) => {
    const job = await createJob(ann, SCHEDULE);
    await expectStatus(ann.put(`${job.path}/shares/ann`, { accessLevel: 2 }), 200);
    await expectStatus(ann.put(`${job.path}/owner`, { ownerId: bob.id }), 200);
    await expectBody(bob.put(job.path, { enabled: true }), 200, {
      accepted: true,
      enabled: true,
      nextRunAt: expect.any(String),
    });

    const other = await createJob(ann, SCHEDULE);
    const draft = `/jobs/${(await ann.post(`${other.path}/_edit`)).body.id}`;
    await expectStatus(ann.put(`${other.path}/owner`, { ownerId: bob.id }), 200);
    await expectBody(bob.put(draft, { enabled: true }), 200, { accepted: true, enabled: true });
    await expectBody(bob.get(other.path), 200, GIVEN);
    await expectBody(bob.post(`${draft}/_commit`), 200, {
      accepted: true,
      enabled: true,
      nextRunAt: expect.any(String),
    });
  });

  test('ends its run', async ({ ann, bob, refreshJob, switched }) => {
    const job = await refreshJob();
    await switched.set('waits');
    await expectStatus(ann.post(job.path, {}, { prefer: 'respond-async' }), 202);
    await expect.poll(switched.waiting).toBe(1);
    await expectStatus(ann.put(`${job.path}/owner`, { ownerId: bob.id }), 200);
    await expect.poll(async () => (await latestRun(bob, job)).status).toBe('cancelled');
    await expect.poll(switched.waiting).toBe(0);
  });

  test('keeps no file that it exported for the former owner', async ({ ann, bob, orders, service }) => {
    const job = await createJob(ann);
    const data = { datasetId: orders.id, format: 'csv' };
    const { id } = await ann.creates(`${job.path}/actions`, { type: 'export', name: 'Export', data });
    const kept = await createNotify(ann, job, 'Notify');
    await expectBody(ann.post(job.path), 200, { success: true });
    await putFile(ann, job, kept, { content: 'Hello', filename: 'hello.txt', type: 'text/plain' });
    const draft = `/jobs/${(await ann.post(`${job.path}/_edit`)).body.id}`;
    const copies = (await ann.get(`${draft}/actions`)).body._embedded['svc:job-action'];
    expect(await storedFile(service, id)).not.toBeNull();
    await expectStatus(ann.put(`${job.path}/owner`, { ownerId: bob.id }), 200);
    await expectStatus(bob.get(`${job.path}/actions/${id}/action-file-contents`), 404);
    await expectStatus(bob.get(`${draft}/actions/${copies[0].id}/action-file-contents`), 404);
    expect(await storedFile(service, id)).toBeNull();
    expect(await storedFile(service, kept)).not.toBeNull();
  });

  test('in the call that enables it is 400', async ({ ann, bob }) => {
    const job = await createJob(ann, { ...SCHEDULE, enabled: false });
    await expectError(ann.put(job.path, { ownerId: bob.id, enabled: true }), 400, /enabled/);
    await expectBody(ann.get(job.path), 200, { accepted: true, enabled: false, ownerId: ann.id });
    await expectStatus(ann.put(job.path, { enabled: true }), 200);
    // A record that is sent back with another owner alone.
    const { body } = await ann.get(job.path);
    await expectStatus(ann.put(job.path, { ...body, ownerId: bob.id }), 200);
    await expectBody(bob.get(job.path), 200, GIVEN);
  });
});

test('a job that is created for another user is not accepted, for oneself or a team it is', async ({
  ann,
  bob,
  admin,
}) => {
  const team = await createWritingTeam(admin, 'Owners', ann);
  const input = { name: 'Given', type: 'actions', ...SCHEDULE };
  await expectError(ann.post('/jobs', { ...input, ownerId: bob.id }), 400, /enabled/);
  await expectGraphqlError(
    ann.gql(`mutation ($input: CreateJobInput!) { createJob(input: $input) { id } }`, {
      input: { ...input, intervalType: 'SIMPLE', ownerId: bob.id },
    }),
    'BAD_USER_INPUT',
  );
  expect((await bob.get('/jobs?q=Given')).body.total).toBe(0);
  const given = await createJob(ann, { ...input, enabled: false, ownerId: bob.id });
  await expectBody(bob.get(given.path), 200, GIVEN);
  for (const ownerId of [ann.id, ann.username, `user:${ann.id}`, `team:${team}`]) {
    const own = await createJob(ann, { ...input, ownerId });
    await expectBody(ann.get(own.path), 200, { accepted: true, enabled: true, nextRunAt: expect.any(String) });
  }
});

test('a job that gets to a team stays enabled, and is accepted', async ({ ann, bob, admin }) => {
  const team = await createWritingTeam(admin, 'Takers', ann);
  const job = await createJob(ann, SCHEDULE);
  const { nextRunAt } = (await ann.get(job.path)).body;
  await expectStatus(ann.put(`${job.path}/owner`, { ownerId: `team:${team}` }), 200);
  await expectBody(ann.get(job.path), 200, { accepted: true, enabled: true, nextRunAt });
  await expectStatus(admin.put(`${job.path}/owner`, { ownerId: bob.id }), 200);
  await expectBody(bob.get(job.path), 200, GIVEN);
  await expectStatus(admin.put(`${job.path}/owner`, { ownerId: `team:${team}` }), 200);
  await expectBody(ann.get(job.path), 200, { accepted: true, enabled: false });
});

test('the jobs of a deleted user are disabled until their new owner accepts them', async ({
  admin,
  ann,
  bob,
  service,
}) => {
  const dan = await service.user('dan');
  const job = await createJob(dan, SCHEDULE);
  await createNotify(dan, job, 'Notify');
  await expectStatus(dan.put(`${job.path}/shares/ann`, { accessLevel: 2 }), 200);
  await expectStatus(admin.delete('/users/dan?transferTo=bob'), 204);
  await expectBody(bob.get(job.path), 200, { ...GIVEN, ownerId: bob.id });
  await expectError(ann.post(job.path), 409, NOT_ACCEPTED);
  await expectBody(bob.post(job.path), 200, { success: true });
  await expectBody(bob.get(job.path), 200, { accepted: true, enabled: false });
});

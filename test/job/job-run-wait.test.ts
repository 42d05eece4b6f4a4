import { describe, expect } from 'vitest';
import { startDueJobs } from '../../src/services/job/job-due.ts';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import { createJob, createNotify, type TestJob } from './job-fixture.ts';
import { latestRun } from './job-run-fixture.ts';
import { lateRun, makeDue } from './job-wait-fixture.ts';
import { test, urlOf } from './webhook-fixture.ts';

/** Number of concurrent runs of jobs of one user. */
const PLACES = 8;
const RETRY = { times: 1, delay: 3_600_000 };

/** Creates a job that notifies its owner and calls a receiver, and runs it until it waits to call again. */
async function startWaiting(client: Client, url: string): Promise<TestJob & { actionId: string; operation: string }> {
  const job = await createJob(client);
  await createNotify(client, job, 'Notify');
  const data = { url, retry: RETRY };
  const { id: actionId } = await client.creates(`${job.path}/actions`, { type: 'webhook', name: 'Call', data });
  const started = await client.post(job.path, {}, { prefer: 'respond-async' });
  expect(started.status).toBe(202);
  await lateRun(client, job);
  return { ...job, actionId, operation: started.headers.get('location')!.replace('/api', '') };
}

describe('a run that waits for its next attempt', () => {
  test('shows when it is, in both APIs, and takes no place', async ({ ann, receiver }) => {
    receiver.respond = (_request, response) => void response.writeHead(500).end();
    const before = Date.now();
    const jobs: TestJob[] = [];
    for (let n = 0; n < PLACES; n++) jobs.push(await startWaiting(ann, urlOf(receiver)));
    const run = await latestRun(ann, jobs[0]!);
    expect(run).toMatchObject({ status: 'running', success: null, finishedAt: null });
    expect(Date.parse(run.nextAttemptAt)).toBeGreaterThan(before + RETRY.delay);
    const data = await ann.data(`query ($id: ID!) { node(id: $id) { ... on JobRun { nextAttemptAt status } } }`, {
      id: run.id,
    });
    expect(data.node).toEqual({ nextAttemptAt: run.nextAttemptAt, status: 'RUNNING' });

    const other = await createJob(ann);
    await createNotify(ann, other, 'Notify');
    await expectBody(ann.post(other.path, {}), 200, { success: true });
    expect((await latestRun(ann, other)).nextAttemptAt).toBeNull();
    await expectError(ann.post(jobs[0]!.path, {}), 409, 'Job is already running');
    for (const job of jobs) await expectStatus(ann.delete(job.path), 204);
  });

  test('continues with that task and the plan of its start, and its wait does not count as work', async ({
    service,
    ann,
    receiver,
  }) => {
    receiver.respond = (_request, response) => void response.writeHead(500).end();
    const job = await startWaiting(ann, urlOf(receiver));
    await createNotify(ann, job, 'Added later');
    await expectBody(ann.get(job.operation), 200, { status: 'queued' });
    const { id } = await latestRun(ann, job);
    await runSql(
      service.databaseUrl,
      `update dws.job_run set started_at = started_at - interval '1 hour',
        pause = jsonb_set(pause, '{since}', to_jsonb(now() - interval '1 hour')) where id = $1`,
      [id],
    );
    receiver.respond = (_request, response) => void response.writeHead(200).end();
    await makeDue(service.databaseUrl, job);
    const run = await eventually(async () => {
      const last = await latestRun(ann, job);
      return last.status === 'succeeded' && last;
    });
    expect(run).toMatchObject({ id, success: true, nextAttemptAt: null });
    expect(run.duration).toBeGreaterThanOrEqual(3_600_000);
    expect(run.history.map(({ result }: any) => result)).toMatchObject([
      { success: true, attempts: 1 },
      {
        key: `action:${job.actionId}`,
        success: true,
        attempts: 2,
        log: expect.stringMatching(/Attempt 1 failed: .*3600000 ms/),
      },
    ]);
    expect(receiver.requests).toHaveLength(2);
    const [sent] = await runSql(
      service.databaseUrl,
      `select count(*)::int as count from dws.notification where type = 'job.notification' and resource_id = $1`,
      [job.id],
    );
    expect(sent).toEqual({ count: 1 });
    const [usage] = await runSql(
      service.databaseUrl,
      `select quantity::float8 as seconds from dws.usage_event where entity_id = $1`,
      [job.id],
    );
    expect(usage!['seconds']).toBeLessThan(1800);
    await expectBody(ann.get(job.path), 200, { lockedAt: null });
  });

  test('is cancelled immediately', async ({ ann, admin, receiver }) => {
    receiver.respond = (_request, response) => void response.writeHead(500).end();
    const [one, two] = [await startWaiting(ann, urlOf(receiver)), await startWaiting(ann, urlOf(receiver))];
    await expectStatus(ann.delete(one.operation), 202);
    const { id } = await latestRun(ann, two);
    await expectStatus(admin.post(`${two.path}/history/${id}/_cancel`), 200);
    for (const job of [one, two]) {
      expect(await latestRun(ann, job)).toMatchObject({ status: 'cancelled', nextAttemptAt: null });
      await expectBody(ann.get(job.path), 200, { lockedAt: null });
      await expectBody(ann.get(job.operation), 200, { status: 'cancelled' });
    }
  });

  test('ends with its job', async ({ service, ann, receiver }) => {
    receiver.respond = (_request, response) => void response.writeHead(500).end();
    const job = await startWaiting(ann, urlOf(receiver));
    await expectStatus(ann.delete(job.path), 204);
    await expectBody(ann.get(job.operation), 200, { status: 'cancelled' });
    await makeDue(service.databaseUrl, job);
    const other = await createJob(ann);
    await createNotify(ann, other, 'Notify');
    await expectBody(ann.post(other.path, {}), 200, { success: true });
    expect(receiver.requests).toHaveLength(1);
  });

  test.for<[string, (from: Client, job: TestJob, to: Client) => Promise<unknown>]>([
    ['PUT …/owner', (from, { path }, to) => expectStatus(from.put(`${path}/owner`, { ownerId: to.id }), 200)],
    [
      'setJobOwner',
      (from, { id }, to) => from.data(`mutation { setJobOwner(id: "${id}", ownerId: "${to.id}") { id } }`),
    ],
  ])(
    'ends like any other when its job gets another owner by %s: charged, and so does the run behind it',
    async ([, give], { service, ann, bob, receiver }) => {
      receiver.respond = (_request, response) => void response.writeHead(500).end();
      const job = await startWaiting(ann, urlOf(receiver));
      const { id } = await latestRun(ann, job);
      // A schedule queues a run behind it.
      await expectStatus(
        ann.put(job.path, { interval: '1 hour', intervalType: 'simple', enabled: true, data: { overlap: 'queue' } }),
        200,
      );
      await startDueJobs(service.platform, new Date(Date.now() + 2 * 3_600_000));
      // The pause does not count as work; what ran before it does.
      await runSql(
        service.databaseUrl,
        `update dws.job_run set started_at = started_at - interval '30 seconds' where id = $1`,
        [id],
      );
      await give(ann, job, bob);
      const runs = async () => (await bob.get(`${job.path}/history`)).body._embedded['svc:job-history'];
      await expect
        .poll(async () => (await runs()).map(({ status }: { status: string }) => status))
        .toEqual(['cancelled', 'cancelled']);
      expect((await runs()).find((run: { id: string }) => run.id === id)).toMatchObject({
        error: 'The run was cancelled',
        nextAttemptAt: null,
      });
      await expectBody(ann.get(job.operation), 200, { status: 'cancelled' });
      await expectBody(bob.get(job.path), 200, { lockedAt: null });
      const charged = await runSql(
        service.databaseUrl,
        `select quantity::float8 as seconds, metadata->>'status' as status from dws.usage_event where key = $1`,
        [`job:${id}`],
      );
      expect(charged).toEqual([{ seconds: expect.closeTo(30, -1), status: 'cancelled' }]);
      expect(receiver.requests).toHaveLength(1);
    },
  );

  test('fails if its action is changed during the wait', async ({ service, ann, receiver }) => {
    receiver.respond = (_request, response) => void response.writeHead(500).end();
    const job = await startWaiting(ann, urlOf(receiver));
    await expectStatus(
      ann.put(`${job.path}/actions/${job.actionId}`, { data: { url: urlOf(receiver, '/other') } }),
      200,
    );
    await makeDue(service.databaseUrl, job);
    const run = await eventually(async () => {
      const last = await latestRun(ann, job);
      return last.status === 'failed' && last;
    });
    expect(run.error).toBe('Call: It was changed or deleted after the run had started');
    expect(receiver.requests).toHaveLength(1);
  });
});

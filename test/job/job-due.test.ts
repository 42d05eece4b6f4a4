import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startDueJobs } from '../../src/services/job/job-due.ts';
import { rescheduleJobs } from '../../src/services/job/job-recovery.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createJob, type TestJob } from './job-fixture.ts';

let service: Service;
let ann: Client;

// Without a worker nothing but the test starts due jobs, and runs stay queued.
beforeAll(async () => {
  service = await startService({ ROLE: 'web' });
  ann = await service.user('ann');
});
afterAll(() => service?.close());
beforeEach(() => systemQuery(service, `update dws.job set next_run_at = null, enabled = false`));

/** Sets the time from which on a schedule counts, and its next run, as if it had been saved then. */
async function saveAt({ path, id }: TestJob, savedAt: string): Promise<void> {
  await systemQuery(service, `update dws.job set scheduled_at = $2, enabled = true where id = $1`, id, savedAt);
  await expectStatus(ann.get(path), 200);
}

/** Creates an enabled job whose next run is at `due`. */
async function createDue(due: string, schedule: object, more: object = {}): Promise<TestJob> {
  const job = await createJob(ann, { ...schedule, ...more });
  await saveAt(job, due);
  await systemQuery(service, `update dws.job set next_run_at = $2 where id = $1`, job.id, due);
  return job;
}

const EVERY_HOUR = { intervalType: 'cron', interval: '0 * * * *' };

/** Starts what is due at an instant, and returns the runs of a job with their due times. */
async function runsAt(job: TestJob, clock: string) {
  await startDueJobs(service.platform, new Date(clock));
  return runsOf(job);
}

const runsOf = async ({ id }: TestJob): Promise<{ trigger: string; dueAt: string | undefined }[]> =>
  (
    await systemQuery<{ trigger: string; dueAt: Date | null }>(
      service,
      `select trigger, due_at as "dueAt" from dws.job_run where job_id = $1 order by due_at`,
      id,
    )
  ).map(({ trigger, dueAt }) => ({ trigger, dueAt: dueAt?.toISOString() }));

const nextRunOf = async ({ path }: TestJob): Promise<string | null> => (await ann.get(path)).body.nextRunAt;

/** Ends the runs of a job, as a worker does. */
const endRuns = ({ id }: TestJob) =>
  systemQuery(
    service,
    `with ended as (
      update dws.job_run set status = 'succeeded', success = true where job_id = $1 returning operation_id
    ), operations as (
      update dws.operation set status = 'succeeded', finished_at = now()
      where id in (select operation_id from ended)
    )
    update dws.job set locked_at = null, heartbeat = null where id = $1`,
    id,
  );

describe('a due job', () => {
  test('is started once, and its next run is computed', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    expect(await runsAt(job, '2027-03-01T09:59:59.999Z')).toEqual([]);
    const first = { trigger: 'schedule', dueAt: '2027-03-01T10:00:00.000Z' };
    expect(await runsAt(job, '2027-03-01T10:00:00.500Z')).toEqual([first]);
    expect(await nextRunOf(job)).toBe('2027-03-01T11:00:00.000Z');
    expect(await runsAt(job, '2027-03-01T10:00:01.500Z')).toEqual([first]);
    const { body } = await ann.get(job.path);
    expect(body.lockedAt).not.toBeNull();
    await endRuns(job);
    expect(await runsAt(job, '2027-03-01T11:00:00.000Z')).toEqual([
      first,
      { trigger: 'schedule', dueAt: '2027-03-01T11:00:00.000Z' },
    ]);
  });

  test('has an operation of its owner, which a worker runs', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    await startDueJobs(service.platform, new Date('2027-03-01T10:00:00Z'));
    const [operation] = await systemQuery(
      service,
      `select o.operation, o.status, o.user_id as "userId", o.concurrency_key as key, r.id = (o.input->>'runId')::uuid as "isOfRun"
      from dws.job_run r join dws.operation o on o.id = r.operation_id where r.job_id = $1`,
      job.id,
    );
    expect(operation).toEqual({
      operation: 'job.run',
      status: 'queued',
      userId: ann.id,
      key: `job:${job.id}`,
      isOfRun: true,
    });
    const [{ operationId } = {}] = await systemQuery<{ operationId: string }>(
      service,
      `select operation_id as "operationId" from dws.job_run where job_id = $1`,
      job.id,
    );
    const queued = await runSql(
      service.databaseUrl,
      `select data->>'operation' as operation from dws_jobs.job where name = 'job-run' and singleton_key = $1`,
      [operationId],
    );
    expect(queued).toEqual([{ operation: 'job.run' }]);
  });

  test('of several processes is started by one of them', async () => {
    const jobs = await Promise.all(Array.from({ length: 50 }, () => createDue('2027-03-02T10:00:00.000Z', EVERY_HOUR)));
    const counts = await Promise.all(
      Array.from({ length: 6 }, () => startDueJobs(service.platform, new Date('2027-03-02T10:00:00Z'))),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50);
    for (const job of jobs)
      expect(await runsOf(job)).toEqual([{ trigger: 'schedule', dueAt: '2027-03-02T10:00:00.000Z' }]);
  });

  test('is not started after endOn, and a job that runs once has no next run', async () => {
    const ending = await createDue('2099-03-01T10:00:00.000Z', { ...EVERY_HOUR, endOn: '2099-03-01T10:30:00Z' });
    const once = await createDue('2099-03-01T10:00:00.000Z', { intervalType: 'once', startOn: '2099-03-01T10:00:00Z' });
    await startDueJobs(service.platform, new Date('2099-03-01T10:00:00Z'));
    for (const job of [ending, once]) {
      expect(await runsOf(job)).toHaveLength(1);
      expect(await nextRunOf(job)).toBeNull();
    }
  });

  test('that is disabled, or a draft, is not started', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    const { body: draft } = await ann.post(`${job.path}/_edit`);
    await expectBody(ann.put(job.path, { enabled: false }), 200, { nextRunAt: null });
    expect(await runsAt(job, '2027-03-01T10:00:00Z')).toEqual([]);
    expect(await runsOf(draft)).toEqual([]);
  });

  test('with a time zone that is gone is not started, delays no other, and its owner is notified', async () => {
    const broken = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    await systemQuery(service, `update dws.job set timezone = 'Mars/Base' where id = $1`, broken.id);
    const other = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    expect(await runsAt(other, '2027-03-01T10:00:00Z')).toHaveLength(1);
    expect(await runsOf(broken)).toEqual([]);
    expect((await ann.get('/notifications')).body._embedded['svc:notification'][0]).toMatchObject({
      type: 'job.run.failed',
      message: 'The job Nightly no longer runs: its schedule is no longer valid',
      resource: { kind: 'job', id: broken.id },
    });
    const [row] = await systemQuery(service, `select next_run_at as next from dws.job where id = $1`, broken.id);
    expect(row).toEqual({ next: null });
  });
});

describe('missed times', () => {
  test('are caught up with by one run, at the last of them', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    // The clock is set forward by a day.
    expect(await runsAt(job, '2027-03-02T10:20:00Z')).toEqual([
      { trigger: 'catch-up', dueAt: '2027-03-02T10:00:00.000Z' },
    ]);
    expect(await nextRunOf(job)).toBe('2027-03-02T11:00:00.000Z');
  });

  test('are caught up with, even a single one, more than a minute ago', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    expect(await runsAt(job, '2027-03-01T10:00:59Z')).toEqual([
      { trigger: 'schedule', dueAt: '2027-03-01T10:00:00.000Z' },
    ]);
    const late = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    expect(await runsAt(late, '2027-03-01T10:01:01Z')).toEqual([
      { trigger: 'catch-up', dueAt: '2027-03-01T10:00:00.000Z' },
    ]);
  });

  test('are computed again when the clock is set back', async () => {
    const job = await createDue('2027-03-02T11:00:00.000Z', EVERY_HOUR);
    await rescheduleJobs(service.platform, new Date('2027-03-01T10:20:00Z'));
    expect(await nextRunOf(job)).toBe('2027-03-01T11:00:00.000Z');
    expect(await runsAt(job, '2027-03-01T11:00:00Z')).toEqual([
      { trigger: 'schedule', dueAt: '2027-03-01T11:00:00.000Z' },
    ]);
  });
});

describe('a job that still runs', () => {
  test('leaves due times out', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    for (const hour of ['10', '11', '12']) await startDueJobs(service.platform, new Date(`2027-03-01T${hour}:00:00Z`));
    expect(await runsOf(job)).toHaveLength(1);
    expect(await nextRunOf(job)).toBe('2027-03-01T13:00:00.000Z');
    await endRuns(job);
    expect((await runsAt(job, '2027-03-01T13:00:00Z')).map(({ dueAt }) => dueAt)).toEqual([
      '2027-03-01T10:00:00.000Z',
      '2027-03-01T13:00:00.000Z',
    ]);
  });

  test('with overlap queue lets one due time wait', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR, { data: { overlap: 'queue' } });
    await startDueJobs(service.platform, new Date('2027-03-01T10:00:00Z'));
    await systemQuery(service, `update dws.job_run set status = 'running' where job_id = $1`, job.id);
    for (const hour of ['11', '12']) await startDueJobs(service.platform, new Date(`2027-03-01T${hour}:00:00Z`));
    expect((await runsOf(job)).map(({ dueAt }) => dueAt)).toEqual([
      '2027-03-01T10:00:00.000Z',
      '2027-03-01T11:00:00.000Z',
    ]);
  });

  test('by hand leaves due times out too', async () => {
    const job = await createDue('2027-03-01T10:00:00.000Z', EVERY_HOUR);
    await expectStatus(ann.post(job.path, {}, { prefer: 'respond-async' }), 202);
    await startDueJobs(service.platform, new Date('2027-03-01T10:00:00Z'));
    expect((await runsOf(job)).map(({ trigger }) => trigger)).toEqual(['manual']);
  });
});

describe('in Europe/Berlin', () => {
  const NIGHTLY = { intervalType: 'cron', interval: '30 2 * * *', timezone: 'Europe/Berlin' };

  /** Starts what is due every five minutes for some hours, as a worker does, and returns the due times. */
  async function runThrough(job: TestJob, from: string, hours: number): Promise<(string | undefined)[]> {
    for (let minute = 0; minute <= hours * 60; minute += 5) {
      await startDueJobs(service.platform, new Date(Date.parse(from) + minute * 60_000));
      await endRuns(job);
    }
    return (await runsOf(job)).map(({ dueAt }) => dueAt);
  }

  test('a local time that the clock skips runs at the end of the gap', async () => {
    const job = await createDue('2027-03-27T01:30:00.000Z', NIGHTLY);
    expect(await runThrough(job, '2027-03-27T01:00:00Z', 50)).toEqual([
      '2027-03-27T01:30:00.000Z',
      '2027-03-28T01:00:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ]);
  });

  test('a repeated local time runs once', async () => {
    const job = await createDue('2027-10-30T00:30:00.000Z', NIGHTLY);
    expect(await runThrough(job, '2027-10-30T00:00:00Z', 50)).toEqual([
      '2027-10-30T00:30:00.000Z',
      '2027-10-31T00:30:00.000Z',
      '2027-11-01T01:30:00.000Z',
    ]);
  });
});

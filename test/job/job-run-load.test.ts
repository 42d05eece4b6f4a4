import { expect } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { GATED, makeMillion } from '../support/million-rows.ts';
import { startService, type Service } from '../support/service.ts';
import { createJob, createNotify, test as base, type TestJob } from './job-fixture.ts';

/** One place for refreshes in each process. */
const NARROW = { WORKER_CONCURRENCY: '1' };
const HOURLY = { intervalType: 'simple', interval: '1 hour', enabled: true };
const HOUR_MS = 3_600_000;
const LOAD = { timeout: 180_000 };

const test = base.extend<{ service: Service }>({
  // Two processes of one service.
  service: [
    async ({}, use) => {
      const service = await startService(NARROW);
      const second = await startService(NARROW, { databaseUrl: service.databaseUrl });
      await use(service);
      await second.close();
      await service.close();
    },
    { scope: 'file' },
  ],
});

/** Creates hourly jobs of a caller. Without `datasets` they have a quick action. */
async function createJobs(client: Client, count: number, datasets?: Record<string, string>): Promise<TestJob[]> {
  const jobs: TestJob[] = [];
  for (let index = 0; index < count; index++) {
    const name = `Hourly ${index}`;
    const job = await createJob(client, { name, ...HOURLY, ...(datasets && { type: 'dataset-refresh', datasets }) });
    if (!datasets) await createNotify(client, job, 'Quick');
    jobs.push(job);
  }
  return jobs;
}

const idsOf = (jobs: readonly TestJob[]) => jobs.map(({ id }) => id);

/** Lets jobs be due at one moment, in a second. Returns it. */
async function dueAtOnce({ platform }: Service, jobs: readonly TestJob[]): Promise<number> {
  const due = new Date(Date.now() + 1000);
  await platform.system.query({
    text: `update dws.job set start_on = $2, next_run_at = $2 where id = any($1)`,
    values: [idsOf(jobs), due],
  });
  return due.getTime();
}

interface JobState extends Record<string, unknown> {
  runs: { dueAt: number; trigger: string; status: string }[];
  isLocked: boolean;
  nextRunAt: number;
}

/** Returns the runs of each job, and its lock. */
const statesOf = ({ platform }: Service, jobs: readonly TestJob[]): Promise<JobState[]> =>
  platform.system.query<JobState>({
    text: `
      select j.locked_at is not null as "isLocked", extract(epoch from j.next_run_at)::float8 * 1000 as "nextRunAt",
        (
          select coalesce(jsonb_agg(jsonb_build_object(
            'dueAt', extract(epoch from r.due_at) * 1000, 'trigger', r.trigger, 'status', r.status
          ) order by r.due_at), '[]')
          from dws.job_run r
          where r.job_id = j.id
        ) as runs
      from dws.job j
      where j.id = any($1)`,
    values: [idsOf(jobs)],
  });

/** Waits until every job has run and is free. Returns their states. */
const untilAllRan = (service: Service, jobs: readonly TestJob[]): Promise<JobState[]> =>
  eventually(async () => {
    const states = await statesOf(service, jobs);
    const hasRun = ({ isLocked, runs }: JobState) =>
      !isLocked && runs.length > 0 && runs.every(({ status }) => status !== 'queued' && status !== 'running');
    return states.every(hasRun) && states;
  });

/** Expects one run of each job, for the same due time, and the next one an hour later. */
function expectOneRunOfEach(states: readonly JobState[], dueAt: number): void {
  for (const state of states)
    expect(state).toEqual({
      runs: [{ dueAt, trigger: 'schedule', status: 'succeeded' }],
      isLocked: false,
      nextRunAt: dueAt + HOUR_MS,
    });
}

test('300 jobs that are due at one moment are each run once by two processes', LOAD, async ({ service, admin }) => {
  const datasets = [await makeMillion(admin), await makeMillion(admin)];
  for (const { id } of datasets)
    expect(await admin.put(`/datasets/${id}`, { query: 'select name from region' })).toMatchObject({ status: 200 });
  // Those that refresh a dataset wait for places that their own runs must not take.
  const jobs = await createJobs(admin, 260);
  for (const { id } of datasets) jobs.push(...(await createJobs(admin, 20, { a: id })));
  const dueAt = await dueAtOnce(service, jobs);
  const states = await untilAllRan(service, jobs);
  expect(states).toHaveLength(300);
  expectOneRunOfEach(states, dueAt);
  for (const dataset of datasets) await dataset.drop();
});

test(
  'a job of another tenant runs while 200 due jobs of one tenant wait',
  LOAD,
  async ({ service, admin, stranger }) => {
    const dataset = await makeMillion(admin, GATED);
    const greedy = await createJobs(admin, 200, { a: dataset.id });
    const [single] = await createJobs(stranger, 1);
    const openGate = await dataset.closeGate();
    const dueAt = await dueAtOnce(service, [...greedy, single!]);
    expectOneRunOfEach(await untilAllRan(service, [single!]), dueAt);
    // Until then, none of the others could end.
    const waiting = (await statesOf(service, greedy)).flatMap(({ runs }) => runs.map(({ status }) => status));
    expect(waiting.every((status) => status === 'queued' || status === 'running')).toBe(true);
    await openGate();
    expectOneRunOfEach(await untilAllRan(service, greedy), dueAt);
    await dataset.drop();
  },
);

test(
  'a due time that has a run already, as the clock was set back, keeps no other job from running',
  LOAD,
  async ({ service, admin }) => {
    const jobs = await createJobs(admin, 2);
    const [again, other] = jobs;
    const dueAt = await dueAtOnce(service, [again!]);
    expectOneRunOfEach(await untilAllRan(service, [again!]), dueAt);
    await service.platform.system.query({
      text: `update dws.job set start_on = $2, next_run_at = $2 where id = any($1)`,
      values: [idsOf(jobs), new Date(dueAt)],
    });
    expectOneRunOfEach(await untilAllRan(service, [other!]), dueAt);
    expectOneRunOfEach(await statesOf(service, [again!]), dueAt);
  },
);

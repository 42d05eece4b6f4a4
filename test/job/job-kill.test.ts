import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { makeMillion } from '../support/million-rows.ts';
import { test, type JobCluster } from './job-cluster.ts';
import { createJob, createNotify, type TestJob } from './job-fixture.ts';

const INTERVAL_MS = 10_000;
const KILLS = 50;

/** The kills after which the worker of each place lives long enough to recover runs. */
const LONG_LIFE = { afterKill: [8, 28], ms: 12_000 };
const MAX_LIFE_MS = 700;

/** Time without any worker. Most jobs miss two due times in it. */
const OUTAGE_MS = 15_000;

/** Time that a transaction which ends a run may take until its commit. */
const COMMIT_MS = 1000;

/** A query of four rows that takes two seconds. */
const SLOW = `select r.name as region from region r, lateral (select pg_sleep(0.5) where r.id >= 0) pause`;

interface ScheduledJob extends TestJob {
  name: string;
  startOn: number;
  /** Whether each run sends a notification. */
  notifies: boolean;
}

interface Run {
  trigger: string;
  status: string;
  error: string | null;
  dueAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

/** Creates eight jobs, each with another due time within ten seconds. The last three refresh a dataset. */
async function createJobs({ caller, onEnd }: JobCluster): Promise<ScheduledJob[]> {
  const datasets = await Promise.all([SLOW, SLOW, SLOW].map((query) => makeMillion(caller, query)));
  for (const dataset of datasets) onEnd(dataset.drop);
  const specials = [
    { type: 'dataset-refresh', datasets: { a: datasets[0]!.id } },
    { type: 'dataset-refresh', datasets: { a: datasets[1]!.id }, data: { overlap: 'queue' } },
    { type: 'actions' },
  ];
  const jobs: ScheduledJob[] = [];
  const firstDue = Date.now() + INTERVAL_MS;
  for (let index = 0; index < 8; index++) {
    const startOn = firstDue + (index * INTERVAL_MS) / 8;
    const name = `Job ${index}`;
    const schedule = { intervalType: 'simple', interval: '10 seconds', startOn: new Date(startOn), enabled: true };
    const job = await createJob(caller, { name, ...schedule, ...specials[index - 5] });
    if (index < 5) await createNotify(caller, job, 'Notify');
    if (index === 7)
      await caller.creates(`${job.path}/actions`, {
        type: 'refresh',
        name: 'Refresh',
        data: { datasetId: datasets[2]!.id },
      });
    jobs.push({ ...job, name, startOn, notifies: index < 5 });
  }
  return jobs;
}

/** Kills workers of two places at random moments and starts others, until `KILLS` were killed. Then none lives. */
async function killWorkers({ startWorker }: JobCluster): Promise<void> {
  let kills = 0;
  const isOver = () => kills >= KILLS;
  await Promise.all(
    LONG_LIFE.afterKill.map(async (longLifeAfter) => {
      let hadLongLife = false;
      while (!isOver()) {
        const worker = await startWorker();
        const isLong: boolean = !hadLongLife && kills >= longLifeAfter;
        hadLongLife ||= isLong;
        await sleep(isLong ? LONG_LIFE.ms : Math.random() * MAX_LIFE_MS);
        expect(await worker.end('SIGKILL')).toBe('SIGKILL');
        kills++;
      }
    }),
  );
}

/** Returns the scheduled runs of a job in the order of their due times. */
const runsOf = async ({ sql }: JobCluster, { id }: TestJob): Promise<Run[]> =>
  (
    await sql(
      `select trigger, status, error, due_at as "dueAt", started_at as "startedAt", finished_at as "finishedAt"
        from dws.job_run
        where job_id = $1 and due_at is not null
        order by due_at`,
      [id],
    )
  ).map((row) => ({
    ...(row as unknown as Run),
    dueAt: (row['dueAt'] as Date).getTime(),
    startedAt: (row['startedAt'] as Date | null)?.getTime() ?? null,
    finishedAt: (row['finishedAt'] as Date | null)?.getTime() ?? null,
  }));

/** Expects one notification of each run that succeeded, at most one of each that failed, and no others until then. */
async function expectNotifications({ sql }: JobCluster, { id }: TestJob, runs: readonly Run[]): Promise<void> {
  const rows = await sql(
    `select created_at as at from dws.notification where type = 'job.notification' and resource_id = $1 order by 1`,
    [id],
  );
  const times = rows.map(({ at }) => (at as Date).getTime()).filter((at) => at <= runs.at(-1)!.finishedAt!);
  const counts = runs.map(
    ({ startedAt, finishedAt }) => times.filter((at) => at >= (startedAt ?? Infinity) && at <= finishedAt!).length,
  );
  for (const [index, { status }] of runs.entries())
    expect(counts[index]).toBeOneOf(status === 'succeeded' ? [1] : [0, 1]);
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(times.length);
}

/** Waits until a job is free. Returns its next due time. */
const nextRunOfFree = (caller: Client, { path }: TestJob): Promise<number> =>
  eventually(async () => {
    const { lockedAt, nextRunAt } = (await caller.get(path)).body;
    return lockedAt === null && Date.parse(nextRunAt);
  });

/** Outcome of a due time: it has a run, was left out during one, or was merged into a later run. */
type Fate = 'run' | 'left out' | 'merged' | 'missing';

function fateOf(dueAt: number, runs: readonly Run[]): Fate {
  if (runs.some((run) => run.dueAt === dueAt)) return 'run';
  if (runs.some((run) => run.dueAt < dueAt && run.finishedAt! > dueAt - COMMIT_MS)) return 'left out';
  return runs.find((run) => run.dueAt > dueAt)?.trigger === 'catch-up' ? 'merged' : 'missing';
}

test(
  'each due time is run once although workers are killed 50 times, and afterwards every job goes on',
  { timeout: 300_000 },
  async ({ cluster }) => {
    const jobs = await createJobs(cluster);
    await killWorkers(cluster);
    await sleep(OUTAGE_MS);
    await Promise.all([cluster.startWorker(), cluster.startWorker()]);

    const fates: Fate[] = [];
    const all = await Promise.all(
      jobs.map(async (job) => {
        const next = await nextRunOfFree(cluster.caller, job);
        expect((next - job.startOn) % INTERVAL_MS).toBe(0);
        const runs = (await runsOf(cluster, job)).filter(({ dueAt }) => dueAt < next);
        for (let dueAt = job.startOn; dueAt < next; dueAt += INTERVAL_MS) fates.push(fateOf(dueAt, runs));

        // The next one is on time, and the one after it is scheduled.
        const nextOne = await eventually(async () =>
          (await runsOf(cluster, job)).find(({ dueAt, finishedAt }) => dueAt === next && finishedAt),
        );
        expect(nextOne, job.name).toMatchObject({ trigger: 'schedule', status: 'succeeded', error: null });
        expect(await nextRunOfFree(cluster.caller, job)).toBeGreaterThan(next);
        if (job.notifies) await expectNotifications(cluster, job, [...runs, nextOne]);
        return runs;
      }),
    );
    const count = (fate: Fate) => fates.filter((one) => one === fate).length;
    const runs = all.flat();
    const failed = runs.filter(({ status }) => status === 'failed');
    const figures =
      `${fates.length} due times: ${count('run')} runs, ${failed.length} failed, ${count('left out')} left out, ` +
      `${count('merged')} merged into ${runs.filter(({ trigger }) => trigger === 'catch-up').length} catch-ups`;
    expect(count('missing'), figures).toBe(0);
    expect(count('run')).toBe(runs.length);
    expect(runs.filter(({ status }) => status !== 'succeeded')).toEqual(failed);
    for (const { error } of failed) expect(error).toMatch(/The worker process ended before the operation was done$/);
    // Runs of one job are executed one at a time.
    for (const ofJob of all)
      for (const [index, { startedAt }] of ofJob.entries())
        if (index > 0) expect(startedAt ?? Infinity).toBeGreaterThanOrEqual(ofJob[index - 1]!.finishedAt!);
  },
);

import type { JobRunResult } from '../../entities/job-run.ts';
import { cancelled, conflict } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import { createOwnerContext } from '../services/job/job-context.ts';
import { JOB_LOCKED } from '../services/job/job-lock.ts';
import { endRun, type EndedRun } from '../services/job/job-run-end.ts';
import { beginRun, type RunPlan } from '../services/job/job-run-plan.ts';
import { failureOf, type Claim } from '../services/operation/operation-repository.ts';
import type { Handler, RunningClaim } from './handler.ts';
import type { RunTasks } from './job-run-kept.ts';
import { runTasks } from './job-run-tasks.ts';

/** Interval of the heartbeats of a job that runs, in milliseconds. */
const HEARTBEAT_MS = 10_000;

const runOf = ({ tenantId, resourceId, input: { runId } }: Claim<'job.run'>): EndedRun => ({
  tenantId,
  jobId: resourceId,
  runId,
});

/** Runs a job with the rights of its owner. A run whose worker dies is recorded as failed, and is not repeated. */
export const jobRun: Handler<'job.run'> = {
  takeover: false,
  async run(work, platform) {
    const run = runOf(work);
    const plan = await platform.database.transaction(work.tenantId, (tx) => beginRun(platform, tx, run));
    if (!plan) throw cancelled();
    const tasks = await withHeartbeat(platform, run, () => runPlan(platform, work, plan));
    const { failure } = tasks;
    return {
      ...(failure && { failure }),
      async publish(tx) {
        const { history, logs } = tasks;
        const success = failure === null;
        const duration = await endRun(tx, run, {
          status: success ? 'succeeded' : 'failed',
          error: failure?.message ?? null,
          tasks: { history, logs },
        });
        return resultOf(run.runId, tasks, duration ?? 0);
      },
    };
  },
  async onFailure(claim, { message }, tx) {
    await endRun(tx, runOf(claim), { status: 'failed', error: message });
  },
};

async function runPlan(platform: Platform, work: RunningClaim<'job.run'>, plan: RunPlan): Promise<RunTasks> {
  if (plan.isLocked) return { history: [], logs: {}, failure: failureOf(conflict(JOB_LOCKED)) };
  try {
    await createOwnerContext(platform, plan.job, work.input.ownerId, work.signal);
  } catch (error) {
    const failure = failureOf(error);
    return { history: [], logs: {}, failure: { ...failure, message: `The owner cannot run it: ${failure.message}` } };
  }
  return runTasks(platform, work, plan);
}

/** Returns the result for a waiting caller, without errors and logs, because not every caller may read the history. */
const resultOf = (runId: string, { history, failure }: RunTasks, duration: number): JobRunResult => ({
  runId,
  success: failure === null,
  duration,
  history: history.map(({ task, result: { key, success } }) => ({ task, result: { key, success } })),
});

/** Writes the heartbeat of a job while it runs. */
async function withHeartbeat<T>(platform: Platform, { tenantId, jobId }: EndedRun, work: () => Promise<T>): Promise<T> {
  const beat = () =>
    platform.database
      .query(tenantId, {
        text: `update dws.job set heartbeat = now() where tenant_id = $1 and id = $2 and locked_at is not null`,
        values: [tenantId, jobId],
      })
      .catch((error: unknown) => platform.log.warn({ err: error, job: jobId }, 'A heartbeat of a job failed'));
  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

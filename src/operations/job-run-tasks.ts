import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../core/context.ts';
import { badInput, conflict } from '../core/errors.ts';
import type { ActionRun, DatasetStep } from '../core/job-drivers.ts';
import type { OperationFailure } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { jobActionDriverOf, jobDriverOf } from '../services/job/drivers/driver-registry.ts';
import { refreshDataset } from '../services/job/drivers/refresh/refresh.ts';
import { takeSnapshot } from '../services/job/drivers/snapshot/snapshot.ts';
import { runAttempt, type AttemptOutcome } from '../services/job/job-attempts.ts';
import { createJobContext, createOwnerContext } from '../services/job/job-context.ts';
import { pauseRun, type PlannedAction, type RunPlan } from '../services/job/job-run-plan.ts';
import { meetsConditions } from '../services/job/run-conditions.ts';
import { RunLog } from '../services/job/run-log.ts';
import { usedDatasetIn } from '../services/job/used-dataset.ts';
import { failureOf } from '../services/operation/operation-repository.ts';
import { Postponed, type RunningClaim } from './handler.ts';
import { keptTasks, type RunTasks } from './job-run-kept.ts';

/** One task of a run: a dataset of the job, or an action. */
interface Task {
  key: string;
  name: string;
  /** Settings of retries and timeout. */
  data: Record<string, unknown>;
  /** Returns whether the task runs, after those before it. */
  isDue(ctx: Context, hasFailed: boolean): Promise<boolean>;
  work(run: TaskRun): Promise<void>;
}

/** Context of a task: an attempt with the context of the owner. */
type TaskRun = Pick<ActionRun, 'ctx' | 'signal' | 'log' | 'progress'>;

/** Time after which a run does not begin further tasks, in milliseconds. */
const MAX_RUN_MS = 24 * 3_600_000;

/**
 * Runs the tasks of a run in their order, as the owner of the job. A failed task does not end the run: the conditions of
 * the actions after it decide. Stores each result immediately. Throws the reason of the work's signal, and `Postponed` if a
 * task is repeated later.
 */
export async function runTasks(platform: Platform, work: RunningClaim<'job.run'>, plan: RunPlan): Promise<RunTasks> {
  const tasks = listTasks(platform, plan);
  const { done, next } = keptTasks(plan, tasks, work.input.from);
  const deadline = plan.run.startedAt!.getTime() + MAX_RUN_MS;
  for (const [index, task] of tasks.entries()) {
    if (index < next) continue;
    if (Date.now() > deadline) {
      done.failure ??= failureOf(conflict('The run took longer than 24 hours'));
      break;
    }
    work.progress({ current: index, total: tasks.length, message: task.name });
    const progress = (percent: number) => work.progress({ percent: (index * 100 + percent) / tasks.length });
    if (!(await runTask({ platform, work, plan, deadline, progress }, task, done))) continue;
    if (index < tasks.length - 1) await saveTasks(platform, work, done);
  }
  work.progress({ current: tasks.length, total: tasks.length });
  return done;
}

/** State that the tasks of a run share. */
interface RunningTask {
  platform: Platform;
  work: RunningClaim<'job.run'>;
  plan: RunPlan;
  deadline: number;
  progress(percent: number): void;
}

/**
 * Runs a task, or its next attempt, and adds its result. Returns false if the conditions of the task are not met. Throws
 * `Postponed` if it is repeated later.
 */
async function runTask(
  { platform, work, plan, deadline, progress }: RunningTask,
  task: Task,
  done: RunTasks,
): Promise<boolean> {
  const paused = plan.paused?.key === task.key ? plan.paused : null;
  const log = new RunLog(paused?.log);
  const startedAt = paused ? new Date(paused.startedAt) : new Date();
  // Loaded for each attempt, because the owner may lose rights while the run waits.
  const attempt = async (signal: AbortSignal) => {
    const ctx = await createOwnerContext(platform, plan.job, work.input.ownerId, signal);
    return task.work({ ctx, signal, log: log.add, progress });
  };
  const { REFRESH_TIMEOUT_MS: limit } = platform.config;
  const former = paused?.attempts ?? 0;
  const isDue = async () =>
    task.isDue(await createOwnerContext(platform, plan.job, work.input.ownerId, work.signal), done.failure !== null);
  const outcome = await (paused ? Promise.resolve(true) : isDue())
    .then((due) => (due ? runAttempt(task.data, { limit, deadline, former }, work.signal, log.add, attempt) : null))
    .catch((failure: unknown): AttemptOutcome => ({ attempts: 0, failure }));
  work.signal.throwIfAborted();
  if (!outcome) return false;
  const { attempts, retryInMs } = outcome;
  if (retryInMs !== undefined)
    throw new Postponed({
      delayMs: retryInMs,
      save: (tx, nextAttemptAt) => {
        const { failure } = done;
        const state = { key: task.key, startedAt: startedAt.toISOString(), attempts, log: log.toString(), failure };
        return pauseRun(tx, plan, done, state, nextAttemptAt);
      },
    });
  const failure = outcome.failure === null ? null : describeFailure(platform, work, task, outcome.failure);
  if (failure) log.add(failure.message);
  done.failure ??= failure && { ...failure, message: `${task.name}: ${failure.message}` };
  done.logs[task.key] = log.toString();
  done.history.push({
    task: { key: task.key },
    result: {
      key: task.key,
      success: failure === null,
      startedAt: startedAt.toISOString(),
      duration: Date.now() - startedAt.getTime(),
      attempts,
      error: failure?.message ?? null,
    },
  });
  return true;
}

/** Returns the part of a failure that readers of the run see. Logs errors of the service. */
function describeFailure(
  platform: Platform,
  { workId }: RunningClaim<'job.run'>,
  { key }: Task,
  error: unknown,
): OperationFailure {
  const failure = failureOf(error);
  if (failure.code === 'INTERNAL') platform.log.error({ err: error, id: workId, task: key }, 'A task of a job failed');
  return failure;
}

/** Returns the tasks of a run: datasets before the actions, the actions, datasets after them. */
function listTasks(platform: Platform, plan: RunPlan): Task[] {
  const { job, datasets } = plan;
  const driver = jobDriverOf(job.type);
  const datasetTasks = (phase: 'before' | 'after') =>
    datasets.flatMap(({ alias, datasetId, snapshotTime }) => {
      const steps = driver.steps(snapshotTime ?? null)[phase];
      return steps.length > 0 ? [datasetTask(alias, datasetId, steps)] : [];
    });
  return [
    ...datasetTasks('before'),
    ...plan.actions.map((action) => actionTask(platform, plan, action)),
    ...datasetTasks('after'),
  ];
}

const datasetTask = (alias: string, datasetId: string, steps: readonly DatasetStep[]): Task => ({
  key: `dataset:${alias}`,
  name: `Dataset ${alias}`,
  data: {},
  isDue: async () => true,
  async work(run) {
    for (const step of steps) await (step === 'refresh' ? refreshDataset : takeSnapshot)({ ...run, datasetId });
  },
});

function actionTask(platform: Platform, { run, job, datasets }: RunPlan, action: PlannedAction): Task {
  const { id, name, type, data, secrets, conditions } = action;
  const driver = jobActionDriverOf(type);
  const datasetIdOf = (alias: string): string => {
    const dataset = datasets.find((one) => one.alias === alias);
    if (!dataset) throw badInput(`The job has no dataset with the alias "${alias}"`);
    return dataset.datasetId;
  };
  return {
    key: `action:${id}`,
    name,
    data,
    isDue: (ctx, hasFailed) => meetsConditions(conditions, { ctx, hasFailed, datasetIdOf }),
    async work(attempt) {
      const datasetId = driver.uses === 'dataset' ? (action.datasetId ?? datasetIdOf(data['alias'] as string)) : '';
      await checkUnchanged(attempt.ctx, action, datasetId);
      await driver.run({
        ...attempt,
        job: { id: job.id, name: job.name },
        action: { id, name },
        runId: run.id,
        data,
        secrets,
        datasetId,
        actAs: (principal) => createJobContext(platform, job.tenantId, principal, attempt.signal),
      });
    },
  };
}

/**
 * Throws CONFLICT for an action that was changed or deleted after the run had started, or whose alias names another
 * dataset. Checks of who may change an action look at its current settings, not at the settings in the plan of a run.
 */
async function checkUnchanged(
  { query, viewer }: Context,
  { id, data }: PlannedAction,
  datasetId: string,
): Promise<void> {
  const [now] = await query<{ data: Record<string, unknown>; datasetId: string | null }>({
    text: `
      select a.data, ${usedDatasetIn('a')} as "datasetId"
      from dws.job_action a
      where a.tenant_id = $1 and a.id = $2`,
    values: [viewer.tenantId, id],
  });
  const isSame = now && isDeepStrictEqual(now.data, data) && (datasetId === '' || now.datasetId === datasetId);
  if (!isSame) throw conflict('It was changed or deleted after the run had started');
}

/** Stores the tasks that have ended, so that the history shows them while the run goes on. */
async function saveTasks(
  platform: Platform,
  work: RunningClaim<'job.run'>,
  { history, logs }: RunTasks,
): Promise<void> {
  await platform.database.query(work.tenantId, {
    text: `
      update dws.job_run
      set history = $3, logs = $4, version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and status = 'running'`,
    values: [work.tenantId, work.input.runId, JSON.stringify(history), JSON.stringify(logs)],
  });
}

import type { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { JobRun } from '../../../entities/job-run.ts';
import { Job } from '../../../entities/job.ts';
import type { OperationFailure } from '../../core/operations.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { openSecrets } from './job-action-data.ts';
import type { JobSecrets } from './job-data.ts';
import { isLocked } from './job-lock.ts';
import { loadConditions } from './job-part.ts';
import { WAITED_MS } from './job-run-end.ts';

/** An action as a run executes it. */
export interface PlannedAction extends Pick<JobAction, 'id' | 'name' | 'type' | 'data' | 'datasetId'> {
  secrets: JobSecrets;
  conditions: JobActionCondition[];
}

/** The plan of a run: the job with its datasets and actions, as they are at the start of the run. */
export interface RunPlan {
  run: JobRun;
  job: Job;
  datasets: JobDataset[];
  actions: PlannedAction[];
  /** The run that this one continues. */
  continued: JobRun | null;
  /** Where a run continues that waited for the next attempt of a task; null for a run that begins. */
  paused: PausedTask | null;
  /** Whether an administrator locked the job before the run began. */
  isLocked: boolean;
}

/** A task between two attempts. */
interface PausedTask {
  key: string;
  /** Time at which the task began. */
  startedAt: string;
  attempts: number;
  log: string;
  /** The first failure of the tasks before it. */
  failure: OperationFailure | null;
}

/**
 * State of a run that waits for the next attempt of a task: the plan as it was when the run started, without secrets,
 * and the task. The tasks before it are in the history of the run.
 */
interface RunPause {
  since: string;
  datasets: JobDataset[];
  actions: Omit<PlannedAction, 'secrets'>[];
  task: PausedTask;
}

/** Stores that a run waits for the next attempt of a task until `nextAttemptAt`. */
export const pauseRun = async (
  tx: Transaction,
  { run, datasets, actions }: RunPlan,
  { history, logs }: Pick<JobRun, 'history' | 'logs'>,
  task: PausedTask,
  nextAttemptAt: Date,
): Promise<void> => {
  const pause: RunPause = {
    since: new Date().toISOString(),
    datasets,
    actions: actions.map(({ secrets: _secrets, ...action }) => action),
    task,
  };
  await tx.query({
    text: `
      update dws.job_run
      set next_attempt_at = $3, pause = $4, history = $5, logs = $6, version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and status = 'running'`,
    values: [run.tenantId, run.id, nextAttemptAt, ...[pause, history, logs].map((value) => JSON.stringify(value))],
  });
};

/**
 * Marks a queued run as running, or a run that waited for an attempt as continued, and returns its plan. Returns null
 * if the run or its job was deleted.
 */
export async function beginRun(
  platform: Platform,
  tx: Transaction,
  { jobId, runId }: { jobId: string; runId: string },
): Promise<RunPlan | null> {
  const job = await tx.findOne(Job, { id: jobId }, { lock: 'update' });
  if (!job) return null;
  const { tenantId } = job;
  const [waiting] = await tx.query<{ pause: RunPause | null }>({
    text: `select pause from dws.job_run where tenant_id = $1 and id = $2`,
    values: [tenantId, runId],
  });
  const pause = waiting?.pause ?? null;
  tx.execute({
    text: `
      update dws.job_run
      set status = 'running', started_at = coalesce(started_at, now()), next_attempt_at = null, pause = null,
        waited = waited + ${WAITED_MS}, version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and (status = 'queued' or pause is not null)`,
    values: [tenantId, runId],
  });
  tx.execute({
    text: `update dws.job set locked_at = coalesce(locked_at, now()), heartbeat = now() where tenant_id = $1 and id = $2`,
    values: [tenantId, jobId],
  });
  const [run, datasets, actions, conditions, secrets] = await Promise.all([
    tx.findOne(JobRun, { id: runId }),
    tx.find(JobDataset, { jobId }, { orderBy: ['position'] }),
    tx.find(JobAction, { jobId }, { orderBy: ['order'] }),
    loadConditions(tx, jobId),
    tx.query<{ id: string; secrets: string }>({
      text: `select id, secrets from dws.job_action where tenant_id = $1 and job_id = $2 and secrets is not null`,
      values: [tenantId, jobId],
    }),
  ]);
  if (!run) return null;
  const sealed = new Map(secrets.map((row) => [row.id, row.secrets]));
  const planned =
    pause?.actions ??
    actions.map(({ id, name, type, data, datasetId }) => ({
      id,
      name,
      type,
      data,
      datasetId,
      conditions: conditions.filter(({ jobActionId }) => jobActionId === id),
    }));
  return {
    run,
    job,
    datasets: pause?.datasets ?? datasets,
    actions: planned.map((action) => ({
      ...action,
      secrets: openSecrets(platform, { name: action.name, secrets: sealed.get(action.id) ?? null }),
    })),
    paused: pause?.task ?? null,
    isLocked: !pause && (await isLocked(tx, job)),
    continued: run.retryOfId ? await tx.findOne(JobRun, { id: run.retryOfId }) : null,
  };
}

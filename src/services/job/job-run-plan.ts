import type { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { JobRun } from '../../../entities/job-run.ts';
import { Job } from '../../../entities/job.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { openSecrets } from './job-action-data.ts';
import type { JobSecrets } from './job-data.ts';
import { loadConditions } from './job-part.ts';

/** An action as a run executes it. */
export interface PlannedAction extends Pick<JobAction, 'id' | 'name' | 'type' | 'data' | 'datasetId'> {
  secrets: JobSecrets;
  conditions: JobActionCondition[];
}

/** What a run does: the job with its datasets and actions, as they are when it starts. */
export interface RunPlan {
  run: JobRun;
  job: Job;
  datasets: JobDataset[];
  actions: PlannedAction[];
  /** The run that this one continues. */
  continued: JobRun | null;
}

/** Marks a queued run as running and returns what it does. Returns null if the run or its job was deleted. */
export async function beginRun(
  platform: Platform,
  tx: Transaction,
  { jobId, runId }: { jobId: string; runId: string },
): Promise<RunPlan | null> {
  const job = await tx.findOne(Job, { id: jobId }, { lock: 'update' });
  if (!job) return null;
  const { tenantId } = job;
  tx.execute({
    text: `
      update dws.job_run
      set status = 'running', started_at = now(), version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2 and status = 'queued'`,
    values: [tenantId, runId],
  });
  tx.execute({
    text: `update dws.job set locked_at = now(), heartbeat = now() where tenant_id = $1 and id = $2`,
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
  return {
    run,
    job,
    datasets,
    actions: actions.map(({ id, name, type, data, datasetId }) => ({
      id,
      name,
      type,
      data,
      datasetId,
      secrets: openSecrets(platform, { name, secrets: sealed.get(id) ?? null }),
      conditions: conditions.filter(({ jobActionId }) => jobActionId === id),
    })),
    continued: run.retryOfId ? await tx.findOne(JobRun, { id: run.retryOfId }) : null,
  };
}

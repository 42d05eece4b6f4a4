import { JobRun, type JobTrigger } from '../../../entities/job-run.ts';
import type { Job } from '../../../entities/job.ts';
import { JOB } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { newRow } from '../../core/new-row.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingUserId } from '../../core/viewer.ts';
import { lockConcurrencyKey } from '../operation/operation-queue.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { RUN_CANCELLED } from '../operation/run-end.ts';
import { findResourceId, loadResource, type ExpectedVersion } from '../resource/load-resource.ts';
import { requireAccepted } from './job-acceptance.ts';
import { requireUnlocked } from './job-lock.ts';
import { endRuns, type EndedRun } from './job-run-end.ts';

/** Name that the caller chooses for the operation, to follow it. */
type Progress = string | number | null | undefined;

/** Returns the concurrency key of a job: its runs are executed one at a time. */
export const concurrencyKeyOf = (jobId: string): string => `job:${jobId}`;

/**
 * Runs a job or a draft now, with the rights of its owner. Returns the operation; with `waits` after it ended. Throws
 * CONFLICT while the job runs or is locked.
 */
export const run = (ctx: Context, id: string, progress: Progress, waits: boolean): Promise<OperationRecord> =>
  startInTransaction(ctx, waits, async (tx) =>
    startRun(ctx, tx, await loadForRun(ctx, tx, id, 'job:run'), { trigger: 'manual', progress }),
  );

/** A request for a run. */
export interface RunRequest {
  trigger: JobTrigger;
  progress?: Progress;
  /** The failed run to continue, and the key of the task to continue from. */
  retry?: { run: JobRun; from: string | undefined };
}

/**
 * Starts a run of a job that was loaded by `loadForRun`. Returns the id of the operation. The owner of the job accepts
 * it by starting a run. For other callers an unaccepted job is CONFLICT.
 */
export async function startRun(
  ctx: Context,
  tx: Transaction,
  job: Job,
  { trigger, progress, retry }: RunRequest,
): Promise<string> {
  const { tenantId, id: jobId, parentId } = job;
  requireAccepted(ctx, job);
  await requireUnlocked(tx, job);
  const unfinished = await tx.query({
    text: `select from dws.job_run where tenant_id = $1 and job_id = $2 and status in ('queued', 'running') limit 1`,
    values: [tenantId, jobId],
  });
  if (job.lockedAt || unfinished.length > 0) throw conflict('Job is already running');
  const row = newRow(JobRun, {
    tenantId,
    jobId,
    trigger,
    isDraft: Boolean(parentId),
    userId: actingUserId(ctx.viewer),
    retryOfId: retry?.run.id ?? null,
  });
  row.operationId = await operations.start(ctx, tx, {
    operation: 'job.run',
    resource: { kind: 'job', id: jobId },
    input: { runId: row.id, ownerId: job.ownerId, ...(retry?.from && { from: retry.from }) },
    progress,
    unit: 'tasks',
    concurrencyKey: concurrencyKeyOf(jobId),
  });
  tx.insert(row);
  lockJob(tx, job, row.createdAt);
  return row.operationId;
}

/**
 * Marks a job as running and accepted. This does not count as a change of the job: there is no activity and no new
 * version.
 */
const lockJob = (tx: Transaction, { tenantId, id }: Job, requestedAt: Date): void =>
  tx.execute({
    text: `update dws.job set locked_at = $3, heartbeat = now(), accepted = true where tenant_id = $1 and id = $2`,
    values: [tenantId, id, requestedAt],
  });

/**
 * Loads a job for a change that concerns its runs. Locks the concurrency key before the row of the job, in the order in
 * which a run ends: another order would risk a deadlock.
 */
export async function loadForRun(
  ctx: Context,
  tx: Transaction,
  id: string,
  permission: ResourcePermission,
  expected: ExpectedVersion = {},
): Promise<Job> {
  const jobId = isUuid(id) ? id.toLowerCase() : await findResourceId(ctx, tx, JOB.table, id);
  if (jobId) lockConcurrencyKey(tx, concurrencyKeyOf(jobId));
  return loadResource(ctx, tx, JOB, id, permission, expected);
}

/** Ends the runs of a deleted job and of its draft. The operation of a waiting run ends by itself. */
export async function stopRuns(tx: Transaction, { tenantId, id }: Pick<Job, 'tenantId' | 'id'>): Promise<void> {
  const runs = await tx.query<EndedRun & Record<string, unknown>>({
    text: `
      select r.tenant_id as "tenantId", r.job_id as "jobId", r.id as "runId"
      from dws.job j
      join dws.job_run r on r.job_id = j.id and r.status in ('queued', 'running')
      where j.tenant_id = $1 and (j.id = $2 or j.parent_id = $2)
      order by r.job_id`,
    values: [tenantId, id],
  });
  for (const { jobId } of runs) {
    const key = concurrencyKeyOf(jobId);
    lockConcurrencyKey(tx, key);
    operations.cancelRunning(tx, tenantId, key);
  }
  await endRuns(tx, runs, RUN_CANCELLED);
}

import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { JobRun } from '../../../entities/job-run.ts';
import { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { isFinal, type OperationStatus } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { followChanges, startInTransaction } from '../operation/operation-wait.ts';
import { cancelById } from '../operation/operation.ts';
import { loadForRun, startRun } from './job-run-start.ts';

/**
 * Continues a failed or cancelled run from a task: an action id, or the key of a task. By default this is the first
 * task that failed, else the task after the last one that ended. The results of the tasks before it are kept. Returns
 * the operation of the new run; with `waits` after it ended.
 */
export function retry(
  ctx: Context,
  jobId: string,
  runId: string,
  from: string | null | undefined,
  progress: string | number | null | undefined,
  waits: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, waits, async (tx) => {
    const job = await loadForRun(ctx, tx, jobId, 'job:run');
    const run = await loadRun(tx, job, runId);
    if (run.status !== 'failed' && run.status !== 'cancelled')
      throw conflict('Only a run that failed or was cancelled can be continued');
    const first = await firstTask(tx, job, run, from);
    return startRun(ctx, tx, job, { trigger: 'retry', progress, retry: { run, from: first } });
  });
}

/**
 * Returns the key of the task that a continued run begins with: the task of `from`, else the first that failed;
 * undefined for the task after the last one that ended. Throws BAD_USER_INPUT for a task that the job does not have;
 * without `from` CONFLICT.
 */
async function firstTask(
  tx: Transaction,
  job: Job,
  run: JobRun,
  from: string | null | undefined,
): Promise<string | undefined> {
  const failed = run.history.find(({ result }) => !result.success)?.task.key;
  const key = from ? keyOf(from) : failed;
  if (key === undefined || (await hasTask(tx, job, key))) return key;
  if (from) throw invalid('from', 'must be an action of the job, or the key of a task of the run');
  throw conflict('The task that failed is no longer a part of the job: name another one with from');
}

/** Returns the key of a task that is named by its key, or by the id of an action. */
const keyOf = (from: string): string =>
  from.startsWith('dataset:') ? from : `action:${from.replace(/^action:/, '').toLowerCase()}`;

async function hasTask(tx: Transaction, { id: jobId }: Job, key: string): Promise<boolean> {
  const name = key.slice(key.indexOf(':') + 1);
  if (key.startsWith('dataset:')) return (await tx.count(JobDataset, { jobId, alias: name })) > 0;
  return isUuid(name) && (await tx.count(JobAction, { jobId, id: name })) > 0;
}

/**
 * Cancels a run of a job, including a run of another user or the schedule. Returns its id. Throws CONFLICT if it has
 * ended.
 */
export async function cancel(ctx: Context, jobId: string, runId: string): Promise<string> {
  const { id, operationId } = await ctx.transaction(async (tx) =>
    loadRun(tx, await loadForRun(ctx, tx, jobId, 'job:run'), runId),
  );
  if (!operationId) throw notFound({ what: 'job run', id: runId });
  await cancelById(ctx, operationId);
  return id;
}

async function loadRun(tx: Transaction, { id: jobId }: Job, id: string): Promise<JobRun> {
  const run = isUuid(id) ? await tx.findOne(JobRun, { id: id.toLowerCase(), jobId }) : null;
  if (!run) throw notFound({ what: 'job run', id });
  return run;
}

/** A run as its followers read it. */
export interface FollowedRun {
  id: string;
  status: OperationStatus;
  /** Increases with every change of the run and of its progress. */
  sequence: number;
  /** Version of the row that the follower was sent; it may be later than the version that was read. */
  sentVersion: number;
  operationId: string | null;
}

const FOLLOWED_COLUMNS = ['status', 'version', 'operationId', 'operation.sequence'];

/**
 * Follows a run, by default the unfinished run of the job, else the latest one. Yields it immediately, then after every
 * change of its state, tasks and progress, and a last time after its end. Throws NOT_FOUND for a job that has not run,
 * and for a run of a job that the viewer may not read or can no longer read.
 */
export async function follow(
  ctx: Context,
  jobId: string,
  runId: string | null | undefined,
): Promise<AsyncIterable<FollowedRun>> {
  const id = runId ?? (await findCurrentRun(ctx, jobId));
  const read = async (last?: FollowedRun): Promise<FollowedRun> => {
    const job = await ctx.read.one(Job, jobId, ['id']);
    const run = isUuid(id) ? await ctx.read.find(JobRun, { id, jobId: job.id }, FOLLOWED_COLUMNS) : null;
    if (!run) throw notFound({ what: 'job run', id });
    const { operation } = run as { operation?: { sequence: number } | null };
    const { status, version, operationId = null } = run;
    const sequence = version + (operation?.sequence ?? 0);
    const wasSent = isFinal(status) && last?.sentVersion === version;
    return { id: run.id, status, sequence: wasSent ? last.sequence : sequence, sentVersion: version, operationId };
  };
  // Read first, so that NOT_FOUND is an error of the subscription and not of its first event.
  await read();
  return followChanges(ctx.platform, { read, operationOf: ({ operationId }) => operationId }, ctx.request.signal);
}

/** Records the row that a follower was sent for a change, so that the next change does not send it again. */
export function recordSent(
  followed: FollowedRun,
  sent: { version: number; operation?: { sequence?: number } | null },
): void {
  followed.sentVersion = sent.version;
  const sequence = sent.operation?.sequence;
  if (sequence !== undefined) followed.sequence = sent.version + sequence;
}

/** Returns the id of the unfinished run of a job, else of its latest run. */
async function findCurrentRun(ctx: Context, jobId: string): Promise<string> {
  const job = await ctx.read.one(Job, jobId, ['id']);
  const [found] = await ctx.query<{ id: string }>({
    text: `
      select id
      from dws.job_run
      where tenant_id = $1 and job_id = $2
      order by (status in ('queued', 'running')) desc, created_at desc, id desc
      limit 1`,
    values: [ctx.viewer.tenantId, job.id],
  });
  if (!found) throw notFound({ what: 'run of the job', id: jobId });
  return found.id;
}

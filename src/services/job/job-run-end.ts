import type { JobHistoryEntry, JobTrigger } from '../../../entities/job-run.ts';
import { JOB } from '../../../entities/owned-kinds.ts';
import type { OperationEnd } from '../../core/operation-ends.ts';
import type { OperationStatus } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Usage } from '../../core/usage.ts';
import { idOfPrincipal } from '../../core/viewer.ts';
import {
  formerStatusSql,
  notifyFirstFailure,
  pruneRuns,
  RUN_CANCELLED,
  type RunOutcome,
} from '../operation/run-end.ts';
import { recordActivities } from '../resource/activity.ts';
import { teamPayerSql } from '../usage/team-payer.ts';
import { meter } from '../usage/usage-meter.ts';

/** The milliseconds that a run waits for the next attempt of a task; 0 for a run that does not wait. */
export const WAITED_MS = `coalesce(extract(epoch from clock_timestamp() - (pause->>'since')::timestamptz) * 1000, 0)`;

/** A run that ends. */
export interface EndedRun {
  tenantId: string;
  jobId: string;
  runId: string;
}

/** How a run ended. */
export interface RunEnd extends RunOutcome {
  /** When it ended, if not now. */
  endedAt?: Date;
  /** The tasks that ended and their logs. Absent if the stored ones are complete. */
  tasks?: { history: readonly JobHistoryEntry[]; logs: Readonly<Record<string, string>> };
}

interface EndedRow extends Record<string, unknown> {
  name: string;
  ownerId: string;
  data: { notifyOnFailure?: boolean };
  trigger: JobTrigger;
  isDraft: boolean;
  /** Milliseconds; null for a run that had not started. */
  duration: number | null;
  /** The duration in seconds, without the waits for attempts. */
  seconds: string | null;
  /** The job; for a draft its job, because the draft is temporary. */
  chargedId: string;
  /**
   * The user who is the actor of the usage: for a team the user who started the run, else a member, else a superuser.
   */
  payer: string;
  formerStatus: OperationStatus | null;
}

/**
 * Records the end of a run, frees its job unless another run of it waits, and adds the run to the usage ledger. Of
 * consecutive failures, the first is notified to the owner. Does nothing if the run has ended or was deleted. The caller
 * has locked the concurrency key of the job, which keeps the job from starting or being deleted. Returns the duration in
 * milliseconds, null for a run that had not started.
 */
export async function endRun(tx: Transaction, run: EndedRun, end: RunEnd): Promise<number | null> {
  const ended = await recordEnd(tx, run, end);
  meter(run, tx, usageOf([{ run, end, ended }]));
  return ended?.duration ?? null;
}

/** Ends several runs of a tenant in one transaction, like `endRun`. */
export async function endRuns(tx: Transaction, runs: readonly EndedRun[], end: RunEnd): Promise<void> {
  const all: { run: EndedRun; end: RunEnd; ended: EndedRow | undefined }[] = [];
  for (const run of runs) all.push({ run, end, ended: await recordEnd(tx, run, end) });
  if (runs[0]) meter(runs[0], tx, usageOf(all));
}

async function recordEnd(tx: Transaction, run: EndedRun, end: RunEnd): Promise<EndedRow | undefined> {
  const ended = await updateRun(tx, run, end);
  if (!ended) return undefined;
  if (end.status === 'failed' && !ended.isDraft) await reportFailure(tx, run, ended);
  pruneRuns(tx, 'job_run', run.tenantId, run.jobId);
  return ended;
}

/** Returns the usage of the runs that had started. */
const usageOf = (all: readonly { run: EndedRun; end: RunEnd; ended: EndedRow | undefined }[]): Usage[] =>
  all.flatMap(({ run, end, ended }) =>
    ended?.seconds
      ? {
          key: `job:${run.runId}`,
          resource: 'job_compute' as const,
          quantity: ended.seconds,
          actor: `user:${ended.payer}` as const,
          entityType: 'job' as const,
          entityId: ended.chargedId,
          metadata: { trigger: ended.trigger, status: end.status, isDraft: ended.isDraft },
        }
      : [],
  );

async function updateRun(
  tx: Transaction,
  { tenantId, jobId, runId }: EndedRun,
  { status, error, tasks, endedAt }: RunEnd,
): Promise<EndedRow | undefined> {
  // Locks the job before its run, as a deletion of the job does.
  tx.execute({
    text: `
      update dws.job
      set (locked_at, heartbeat) = (
        select min(created_at), min(now())
        from dws.job_run
        where job_id = $2 and id <> $3 and status in ('queued', 'running')
      )
      where tenant_id = $1 and id = $2
        and exists (select from dws.job_run where id = $3 and status in ('queued', 'running'))`,
    values: [tenantId, jobId, runId],
  });
  const [ended] = await tx.query<EndedRow>({
    text: `
      with ended as (
        update dws.job_run
        set status = $4, success = $4 = 'succeeded', error = $5, finished_at = coalesce($8, clock_timestamp()),
          duration = round(greatest(extract(epoch from coalesce($8, clock_timestamp()) - started_at) * 1000, 0)),
          history = coalesce($6, history), logs = coalesce($7, logs), version = version + 1, updated_at = now(),
          next_attempt_at = null, pause = null, waited = waited + ${WAITED_MS}
        where tenant_id = $1 and job_id = $2 and id = $3 and status in ('queued', 'running')
        returning trigger, is_draft, user_id, duration, greatest(duration - waited, 0) as worked
      )
      select j.name, j.owner_id as "ownerId", j.data, e.trigger, e.is_draft as "isDraft",
        round((e.worked / 1000)::numeric, 3)::text as seconds, e.duration, coalesce(j.parent_id, j.id) as "chargedId",
        coalesce(
          case when j.owner_id like 'user:%' then substr(j.owner_id, 6)::uuid else e.user_id end,
          ${teamPayerSql('$1', 'substr(j.owner_id, 6)::uuid')}
        ) as payer,
        ${formerStatusSql('job_run', '$2', '$3')} as "formerStatus"
      from ended e
      join dws.job j on j.tenant_id = $1 and j.id = $2`,
    values: [
      tenantId,
      jobId,
      runId,
      status,
      error,
      tasks ? JSON.stringify(tasks.history) : null,
      tasks ? JSON.stringify(tasks.logs) : null,
      endedAt ?? null,
    ],
  });
  return ended;
}

/** Records the activity of a failed run, and notifies the owner unless the run before it failed too. */
async function reportFailure(
  tx: Transaction,
  { tenantId, jobId }: EndedRun,
  { name, ownerId, data, formerStatus }: EndedRow,
): Promise<void> {
  const owner = { tenantId, userId: idOfPrincipal(ownerId), username: '' };
  recordActivities(owner, tx, JOB, 'run.failed', [{ id: jobId, name, ownerId }], () => `A run of ${name} failed`);
  if (data.notifyOnFailure === false) return;
  await notifyFirstFailure(tx, 'job', { tenantId, id: jobId, name, owner: ownerId, formerStatus });
}

/** Ends a run whose operation was cancelled. */
export const jobRunEnd: OperationEnd<'job.run'> = {
  async cancelled(tx, { tenantId, resourceId: jobId, input: { runId } }) {
    await endRun(tx, { tenantId, jobId, runId }, RUN_CANCELLED);
  },
};

import type { JobTrigger } from '../../../entities/job-run.ts';
import type { Job } from '../../../entities/job.ts';
import type { Query } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import type { Platform } from '../../core/platform.ts';
import { missedRun, nextRun, type Schedule } from '../../core/schedule/schedule.ts';
import { currentTraceparent, startSpan } from '../../core/tracing.ts';
import { idOfPrincipal } from '../../core/viewer.ts';
import { queueOperations } from '../operation/operation-queue.ts';
import { notify } from '../resource/notification.ts';
import { concurrencyKeyOf } from './job-run-start.ts';
import { scheduleOf } from './job-schedule.ts';

/** Number of due jobs that one transaction starts. */
export const DUE_BATCH = 200;

/** Delay from which a run counts as missed: no process of the service started it at its time. */
const MISSED_MS = 60_000;

type DueJob = Pick<
  Job,
  | 'id'
  | 'name'
  | 'tenantId'
  | 'ownerId'
  | 'interval'
  | 'intervalType'
  | 'timezone'
  | 'startOn'
  | 'endOn'
  | 'scheduledAt'
> & {
  dueAt: Date;
  now: Date;
  overlap: string | null;
  /** Whether an administrator has locked it. */
  isLocked: boolean;
  isRunning: boolean;
  /** Whether a run of the schedule waits for the running one. */
  isWaiting: boolean;
} & Record<string, unknown>;

/** A run that a schedule starts. */
interface DueRun {
  job: DueJob;
  id: string;
  operationId: string;
  trigger: JobTrigger;
  dueAt: Date;
}

/**
 * Starts the jobs of all tenants that are due, at most `DUE_BATCH` of them, and computes their next runs. Several
 * processes share the work: the row of a job and the unique due times of its runs keep each from being started twice.
 * `clock` replaces the clock of Postgres. Returns the number of due jobs. See docs/contract/jobs.md#runs-of-jobs.
 */
export async function startDueJobs(platform: Platform, clock?: Date): Promise<number> {
  const scheduled = await platform.system.transaction(async (query) => {
    const due = await query<DueJob>({
      text: `
        select j.id, j.name, j.tenant_id as "tenantId", j.owner_id as "ownerId", j.interval,
          j.interval_type as "intervalType", j.timezone, j.start_on as "startOn", j.end_on as "endOn",
          j.scheduled_at as "scheduledAt", j.next_run_at as "dueAt", coalesce($1, now()) as now,
          j.data->>'overlap' as overlap,
          j.admin_locked_at is not null as "isLocked", j.locked_at is not null or exists (
            select from dws.job_run r where r.job_id = j.id and r.status in ('queued', 'running')
          ) as "isRunning",
          exists (
            select from dws.job_run r where r.job_id = j.id and r.status = 'queued' and r.due_at is not null
          ) as "isWaiting"
        from dws.job j
        where j.next_run_at <= coalesce($1, now())
        order by j.next_run_at
        limit ${DUE_BATCH}
        for update skip locked`,
      values: [clock ?? null],
    });
    if (due.length === 0) return [];
    const parsed = due.map((job) => ({ job, schedule: tryParse(platform, job) }));
    await setNextRuns(query, parsed);
    const planned = parsed.flatMap(({ job, schedule }) => (schedule && planRun(platform, job, schedule)) ?? []);
    const runs = await insertRuns(query, planned);
    if (runs.length > 0) await startRuns(platform, query, runs);
    return parsed;
  });
  for (const { job, schedule } of scheduled) if (!schedule) await reportInvalid(platform, job);
  return scheduled.length;
}

/** Notifies the owner of a job whose schedule is no longer valid, so that it has no next run. */
const reportInvalid = ({ database }: Platform, { id, tenantId, ownerId, name }: DueJob): Promise<unknown> =>
  database.transaction(tenantId, (tx) =>
    notify(tx, tenantId, [ownerId], {
      type: 'job.run.failed',
      message: `The job ${name} no longer runs: its schedule is no longer valid`,
      resource: { kind: 'job', id },
    }),
  );

/** Returns the run of a due job; null if the job is locked, or still runs and does not let runs wait. Of missed times, the last counts. */
function planRun({ log }: Platform, job: DueJob, schedule: Schedule): DueRun | null {
  const { id, dueAt, now, isLocked, isRunning, isWaiting } = job;
  if (isLocked) {
    log.info({ job: id, dueAt }, 'A due job is locked: this time is left out');
    return null;
  }
  if (isRunning && (job.overlap !== 'queue' || isWaiting)) {
    log.info({ job: id, dueAt, isWaiting }, 'A due job still runs: this time is left out');
    return null;
  }
  const missed = missedRun(schedule, dueAt, now);
  const isLate = missed !== null || now.getTime() - dueAt.getTime() > MISSED_MS;
  const trigger = isLate ? 'catch-up' : 'schedule';
  return { job, id: newId(), operationId: newId(), trigger, dueAt: missed ?? dueAt };
}

/** Returns the schedule of a job. Null for one that is no longer valid, e.g. as its time zone was abolished. */
function tryParse({ log }: Platform, job: DueJob): Schedule | null {
  try {
    return scheduleOf(job as unknown as Job);
  } catch (error) {
    log.error({ err: error, job: job.id }, 'The schedule of a job is not valid: it no longer runs');
    return null;
  }
}

/** Stores the next runs of due jobs. An invalid schedule has none. */
async function setNextRuns(
  query: Query,
  scheduled: readonly { job: DueJob; schedule: Schedule | null }[],
): Promise<void> {
  await query({
    text: `
      update dws.job j
      set next_run_at = n.next_run_at
      from unnest($1::uuid[], $2::timestamptz[]) n (id, next_run_at)
      where j.id = n.id`,
    values: [
      scheduled.map(({ job }) => job.id),
      scheduled.map(({ job, schedule }) => schedule && nextRun(schedule, job.now)),
    ],
  });
}

/** Inserts runs. Returns those that are new: after the clock was set back, a due time may have its run already. */
async function insertRuns(query: Query, runs: readonly DueRun[]): Promise<DueRun[]> {
  if (runs.length === 0) return [];
  const inserted = await query<{ id: string }>({
    text: `
      insert into dws.job_run (id, tenant_id, job_id, trigger, due_at, operation_id)
      select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::uuid[])
      on conflict (job_id, due_at) do nothing
      returning id`,
    values: [
      runs.map(({ id }) => id),
      runs.map(({ job }) => job.tenantId),
      runs.map(({ job }) => job.id),
      runs.map(({ trigger }) => trigger),
      runs.map(({ dueAt }) => dueAt),
      runs.map(({ operationId }) => operationId),
    ],
  });
  const ids = new Set(inserted.map(({ id }) => id));
  return runs.filter(({ id }) => ids.has(id));
}

/** Starts the trace of a run by its schedule. Returns its `traceparent`. */
function traceRun({ id }: DueJob, trigger: JobTrigger): string | null {
  const attributes = { 'dws.job.id': id, 'dws.job.trigger': trigger };
  const span = startSpan({ name: 'job due', kind: 'producer', parent: null, attributes });
  try {
    return span.run(currentTraceparent);
  } finally {
    span.end();
  }
}

/** Inserts the operations of runs, locks their jobs and sends the operations to the queue. */
async function startRuns({ queue }: Platform, query: Query, runs: readonly DueRun[]): Promise<void> {
  const operations = runs.map(({ id, operationId, job, trigger }) => ({
    id: operationId,
    tenantId: job.tenantId,
    userId: idOfPrincipal(job.ownerId),
    operation: 'job.run' as const,
    resource: { kind: 'job', id: job.id },
    input: { runId: id, ownerId: job.ownerId },
    unit: 'tasks',
    concurrencyKey: concurrencyKeyOf(job.id),
    traceparent: traceRun(job, trigger),
  }));
  await queueOperations(queue, query, operations);
  await query({
    text: `
      update dws.job
      set locked_at = now(), heartbeat = now()
      where id = any($1) and locked_at is null`,
    values: [runs.map(({ job }) => job.id)],
  });
}

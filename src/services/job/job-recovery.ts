import type { Job } from '../../../entities/job.ts';
import type { Platform } from '../../core/platform.ts';
import { nextRun } from '../../core/schedule/schedule.ts';
import { lockConcurrencyKey } from '../operation/operation-queue.ts';
import { endLostRuns, RUN_LOST } from '../operation/run-end.ts';
import { endRun, type EndedRun } from './job-run-end.ts';
import { concurrencyKeyOf } from './job-run-start.ts';
import { scheduleOf } from './job-schedule.ts';

/** Time without a heartbeat after which a lock that no run holds is removed. */
const LOCK_TIMEOUT = '60 seconds';
const RESCHEDULE_BATCH = 500;

/**
 * Records runs as failed whose operation has ended without them, e.g. in a restored backup, at their last heartbeat, and
 * frees jobs that are locked without a run.
 */
export async function recoverJobs(platform: Platform, signal?: AbortSignal): Promise<void> {
  await endLostRuns<EndedRun & { endedAt: Date }>(
    platform,
    {
      table: 'job_run',
      columns: `r.job_id as "jobId", r.id as "runId",
        (select coalesce(j.heartbeat, r.started_at, r.created_at) from dws.job j where j.id = r.job_id) as "endedAt"`,
    },
    (tx, run) => {
      lockConcurrencyKey(tx, concurrencyKeyOf(run.jobId));
      return endRun(tx, run, { ...RUN_LOST, endedAt: run.endedAt });
    },
    signal,
  );
  await platform.system.query({
    text: `
      update dws.job j
      set locked_at = null, heartbeat = null
      where locked_at is not null and coalesce(heartbeat, locked_at) < now() - interval '${LOCK_TIMEOUT}'
        and not exists (
          select from dws.job_run r where r.job_id = j.id and r.status in ('queued', 'running')
        )`,
  });
}

/**
 * Computes the next run of all scheduled jobs again, because the clock was set back: they would wait until it shows the
 * former time again. Does not change jobs that are due before.
 */
export async function rescheduleJobs({ system, log }: Platform, now: Date): Promise<void> {
  let changed = 0;
  for (let last = '00000000-0000-0000-0000-000000000000'; ;) {
    const jobs = await system.query<Job & Record<string, unknown>>({
      text: `
        select id, interval, interval_type as "intervalType", timezone, start_on as "startOn", end_on as "endOn",
          scheduled_at as "scheduledAt", next_run_at as "nextRunAt"
        from dws.job
        where id > $1 and next_run_at is not null
        order by id
        limit ${RESCHEDULE_BATCH}`,
      values: [last],
    });
    if (jobs.length === 0) break;
    last = jobs.at(-1)!.id;
    const earlier = jobs.flatMap((job) => {
      const next = scheduledRun(job, now);
      return next && next < job.nextRunAt! ? [{ id: job.id, former: job.nextRunAt!, next }] : [];
    });
    await system.query({
      text: `
        update dws.job j
        set next_run_at = n.next_run_at
        from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[]) n (id, former, next_run_at)
        where j.id = n.id and j.next_run_at = n.former`,
      values: [earlier.map(({ id }) => id), earlier.map(({ former }) => former), earlier.map(({ next }) => next)],
    });
    changed += earlier.length;
  }
  log.info({ jobs: changed }, 'The clock was set back: jobs are scheduled again');
}

function scheduledRun(job: Job, now: Date): Date | null {
  try {
    const schedule = scheduleOf(job);
    return schedule && nextRun(schedule, now);
  } catch {
    return null;
  }
}

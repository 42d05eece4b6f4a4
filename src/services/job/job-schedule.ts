import type { UpdateJobInput } from '../../../entities/job-input.ts';
import type { Job } from '../../../entities/job.ts';
import { assignPresent, invalid } from '../../core/input-checks.ts';
import { checkOnceAhead, nextRun, parseSchedule } from '../../core/schedule/schedule.ts';
import { isTimezone } from '../../core/time-zone.ts';

const SCHEDULE_KEYS = ['interval', 'intervalType', 'timezone', 'startOn', 'endOn', 'enabled'] as const;

/** The fields of a schedule in an input. */
export type ScheduleInput = Pick<UpdateJobInput, (typeof SCHEDULE_KEYS)[number]>;

/**
 * Changes the schedule of a job and computes its next run. A value equal to the present one does not count as a change,
 * so that a job whose only run is over can be edited. Throws BAD_USER_INPUT naming the invalid key.
 */
export function changeSchedule(job: Job, input: ScheduleInput, now = new Date()): void {
  const former = describe(job);
  const { interval, intervalType, timezone, startOn, endOn, enabled } = input;
  assignPresent(job, { interval: interval?.trim() ?? interval, intervalType, timezone, startOn, endOn, enabled }, [
    'interval',
    'intervalType',
    'startOn',
    'endOn',
  ]);
  if (describe(job) !== former) reschedule(job, now);
}

/** Computes the next run of a job whose schedule has been replaced. A draft has none. */
export function reschedule(job: Job, now = new Date()): void {
  job.scheduledAt = now;
  const schedule = scheduleOf(job);
  if (schedule && job.enabled && !job.parentId) checkOnceAhead(schedule, now);
  job.nextRunAt = schedule && job.enabled && !job.parentId ? nextRun(schedule, now) : null;
}

const describe = (job: Job): string => JSON.stringify(SCHEDULE_KEYS.map((key) => job[key] ?? null));

/** Returns the schedule of a job, null without one. Throws BAD_USER_INPUT naming the invalid key. */
export function scheduleOf({ interval, intervalType, timezone, startOn, endOn, scheduledAt }: Job) {
  if (!isTimezone(timezone)) throw invalid('timezone', 'must be an IANA time zone');
  if (!intervalType) {
    if (interval) throw invalid('intervalType', 'is required with an interval');
    return null;
  }
  return parseSchedule({
    intervalType,
    interval: interval ?? null,
    timezone,
    startOn: startOn ?? null,
    endOn: endOn ?? null,
    savedAt: scheduledAt,
  });
}

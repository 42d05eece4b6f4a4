import { checkText, invalid } from '../input-checks.ts';
import { offsetFormatter } from '../time-zone.ts';
import { cronRuns } from './cron-runs.ts';
import type { Runs } from './runs.ts';
import { simpleRuns } from './simple-runs.ts';
import { ZoneClock } from './zone-clock.ts';

/** Types of intervals. See docs/contract/jobs.md#schedules. */
const INTERVAL_TYPES = ['cron', 'simple', 'once'] as const;
type IntervalType = (typeof INTERVAL_TYPES)[number];

const MAX_INTERVAL_CHARACTERS = 255;

/** The input from which a schedule is parsed. */
export interface ScheduleInput {
  intervalType: string;
  /** Cron expression, or interval such as `10 minutes`. Not read for `once`. */
  interval: string | null;
  /** Name of an IANA time zone. */
  timezone: string;
  /** Lower bound of the due times, inclusive. */
  startOn: Date | null;
  /** Upper bound of the due times, inclusive. */
  endOn: Date | null;
  /** Time from which a simple interval without `startOn` is counted. It is not a due time. */
  savedAt: Date;
}

/** When a job runs: the due times, from `startOn` to `endOn`. */
export interface Schedule {
  readonly intervalType: IntervalType;
  readonly runs: Runs;
  readonly startOn: Date | null;
  readonly endOn: Date | null;
}

/** Returns the schedule of a job. Throws BAD_USER_INPUT that names the invalid key. */
export function parseSchedule(input: ScheduleInput): Schedule {
  const { timezone, startOn, endOn } = input;
  const intervalType = INTERVAL_TYPES.find((type) => type === input.intervalType);
  if (!intervalType) throw invalid('intervalType', `must be one of ${INTERVAL_TYPES.join(', ')}`);
  const formatter = offsetFormatter(timezone);
  if (!formatter) throw invalid('timezone', 'must be an IANA time zone');
  if (startOn && endOn && endOn < startOn) throw invalid('endOn', 'must not be before startOn');
  return { intervalType, runs: parseRuns(intervalType, input, new ZoneClock(formatter)), startOn, endOn };
}

function parseRuns(intervalType: IntervalType, { interval, startOn, savedAt }: ScheduleInput, clock: ZoneClock): Runs {
  if (intervalType === 'once') {
    if (!startOn) throw invalid('startOn', 'is required by the interval type once');
    return onceRuns(startOn.getTime());
  }
  const text = checkText(interval, 'interval', MAX_INTERVAL_CHARACTERS);
  if (intervalType === 'cron') return cronRuns(text, clock);
  return simpleRuns(text, clock, (startOn ?? savedAt).getTime(), startOn !== null);
}

const onceRuns = (dueTime: number): Runs => ({
  next: (after) => (after < dueTime ? dueTime : null),
  latest: (until) => (until < dueTime ? null : dueTime),
});

/**
 * Throws BAD_USER_INPUT for a schedule whose only run is in the past. Call it when a job is saved as enabled: a
 * disabled one may keep such a schedule.
 */
export function checkOnceAhead({ intervalType, startOn }: Schedule, now: Date): void {
  if (intervalType === 'once' && startOn! <= now)
    throw invalid('startOn', 'must be in the future for an enabled job that runs once');
}

/** Returns the first due time after an instant, or null without one up to `endOn`. */
export function nextRun({ runs, startOn, endOn }: Schedule, after: Date): Date | null {
  const next = runs.next(Math.max(after.getTime(), startOn ? startOn.getTime() - 1 : -Infinity));
  return next === null || (endOn && next > endOn.getTime()) ? null : new Date(next);
}

/**
 * Returns the last due time after `from`, up to and including `to`, or null without one. It stands for all times that
 * were missed in between: one run catches up with them.
 */
export function missedRun({ runs, startOn, endOn }: Schedule, from: Date, to: Date): Date | null {
  const latest = runs.latest(Math.min(to.getTime(), endOn?.getTime() ?? Infinity));
  const isMissed = latest !== null && latest > from.getTime() && (!startOn || latest >= startOn.getTime());
  return isMissed ? new Date(latest) : null;
}

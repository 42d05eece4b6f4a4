import { invalid } from '../input-checks.ts';
import type { Runs } from './runs.ts';
import { DAY_MS, type ZoneClock } from './zone-clock.ts';

const SIMPLE = /^(\d{1,9})\s+(second|minute|hour|day|week|month)s?$/i;
/** Milliseconds of the units. The value of a month only bounds the interval. */
const UNIT_MS: Record<string, number> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30.5 * DAY_MS,
};
const MIN_STEP_MS = 10_000;
const MAX_STEP_MS = 3660 * DAY_MS;

/** Due times with indices. The time of index 0 is the time from which the others are counted. */
interface Series {
  at(index: number): number;
  /** Returns the index of the last due time up to and including an instant that is not before the time of index 0. */
  latestIndex(until: number): number;
}

/**
 * Returns the due times of an interval such as `10 minutes`. Seconds, minutes and hours are elapsed time. Days, weeks
 * and months keep the time of day in the time zone. Every due time is counted from `start`, so that 31 January and
 * one month is the last day of February, and two months 31 March. `start` itself is a due time if `isStartDue`. Throws
 * BAD_USER_INPUT for any other text.
 */
export function simpleRuns(interval: string, clock: ZoneClock, start: number, isStartDue: boolean): Runs {
  const series = parseSeries(interval, clock, start);
  const first = isStartDue ? 0 : 1;
  const latestIndex = (until: number) => (until < start ? -1 : series.latestIndex(until));
  return {
    next: (after) => series.at(Math.max(first, latestIndex(after) + 1)),
    latest(until) {
      const index = latestIndex(until);
      return index < first ? null : series.at(index);
    },
  };
}

function parseSeries(interval: string, clock: ZoneClock, start: number): Series {
  const match = SIMPLE.exec(interval);
  if (!match)
    throw invalid('interval', 'must be a number of seconds, minutes, hours, days, weeks or months: 10 minutes');
  const count = Number(match[1]);
  const unit = match[2]!.toLowerCase();
  const step = count * UNIT_MS[unit]!;
  if (step < MIN_STEP_MS) throw invalid('interval', 'must be at least 10 seconds');
  if (step > MAX_STEP_MS) throw invalid('interval', 'must be at most 10 years');
  if (unit === 'month') return monthSeries(count, clock, start);
  return unit === 'day' || unit === 'week' ? daySeries(step, clock, start) : elapsedSeries(step, start);
}

const elapsedSeries = (step: number, start: number): Series => ({
  at: (index) => start + index * step,
  latestIndex: (until) => Math.floor((until - start) / step),
});

function daySeries(step: number, clock: ZoneClock, start: number): Series {
  const local = clock.local(start);
  return {
    at: (index) => (index === 0 ? start : clock.firstInstant(local + index * step)),
    latestIndex: (until) => Math.floor((clock.reached(until) - local) / step),
  };
}

function monthSeries(count: number, clock: ZoneClock, start: number): Series {
  const local = clock.local(start);
  return {
    at: (index) => (index === 0 ? start : clock.firstInstant(addMonths(local, index * count))),
    latestIndex(until) {
      const reached = clock.reached(until);
      const index = Math.floor((monthNumber(reached) - monthNumber(local)) / count);
      return addMonths(local, index * count) <= reached ? index : index - 1;
    },
  };
}

/** Returns the number of months since the year 0. */
function monthNumber(local: number): number {
  const date = new Date(local);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Adds calendar months. A day that the month does not have becomes its last day. */
function addMonths(local: number, months: number): number {
  const date = new Date(local);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months, 1);
  const nextMonth = new Date(date);
  nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1, 0);
  return date.setUTCDate(Math.min(day, nextMonth.getUTCDate()));
}

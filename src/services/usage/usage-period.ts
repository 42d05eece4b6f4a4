import { isoDatetime } from '../../core/dates.ts';
import { invalid } from '../../core/input-checks.ts';

/** Days of UTC from `start` to `end`, both included, as `YYYY-MM-DD`. */
export interface UsagePeriod {
  start: string;
  end: string;
}

/** Maximum number of days of a report: two years, one of them a leap year. */
const MAX_DAYS = 731;
const DAY_MS = 86_400_000;

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** Returns the UTC month of a time as `YYYY-MM`. */
export const monthOf = (time: Date): string => time.toISOString().slice(0, 7);

/** Returns the UTC month of `now`, from its first day to today. */
export const monthPeriod = (now: Date): UsagePeriod => ({ start: `${monthOf(now)}-01`, end: dayOf(now) });

/** Returns the last `count` months, from the first day of the earliest to today. */
export function lastMonths(count: number, now: Date): UsagePeriod {
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count + 1, 1));
  return { start: dayOf(first), end: dayOf(now) };
}

/** Returns the last `count` days, including the day of `now`. */
export const lastDays = (count: number, now: Date): UsagePeriod => ({
  start: dayOf(new Date(now.getTime() - (count - 1) * DAY_MS)),
  end: dayOf(now),
});

/**
 * Returns the days of a report from its arguments, ISO dates or times: by default from the first day of the current month
 * to today. Throws BAD_USER_INPUT for other texts, an end before the start, and more than 731 days.
 */
export function readPeriod(
  { startDate, endDate }: { startDate?: string | null; endDate?: string | null },
  now: Date,
): UsagePeriod {
  const start = parseDay('startDate', startDate) ?? monthPeriod(now).start;
  const end = parseDay('endDate', endDate) ?? dayOf(now);
  if (start > end) throw invalid('endDate', `must not be before startDate (${start} to ${end})`);
  const days = (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
  if (days > MAX_DAYS) throw invalid('startDate', `must be at most ${MAX_DAYS} days before the end of endDate`);
  return { start, end };
}

function parseDay(name: string, text: string | null | undefined): string | undefined {
  if (text === undefined || text === null) return undefined;
  const time = isoDatetime(text);
  if (time === undefined) throw invalid(name, 'must be an ISO 8601 date or time, e.g. 2026-01-31');
  return time.slice(0, 10);
}

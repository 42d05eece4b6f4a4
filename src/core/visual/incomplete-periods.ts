import type { Aggregation } from '../dataset-index.ts';

type Interval = NonNullable<Aggregation['groupBy'][number]['interval']>;

/** Whether the data begins after the start of the first period of a chart, and ends before the end of the last one. */
export interface IncompletePeriods {
  first: boolean;
  last: boolean;
}

const MINUTE = 60_000;
const MONTHS: Partial<Record<Interval, number>> = { month: 1, quarter: 3, year: 12 };
const LENGTHS: Partial<Record<Interval, number>> = {
  minute: MINUTE,
  hour: 60 * MINUTE,
  day: 24 * 60 * MINUTE,
  week: 7 * 24 * 60 * MINUTE,
};
/** Part of a period at its start or end that may be without data, e.g. one day of a week. */
const TOLERANCE = 1 / 7;

function endOf(start: number, interval: Interval): number {
  const months = MONTHS[interval];
  if (months === undefined) return start + LENGTHS[interval]!;
  const date = new Date(start);
  return date.setUTCMonth(date.getUTCMonth() + months);
}

/**
 * Compares the periods of a chart, given by their first instants, with the times of the earliest and latest row.
 * Periods and times are in ISO 8601 and UTC.
 */
export function incompletePeriods(
  periods: readonly unknown[],
  interval: Interval,
  { earliest, latest }: { earliest: unknown; latest: unknown },
): IncompletePeriods {
  const starts = periods.filter((period) => typeof period === 'string').map((period) => Date.parse(period));
  const [from, to] = [Date.parse(String(earliest)), Date.parse(String(latest))];
  if (starts.length === 0 || Number.isNaN(from) || Number.isNaN(to)) return { first: false, last: false };
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  // The times are times of periods, e.g. one row for each month: they do not show when a period ends.
  if (from === first && to === last) return { first: false, last: false };
  const hasGap = (start: number, gap: number) => gap > TOLERANCE * (endOf(start, interval) - start);
  return { first: hasGap(first, from - first), last: hasGap(last, endOf(last, interval) - to) };
}

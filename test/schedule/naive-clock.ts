export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Zones with different changes of the clock: half an hour, midnight, a skipped day, twice around Ramadan, none. */
export const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Sao_Paulo',
  'Pacific/Apia',
  'UTC',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Antarctica/Troll',
];

const formatters = new Map<string, Intl.DateTimeFormat>();

/** The local time at an instant, in milliseconds as if it were in UTC, from the parts that Intl prints. */
export function naiveLocal(zone: string, instant: number): number {
  let formatter = formatters.get(zone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formatters.set(zone, formatter);
  }
  const parts = Object.fromEntries(formatter.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts as Record<string, number>;
  return Date.UTC(year!, month! - 1, day, hour, minute, second) + (((instant % 1000) + 1000) % 1000);
}

/** Days in a span of years after which the clock of a zone differs from UTC by another amount, as instants. */
export function daysOfChange(zone: string, firstYear: number, lastYear: number): number[] {
  const days: number[] = [];
  const offset = (instant: number) => naiveLocal(zone, instant) - instant;
  for (let day = Date.UTC(firstYear, 0, 1); day < Date.UTC(lastYear + 1, 0, 1); day += DAY)
    if (offset(day) !== offset(day + DAY)) days.push(day);
  return days;
}

/**
 * The due times from `from` to `to`, by walking the clock minute by minute: an instant is due if the clock passes a
 * matching local time for the first time. All are whole minutes. The clock repeats less than four hours.
 */
export function naiveRuns(zone: string, matches: (local: Date) => boolean, from: number, to: number): number[] {
  const runs: number[] = [];
  let reached = naiveLocal(zone, from - 4 * HOUR);
  for (let instant = from - 4 * HOUR; instant <= to; instant += MINUTE) {
    const local = naiveLocal(zone, instant);
    let isDue = false;
    for (; reached < local; reached += MINUTE) isDue ||= matches(new Date(reached + MINUTE));
    if (isDue && instant >= from) runs.push(instant);
  }
  return runs;
}

/** The first instant, in whole minutes, at which the clock of a zone shows a local time or a later one. */
export function naiveInstant(zone: string, local: number): number {
  const offset = (at: number) => naiveLocal(zone, at) - at;
  let instant = local - Math.max(offset(local - DAY), offset(local + DAY));
  while (naiveLocal(zone, instant) < local) instant += MINUTE;
  return instant;
}

import { Cron } from 'croner';
import { invalid } from '../input-checks.ts';
import type { Runs } from './runs.ts';
import type { ZoneClock } from './zone-clock.ts';

interface CronField {
  name: string;
  min: number;
  max: number;
  /** Names of the values from `min`. */
  names?: readonly string[];
  /** The permitted values, for errors. */
  values: string;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
/** Sunday is 0 at the beginning of a range and 7 at its end. */
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];
const FIELDS: readonly CronField[] = [
  { name: 'minute', min: 0, max: 59, values: '0 to 59' },
  { name: 'hour', min: 0, max: 23, values: '0 to 23' },
  { name: 'day of the month', min: 1, max: 31, values: '1 to 31' },
  { name: 'month', min: 1, max: 12, names: MONTHS, values: '1 to 12, JAN to DEC' },
  { name: 'day of the week', min: 0, max: 7, names: WEEKDAYS, values: '0 to 7, SUN to SAT' },
];
const ITEM = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/;

/**
 * Returns the due times of a cron expression with five fields. A local time that the clock skips is due at the end of
 * the gap, a repeated one once. Throws BAD_USER_INPUT for an invalid expression and for one that names no existing
 * date.
 *
 * The library searches local times, as if they were in UTC, and the clock converts them to instants. Its own rules for
 * changes of the clock differ from docs/contract/jobs.md#schedules. The search ends with the year 2999.
 */
export function cronRuns(interval: string, clock: ZoneClock): Runs {
  const fields = interval.toUpperCase().split(/\s+/);
  if (fields.length !== FIELDS.length)
    throw invalid('interval', 'must have five fields: minute, hour, day of the month, month, day of the week');
  for (const [i, field] of FIELDS.entries()) checkField(fields[i]!, field);
  const cron = new Cron(fields.join(' '), { mode: '5-part', utcOffset: 0 });
  const toInstant = (local: Date | null | undefined) => (local ? clock.firstInstant(local.getTime()) : null);
  if (!cron.nextRun(new Date(0))) throw invalid('interval', 'names a date that does not exist');
  return {
    next: (after) => toInstant(cron.nextRun(new Date(clock.reached(after)))),
    latest: (until) => toInstant(cron.previousRuns(1, new Date(clock.reached(until) + 1))[0]),
  };
}

/** Throws unless the text is a list of values, ranges and steps. The errors of the library would show other numbers. */
function checkField(text: string, field: CronField): void {
  if (text.split(',').every((item) => isItem(item, field))) return;
  throw invalid(
    'interval',
    `has the invalid ${field.name} ${JSON.stringify(text)}: use * or ${field.values}, lists, ranges and steps (1,5-9,*/20)`,
  );
}

function isItem(item: string, { min, max, names }: CronField): boolean {
  const match = ITEM.exec(item);
  if (!match) return false;
  const [, from, to, step] = match;
  if (step !== undefined && (Number(step) < 1 || Number(step) > max || (from !== undefined && to === undefined)))
    return false;
  if (from === undefined) return true;
  const first = valueOf(from, names?.indexOf(from), min);
  const last = to === undefined ? first : valueOf(to, names?.lastIndexOf(to), min);
  return min <= first && first <= last && last <= max;
}

/** Returns the number that a text states or names, else NaN. */
function valueOf(text: string, index: number | undefined, min: number): number {
  if (index !== undefined && index >= 0) return min + index;
  return /^\d{1,2}$/.test(text) ? Number(text) : NaN;
}

import type { FieldType } from '../../../core/fields.ts';
import { checkInterval } from '../intervals.ts';
import type { Interval } from '../intervals.ts';
import { quoteText } from './sql-values.ts';

/**
 * Returns SQL of the start of the interval that contains a date or datetime: a date for a date, a UTC time for a
 * datetime. Weeks begin on Monday. With a time zone the intervals follow its clocks; the two hours with the same name
 * in autumn are two intervals.
 *
 * Throws BAD_USER_INPUT for a field of another type and for an unknown time zone.
 */
export function bucket(type: FieldType, column: string, interval: Interval, timezone?: string): string {
  checkInterval(type, timezone);
  if (type === 'date')
    return interval === 'minute' || interval === 'hour' ? column : `CAST(date_trunc('${interval}', ${column}) AS DATE)`;
  if (timezone === undefined || timezone === 'UTC') return `date_trunc('${interval}', ${column})`;
  const zone = quoteText(timezone);
  const local = `((${column} AT TIME ZONE 'UTC') AT TIME ZONE ${zone})`;
  if (interval === 'minute' || interval === 'hour')
    return `${column} - (${local} - date_trunc('${interval}', ${local}))`;
  return `((date_trunc('${interval}', ${local}) AT TIME ZONE ${zone}) AT TIME ZONE 'UTC')`;
}

import type { Aggregation } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';
import type { FieldType } from '../../core/fields.ts';

export type Interval = NonNullable<Aggregation['groupBy'][number]['interval']>;

/** Throws BAD_USER_INPUT for a field that is not a date, and for an unknown time zone. */
export function checkInterval(type: FieldType, timezone?: string): asserts type is 'date' | 'datetime' {
  if (type !== 'date' && type !== 'datetime') throw badInput(`An interval groups dates, not a ${type}`);
  if (timezone === undefined) return;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw badInput(`Unknown time zone ${JSON.stringify(timezone)}`);
  }
}

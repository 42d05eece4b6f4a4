import { LRUCache } from 'lru-cache';

/** Formatters by time zone, because one takes longer to create than to use. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });

/**
 * Returns a formatter whose texts end with the offset of a time zone, such as `GMT+02:00`, or undefined if the text is
 * not the name of a time zone. Excludes offsets such as `+02:00`: Intl accepts them, the indexes do not.
 */
export function offsetFormatter(timezone: string): Intl.DateTimeFormat | undefined {
  if (!/^[A-Za-z]/.test(timezone)) return undefined;
  let formatter = formatters.get(timezone);
  if (formatter) return formatter;
  try {
    formatter = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
  formatters.set(timezone, formatter);
  return formatter;
}

/** Returns whether a text is the name of a time zone. */
export const isTimezone = (timezone: string): boolean => offsetFormatter(timezone) !== undefined;

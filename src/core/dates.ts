const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

/** The text as `YYYY-MM-DD` when it is an ISO date that exists in the calendar (years 0001 to 9999), otherwise undefined. */
export function isoDate(text: string): string | undefined {
  return text.length === 10 ? isoDatetime(text)?.slice(0, 10) : undefined;
}

/**
 * The moment as `YYYY-MM-DDTHH:mm:ss.sssZ` when the text is an ISO date (its UTC midnight) or an ISO date and time (UTC when it names no zone), otherwise undefined.
 * Digits past the millisecond are cut, as they are in the data.
 */
export function isoDatetime(text: string): string | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, date, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  // Date.parse lets 31 February through as 2 March, so the calendar is asked first.
  const midnight = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return undefined;
  const colon = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const moment = new Date(
    `${date}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}${colon}`,
  ).toISOString();
  return moment.length === 24 && moment >= '0001' ? moment : undefined;
}

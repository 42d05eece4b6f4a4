const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/;

/** Returns the text as `YYYY-MM-DD` if it is an existing ISO date of the years 0001 to 9999, else undefined. */
export function isoDate(text: string): string | undefined {
  return text.length === 10 ? isoDatetime(text)?.slice(0, 10) : undefined;
}

/**
 * Returns the time as `YYYY-MM-DDTHH:mm:ss.sssZ` if the text is an ISO date (midnight UTC) or an ISO date and time (UTC
 * if it has no zone), else undefined. Digits after the millisecond are cut, as in the data.
 */
export function isoDatetime(text: string): string | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, date, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  // Date.parse reads 31 February as 2 March, hence the comparison.
  const midnight = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) return undefined;
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '').padEnd(2, '0')}`;
  const moment = new Date(
    `${date}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}${offset}`,
  ).toISOString();
  return moment.length === 24 && moment >= '0001' ? moment : undefined;
}

import { isoDatetime } from '../../../core/dates.ts';
import type { RenderSettings } from '../../../core/template-engine.ts';

type Filter = (value: unknown, ...options: unknown[]) => unknown;

const STYLES = ['short', 'medium', 'long', 'full'] as const;
/** The end of a time that has a zone: days have none. */
const HAS_ZONE = /:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}(?::?\d{2})?)$/;
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;
/** A time of day alone. */
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?$/;
/** Parts of a date pattern: a text in quotation marks, or a field by its letters, or other letters. */
const PATTERN = /'([^']*)'|([A-Za-z])\2*/g;
const FIELDS_OF_TIME: ReadonlySet<string> = new Set(['HH', 'H', 'hh', 'h', 'mm', 'm', 'ss', 's', 'a']);

const FIELDS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  MMMM: { month: 'long' },
  MMM: { month: 'short' },
  EEEE: { weekday: 'long' },
  EEE: { weekday: 'short' },
};

/** Creates the filters that format numbers and dates. They show nothing for null and empty texts. */
export function createFormatFilters(settings: RenderSettings): Record<string, Filter> {
  const { locale, timezone, strict } = settings;
  const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();
  const cached = <T extends Intl.NumberFormat | Intl.DateTimeFormat>(key: string, create: () => T): T => {
    const found = (formats.get(key) as T | undefined) ?? create();
    formats.set(key, found);
    return found;
  };
  /** Returns the value as it is if the filter cannot format it; a mistake if `strict`. */
  const unformatted = (value: unknown, what: string): unknown => {
    if (strict) throw new Error(`${JSON.stringify(value)?.slice(0, 100) ?? 'The value'} is not ${what}`);
    return value;
  };
  const formatNumber = (value: unknown, key: string, options: Intl.NumberFormatOptions): unknown => {
    if (isEmpty(value)) return '';
    const isNumber = typeof value === 'number' || typeof value === 'bigint' || NUMBER.test(String(value));
    if (!isNumber) return unformatted(value, 'a number');
    // A text keeps all its digits.
    return cached(key, () => new Intl.NumberFormat(locale, options)).format(
      (typeof value === 'string' ? value.trim() : value) as number,
    );
  };
  const dateFormat = (zone: string, key: string, options: Intl.DateTimeFormatOptions) =>
    cached(
      `${zone} ${key}`,
      () => new Intl.DateTimeFormat(locale, { ...options, timeZone: zone }),
    ) as Intl.DateTimeFormat;
  return {
    number(value, digits) {
      const count = optionOf(digits, 'digits');
      const fixed =
        count === undefined ? {} : { minimumFractionDigits: Number(count), maximumFractionDigits: Number(count) };
      return formatNumber(value, `number ${String(count)}`, fixed);
    },
    currency(value, code) {
      const currency = String(optionOf(code, 'code') ?? '');
      if (!/^[A-Za-z]{3}$/.test(currency)) throw new Error('currency requires a code of three letters, e.g. "EUR"');
      return formatNumber(value, `currency ${currency}`, { style: 'currency', currency });
    },
    date(value, format) {
      if (isEmpty(value)) return '';
      const pattern = String(optionOf(format, 'format') ?? 'medium');
      const style = STYLES.find((candidate) => candidate === pattern);
      const parsed = parseDate(value, timezone) ?? (style ? undefined : parseTime(value, pattern));
      if (!parsed) return unformatted(value, 'a date');
      if (style) return dateFormat(parsed.zone, style, { dateStyle: style }).format(parsed.date);
      return formatPattern(
        parsed.date,
        pattern,
        (key, options) => dateFormat(parsed.zone, key, options),
        (letters) => unformatted(letters, 'a field of dates') as string,
      );
    },
  };
}

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Returns an option that may be passed by its name. */
const optionOf = (option: unknown, name: string): unknown =>
  typeof option === 'object' && option !== null && '__keywords' in option
    ? (option as Record<string, unknown>)[name]
    : (option ?? undefined);

/** Returns a date and the time zone in which it is shown: days and times without a zone are shown as they are. */
function parseDate(value: unknown, timezone: string): { date: Date; zone: string } | undefined {
  if (typeof value === 'number') return checked(new Date(value), timezone);
  const text = String(value).trim().toUpperCase();
  const time = isoDatetime(text);
  return time === undefined ? undefined : checked(new Date(time), HAS_ZONE.test(text) ? timezone : 'UTC');
}

/** Returns a time of day, for a pattern that shows nothing of the day. */
function parseTime(value: unknown, pattern: string): { date: Date; zone: string } | undefined {
  const text = String(value).trim();
  const showsTime = [...pattern.matchAll(PATTERN)].every(([part]) => part.startsWith("'") || FIELDS_OF_TIME.has(part));
  return TIME.test(text) && showsTime ? { date: new Date(`1970-01-01T${text}Z`), zone: 'UTC' } : undefined;
}

const checked = (date: Date, zone: string) => (Number.isNaN(date.getTime()) ? undefined : { date, zone });

/** Formats a date by a pattern. `unknown` returns the text for letters that are not a field. */
function formatPattern(
  date: Date,
  pattern: string,
  formatOf: (key: string, options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat,
  unknown: (letters: string) => string,
): string {
  const numbers: Record<string, string> = {};
  const options: Intl.DateTimeFormatOptions = {
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  };
  for (const { type, value } of formatOf('numbers', options).formatToParts(date)) numbers[type] = value;
  const padded = (name: string) => (numbers[name] ?? '').padStart(2, '0');
  const hour = Number(numbers.hour) % 12 || 12;
  const fields: Record<string, () => string> = {
    yyyy: () => (numbers.year ?? '').padStart(4, '0'),
    yy: () => (numbers.year ?? '').slice(-2),
    MM: () => padded('month'),
    M: () => String(Number(numbers.month)),
    dd: () => padded('day'),
    d: () => String(Number(numbers.day)),
    HH: () => padded('hour'),
    H: () => String(Number(numbers.hour)),
    hh: () => String(hour).padStart(2, '0'),
    h: () => String(hour),
    mm: () => padded('minute'),
    m: () => String(Number(numbers.minute)),
    ss: () => padded('second'),
    s: () => String(Number(numbers.second)),
    a: () => (Number(numbers.hour) < 12 ? 'AM' : 'PM'),
  };
  return pattern.replace(PATTERN, (field, quoted: string | undefined) => {
    if (quoted !== undefined) return quoted || "'";
    const names = FIELDS[field];
    return fields[field]?.() ?? (names ? formatOf(field, names).format(date) : unknown(field));
  });
}

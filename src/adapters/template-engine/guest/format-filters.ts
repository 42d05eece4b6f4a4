import type { RenderSettings } from '../../../core/template-engine.ts';

type Filter = (value: unknown, ...options: unknown[]) => unknown;

const STYLES = ['short', 'medium', 'long', 'full'] as const;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;
/** Parts of a date pattern: a text in quotation marks, or a field by its letters. */
const PATTERN = /'([^']*)'|yyyy|yy|MMMM|MMM|MM|M|dd|d|EEEE|EEE|HH|H|hh|h|mm|ss|a/g;

const FIELDS: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  yyyy: { year: 'numeric' },
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
      const parsed = parseDate(value, timezone);
      if (!parsed) return unformatted(value, 'a date');
      const pattern = String(optionOf(format, 'format') ?? 'medium');
      const style = STYLES.find((candidate) => candidate === pattern);
      if (style) return dateFormat(parsed.zone, style, { dateStyle: style }).format(parsed.date);
      return formatPattern(parsed.date, pattern, (key, options) => dateFormat(parsed.zone, key, options));
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
  const text = String(value).trim();
  if (DATE.test(text)) return checked(new Date(text), 'UTC');
  if (LOCAL_TIME.test(text)) return checked(new Date(`${text.replace(' ', 'T')}Z`), 'UTC');
  if (!INSTANT.test(text)) return undefined;
  const zone = text
    .replace(' ', 'T')
    .replace(/([+-]\d{2})$/, '$1:00')
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  return checked(new Date(zone), timezone);
}

const checked = (date: Date, zone: string) => (Number.isNaN(date.getTime()) ? undefined : { date, zone });

function formatPattern(
  date: Date,
  pattern: string,
  formatOf: (key: string, options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat,
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
    ss: () => padded('second'),
    a: () => (Number(numbers.hour) < 12 ? 'AM' : 'PM'),
  };
  return pattern.replace(PATTERN, (field, quoted: string | undefined) => {
    if (quoted !== undefined) return quoted || "'";
    return fields[field]?.() ?? formatOf(field, FIELDS[field]!).format(date);
  });
}

import type { FieldType } from '../../core/fields.ts';

/** Text of a missing value and of an empty string. */
const MISSING = '(none)';
const EMPTY = '(empty)';
const MAX_LABEL_CHARACTERS = 200;
/** Invisible. ECharts uses names as keys of objects, and fails for `hasOwnProperty`. */
const WORD_JOINER = '\u2060';
/** The range in which ECharts finds ticks: sums must be finite, and at most 100 digits follow the point. */
const MAX_NUMBER = 1e300;
const MIN_NUMBER = 1e-90;

/** Returns a text as one line without characters that XML forbids. */
export function clean(text: string): string {
  const line = text
    .slice(0, MAX_LABEL_CHARACTERS)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]+/g, ' ')
    .trim();
  return text.length > MAX_LABEL_CHARACTERS ? `${line}…` : line;
}

/** Shortens a text to at most `most` characters. */
export const shorten = (text: string, most: number): string =>
  [...text].length > most ? `${[...text].slice(0, most - 1).join('')}…` : text;

/** Formats a value as a label. */
export function label(value: unknown, type: FieldType): string {
  if (value === null || value === undefined) return MISSING;
  if (type === 'datetime' && typeof value === 'string') return minutes(value).replace(/ 00:00$/, '');
  if (typeof value === 'number') return formatNumber(value);
  const text = clean(typeof value === 'object' ? JSON.stringify(value) : String(value as string | boolean)) || EMPTY;
  return text in Object.prototype ? `${WORD_JOINER}${text}` : text;
}

const MONTH = new Intl.DateTimeFormat('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' });
const DAY = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/**
 * Creates the labels of a field's values. Dates are as short as all of them permit: years (`2026`) if
 * each is the first day of a year, months (`Jan 2026`) if each is the first of a month, otherwise days (`Jan 31, 2026`).
 */
export function labelsOf(values: readonly unknown[], type: FieldType): (value: unknown) => string {
  const plainLabel = (value: unknown) => label(value, type);
  const texts = values.filter((value) => typeof value === 'string');
  if ((type !== 'date' && type !== 'datetime') || texts.length < 2) return plainLabel;
  if (!texts.every((text) => /^\d{4}-\d\d-\d\d(T00:00:00\.000Z)?$/.test(text))) return plainLabel;
  const format = (write: (date: Date) => string) => (value: unknown) =>
    typeof value === 'string' ? write(new Date(value)) : plainLabel(value);
  if (texts.every((text) => text.slice(5, 10) === '01-01')) return format((date) => String(date.getUTCFullYear()));
  const pattern = texts.every((text) => text.slice(8, 10) === '01') ? MONTH : DAY;
  return format((date) => pattern.format(date));
}

/** Formats a time to the minute, e.g. `2026-01-31 08:00`. */
export const minutes = (moment: string): string => moment.replace(/^([^T]*)T(.{5}).*$/s, '$1 $2');

/**
 * Converts a value to a number to draw, including an exact number in text form. Null for anything else. A number past
 * 1e300 becomes 1e300, and one below 1e-90 becomes 0.
 */
export function toNumber(value: unknown): number | null {
  if (value === null || value === undefined || value === '' || typeof value === 'boolean') return null;
  const number = Number(value);
  if (!Number.isFinite(number)) return null;
  return Math.abs(number) < MIN_NUMBER ? 0 : Math.min(MAX_NUMBER, Math.max(-MAX_NUMBER, number));
}

/** Converts a value to a position on an axis: dates to milliseconds since 1970. */
export function axisPosition(value: unknown, type: FieldType): number | null {
  if (type !== 'date' && type !== 'datetime') return toNumber(value);
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const precise = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** Formats a number with at most two decimals; one below 0.1 with three significant digits. */
const formatNumber = (value: number): string => (value !== 0 && Math.abs(value) < 0.1 ? precise : plain).format(value);

const UNITS: [number, string][] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
];

/**
 * Creates the common format of neighbouring numbers: all in the unit of the largest, e.g. `4.0M` and `3.3M`. With
 * `isScale` without trailing zeros, for round numbers of a scale.
 */
export function shortFormat(values: Iterable<number | null>, isScale = false): (value: number) => string {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value ?? 0));
  const [size, unit] = (largest >= 10_000 && UNITS.find(([one]) => largest >= one)) || [1, ''];
  if (size === 1) return formatNumber;
  const digits = largest / size >= 100 ? 0 : 1;
  const number = new Intl.NumberFormat('en', {
    minimumFractionDigits: isScale ? 0 : digits,
    maximumFractionDigits: isScale ? 2 : digits,
  });
  return (value) => {
    if (value === 0) return '0';
    const text = number.format(value / size);
    // Smaller than the last digit of the unit.
    return /^-?0(\.0+)?$/.test(text) ? compact.format(value) : text + unit;
  };
}

/**
 * Formats a number, or the text of an exact one, as a card's `format` requires: `integer`, `compact`, `percent`, a
 * currency, otherwise in full.
 */
export function formatValue(value: number | `${number}`, format: string | null | undefined): string {
  if (format === 'integer') return whole.format(value);
  if (format === 'compact') return compact.format(value);
  if (format === 'percent') return percent.format(value);
  return format && /^[A-Z]{3}$/.test(format)
    ? new Intl.NumberFormat('en', { style: 'currency', currency: format }).format(value)
    : typeof value === 'number'
      ? formatNumber(value)
      : plain.format(value);
}

/** Estimates the width of a text in pixels. */
export const widthOf = (text: string, fontSize = 12): number =>
  [...text].reduce((sum, letter) => sum + (letter > '\u2e7f' ? 1 : 0.6) * fontSize, 0);

const TOKENS: Record<string, string> = {
  YYYY: '{yyyy}',
  YY: '{yy}',
  MMMM: '{MMMM}',
  MMM: '{MMM}',
  MM: '{MM}',
  M: '{M}',
  DD: '{dd}',
  D: '{d}',
  HH: '{HH}',
  mm: '{mm}',
  ss: '{ss}',
};

/**
 * Converts a pattern such as `DD.MM.YYYY` to the syntax of ECharts. Braces are removed, because they have a meaning
 * there.
 */
export const datePattern = (pattern: string): string =>
  clean(pattern)
    .replace(/[{}]/g, '')
    .replace(/YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|mm|ss/g, (token) => TOKENS[token]!);

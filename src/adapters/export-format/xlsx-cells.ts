import type { Field } from '../../core/fields.ts';

/** Indices of the formats in `STYLES` (xlsx-parts.ts). */
const DATE = 1;
const DATETIME = 2;
const TEXT = 3;

const MAX_CHARACTERS = 32_767;
/** Doubles past these are no numbers of Excel's. */
const GREATEST = 9.99999999999999e307;
const MIN_NORMAL_DOUBLE = 2.2250738585072014e-308;
/** Before this day Excel's calendar, which knows a 29 February 1900, is off by one. */
const FIRST_DAY = '1900-03-01';
const DAY = 86_400_000;
/** Days from 30 December 1899, where Excel counts from. */
const EPOCH = 25_569;

/** A value's cell at a place such as `B7`; nothing for a missing value. */
export type CellOf = (place: string, value: unknown) => string;

/** How values of a field are written: what Excel cannot hold exactly (long numbers, early dates) is text, and text is never a formula. */
export function cellOf({ type, format }: Pick<Field, 'type' | 'format'>): CellOf {
  const write = format ? exact : WRITERS[type];
  return (place, value) => (value === null || value === undefined ? '' : write(place, value));
}

const exact: CellOf = (place, value) => textCell(place, String(value), TEXT);
const numeric: CellOf = (place, value) =>
  fits(value as number) ? `<c r="${place}"><v>${value as number}</v></c>` : exact(place, value);
const fits = (value: number) => value === 0 || (Math.abs(value) <= GREATEST && Math.abs(value) >= MIN_NORMAL_DOUBLE);

const WRITERS: Record<Field['type'], CellOf> = {
  string: (place, value) => textCell(place, value as string),
  text: (place, value) => textCell(place, value as string),
  json: (place, value) => textCell(place, JSON.stringify(value)),
  integer: numeric,
  number: numeric,
  boolean: (place, value) => `<c r="${place}" t="b"><v>${value === true ? 1 : 0}</v></c>`,
  date: (place, value) => dateCell(place, value as string, DATE),
  datetime: (place, value) => dateCell(place, value as string, DATETIME),
};

const dateCell = (place: string, iso: string, style: number): string =>
  iso < FIRST_DAY ? textCell(place, iso) : `<c r="${place}" s="${style}"><v>${Date.parse(iso) / DAY + EPOCH}</v></c>`;

/** A text that would be a formula if somebody typed it is marked as text, so that it stays one when its cell is edited. */
export function textCell(place: string, text: string, style = /^[=+\-@]/.test(text) ? TEXT : 0): string {
  return `<c r="${place}"${style ? ` s="${style}"` : ''} t="inlineStr"><is><t xml:space="preserve">${escaped(cut(text))}</t></is></c>`;
}

/** Excel refuses a file with a longer text. No character is cut in two. */
function cut(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  const end = MAX_CHARACTERS - 1;
  return `${text.slice(0, /[\uD800-\uDBFF]/.test(text[end - 1]!) ? end - 1 : end)}…`;
}

const SPECIAL = /[&<>\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]|_x/;
const EVERY_SPECIAL =
  /[&<>\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]|_(?=x[0-9A-Fa-f]{4}[_\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF])/g;
const NAMED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** XML's text. What XML cannot hold is `_xHHHH_` (ECMA-376, part 1, 22.9.2.19), and a text's own such words are protected. */
const escaped = (text: string): string =>
  SPECIAL.test(text)
    ? text.replace(
        EVERY_SPECIAL,
        (one) => NAMED[one] ?? `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
      )
    : text;

import { LIKE_A_DATE } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';
import { DATE, DATETIME, EXACT_INTEGER, EXACT_NUMBER, HEADER, INTEGER, NUMBER, TEXT } from './xlsx-parts.ts';
import { escaped } from './xlsx-text.ts';

const MAX_CHARACTERS = 32_767;
/** Excel has no larger numbers. */
const GREATEST = 9.99999999999999e307;
const MIN_NORMAL_DOUBLE = 2.2250738585072014e-308;
/** Before this day dates of Excel are off by one, because its calendar has a 29 February 1900. */
const FIRST_DAY = '1900-03-01';
const DAY = 86_400_000;
/** Days from 30 December 1899, the origin of Excel's dates, to 1 January 1970. */
const EPOCH = 25_569;

/** Formats a value as a cell at an address such as `B7`; empty for a missing value. */
export type CellOf = (address: string, value: unknown) => string;

/**
 * Returns how values of a field are written. Values that Excel cannot store exactly (long numbers, early dates) are
 * text, and text is never a formula.
 */
export function cellOf({ type, format }: Pick<Field, 'type' | 'format'>): CellOf {
  const write = format ? exact(type === 'integer' ? EXACT_INTEGER : EXACT_NUMBER) : WRITERS[type];
  return (address, value) => (value === null || value === undefined ? '' : write(address, value));
}

const exact =
  (style: number): CellOf =>
  (address, value) =>
    textCell(address, String(value), style);
const numeric =
  (style: number, exactStyle: number): CellOf =>
  (address, value) =>
    fits(value as number)
      ? `<c r="${address}" s="${style}"><v>${value as number}</v></c>`
      : textCell(address, String(value), exactStyle);
const fits = (value: number) => value === 0 || (Math.abs(value) <= GREATEST && Math.abs(value) >= MIN_NORMAL_DOUBLE);

const WRITERS: Record<Field['type'], CellOf> = {
  string: (address, value) => textCell(address, value as string),
  text: (address, value) => textCell(address, value as string),
  json: (address, value) => textCell(address, JSON.stringify(value)),
  integer: numeric(INTEGER, EXACT_INTEGER),
  number: numeric(NUMBER, EXACT_NUMBER),
  boolean: (address, value) => `<c r="${address}" t="b"><v>${value === true ? 1 : 0}</v></c>`,
  date: (address, value) => dateCell(address, value as string, DATE),
  datetime: (address, value) => dateCell(address, value as string, DATETIME),
};

/** Formats the cell of a column's name. */
export const headerCell = (address: string, name: string): string => textCell(address, name, HEADER);

/** Widths of columns in characters. Values are not known before they are written. */
const WIDTHS: Record<Field['type'], number> = {
  integer: 12,
  number: 16,
  boolean: 9,
  date: 12,
  datetime: 25,
  string: 24,
  text: 48,
  json: 48,
};
const MAX_WIDTH = 60;
/** Characters that the button of the filter covers. */
const BUTTON_WIDTH = 4;

/** Returns the width of a field's column in characters. */
export const widthOf = ({ name, type, format }: Pick<Field, 'name' | 'type' | 'format'>): number =>
  Math.min(MAX_WIDTH, Math.max(format ? WIDTHS.string : WIDTHS[type], name.length + BUTTON_WIDTH));

const dateCell = (address: string, iso: string, style: number): string =>
  iso < FIRST_DAY
    ? textCell(address, iso, style)
    : `<c r="${address}" s="${style}"><v>${Date.parse(iso) / DAY + EPOCH}</v></c>`;

/** Texts that look like a formula or an error. */
const LIKE_A_FORMULA = /^[=+\-@#]/;
const looksLikeValue = (text: string): boolean => LIKE_A_FORMULA.test(text) || LIKE_A_DATE.test(text);

/**
 * Formats a text cell. A text that looks like another value is styled as text, so that it stays text when a user edits
 * its cell, or uploads the workbook.
 */
function textCell(address: string, text: string, style = looksLikeValue(text) ? TEXT : 0): string {
  return `<c r="${address}"${style ? ` s="${style}"` : ''} t="inlineStr"><is><t xml:space="preserve">${escaped(cut(text))}</t></is></c>`;
}

/** Cuts a text to the length that Excel accepts, without splitting a character. */
function cut(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  const end = MAX_CHARACTERS - 1;
  return `${text.slice(0, /[\uD800-\uDBFF]/.test(text[end - 1]!) ? end - 1 : end)}…`;
}

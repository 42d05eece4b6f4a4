import { writeFileSync } from 'node:fs';
import { LONG_NUMBER, MAX_DECIMAL_DIGITS, mapJsonNumbers, survivesAsNumber } from '../../../core/exact-number.ts';
import { quoteText } from './duckdb-session.ts';
import { chunksOf, unlinkedFile } from './text-file.ts';

/** Begins a text in the place of a decimal. The character is not assigned in Unicode. */
export const MARK = '\uFDD0';
const MAX_NUMBER_BYTES = 64;
const MAY_CHANGE = new RegExp(LONG_NUMBER);
const IS_DECIMAL = /[.e]/i;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * Returns a path at which a UTF-8 JSON text can be read without losing digits. DuckDB reads decimals as doubles. If a
 * double changes some of them, this is an unlinked copy, in which marked texts replace these decimals and the decimals
 * that DuckDB would print with an exponent. Otherwise it is the file itself.
 */
export function exactDecimalsPath(path: string): { path: string; marked: boolean } {
  if (!hasLongNumbers(path)) return { path, marked: false };
  const copy = unlinkedFile();
  const decoder = new TextDecoder('utf-8');
  let marked = false;
  const mark = (number: string) => {
    if (!IS_DECIMAL.test(number)) return number;
    const survives = survivesAsNumber(number);
    if (survives && isPrintedPlainly(Math.abs(Number(number)))) return number;
    marked ||= !survives;
    return `"${MARK}${plainDigits(number)}"`;
  };
  let rest = '';
  for (const chunk of chunksOf(path)) {
    const read = mapJsonNumbers(rest + decoder.decode(chunk, { stream: true }), mark, false);
    writeFileSync(copy.file, read.mapped);
    rest = read.rest;
  }
  writeFileSync(copy.file, mapJsonNumbers(rest + decoder.decode(), mark).mapped);
  return marked ? { path: copy.path, marked } : { path, marked };
}

/** Whether DuckDB prints a double of this size without an exponent. */
const isPrintedPlainly = (size: number): boolean => size === 0 || (size >= 1e-4 && size < 1e15);

function hasLongNumbers(path: string): boolean {
  let tail = '';
  for (const chunk of chunksOf(path)) {
    const text = tail + chunk.toString('latin1');
    if (MAY_CHANGE.test(text)) return true;
    tail = text.slice(-MAX_NUMBER_BYTES);
  }
  return false;
}

/** Writes a number without an exponent, unless that takes more digits than a decimal has. */
function plainDigits(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(number) ?? [];
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (exponent === '0' || Math.max(point, 1) + Math.max(digits.length - point, 0) > MAX_DECIMAL_DIGITS) return number;
  const padded = digits.padStart(digits.length + 1 - Math.min(point, 1), '0').padEnd(point, '0');
  const at = Math.max(point, 1);
  return `${sign}${padded.slice(0, at)}${padded.length > at ? `.${padded.slice(at)}` : ''}`;
}

/** Returns SQL of a value of a marked file as JSON: decimals in their original form, or as texts inside it. */
export const unmarkedJson = (json: string): string =>
  `cast(case when ${isMarked(json)} then ${markedDigits(json)}
    else replace(cast(${json} as VARCHAR), ${quoteText(`"${MARK}`)}, '"') end as JSON)`;

/** Returns SQL of a value of a marked file as text. */
export const unmarkedText = (json: string, text: string): string =>
  `case when ${isMarked(json)} then ${markedDigits(json)} else ${text} end`;

const isMarked = (json: string) => `starts_with(cast(${json} as VARCHAR), ${quoteText(`"${MARK}`)})`;
const markedDigits = (json: string) => `cast(${json} as VARCHAR)[3:-2]`;

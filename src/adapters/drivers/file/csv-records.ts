/** The characters that divide a CSV file into records and values. */
export interface CsvMarks {
  delimiter: string;
  /** Empty: values are never quoted. */
  quote: string;
  escape: string;
}

/** A record of a CSV file. */
export interface CsvRecord {
  values: string[];
  /** Whether each value is in quotes as a whole. */
  quoted: boolean[];
  /** The record as it is written, with its line end. */
  raw: string;
  /** Number of its first line, from 1. */
  line: number;
  /** Whether a blank line precedes it. */
  afterBlank: boolean;
}

const MAX_RECORDS = 200;
const BLANK_BEFORE_QUOTE = ' ';
const LINE_END = /\r\n|\n|\r/g;

/** Counts the line ends in a text. */
export const countLineEnds = (text: string): number => text.match(LINE_END)?.length ?? 0;

/**
 * Returns the first records of a text, without blank lines, and without the last one if the text was cut. Records end
 * outside of quotes, with any line end. `firstLine` is the number of the first line.
 */
export function recordsOf(
  text: string,
  { delimiter, quote, escape }: CsvMarks,
  whole: boolean,
  firstLine = 1,
): CsvRecord[] {
  const records: CsvRecord[] = [];
  let values: string[] = [];
  let quoted: boolean[] = [];
  let at = 0;
  let start = 0;
  let line = firstLine;
  let afterBlank = false;
  while (at < text.length && records.length < MAX_RECORDS) {
    const opening = quoteAt(text, at, quote);
    const isQuoted = opening !== -1;
    const { value, end } = isQuoted ? quotedValue(text, opening, quote, escape) : { value: '', end: at };
    const stop = nextStop(text, end, delimiter);
    const rest = text.slice(end, stop);
    const isWhole = isQuoted && /^ *$/.test(rest);
    values.push(isWhole ? value : value + rest);
    quoted.push(isWhole);
    at = stop + 1;
    if (text[stop] === delimiter) {
      if (at < text.length) continue;
      values.push('');
      quoted.push(false);
    }
    if (text[stop] === '\r' && text[at] === '\n') at += 1;
    const cut = stop >= text.length && !whole;
    const isBlank = values.length === 1 && values[0] === '';
    const raw = text.slice(start, at);
    if (!cut && !isBlank) records.push({ values, quoted, raw, line, afterBlank });
    afterBlank = isBlank;
    values = [];
    quoted = [];
    line += countLineEnds(raw);
    start = at;
  }
  return records;
}

/** Returns where the quote of a value that begins at `at` is, -1 for none. DuckDB permits one blank before it. */
function quoteAt(text: string, at: number, quote: string): number {
  if (quote === '') return -1;
  const opening = text[at] === BLANK_BEFORE_QUOTE ? at + 1 : at;
  return text[opening] === quote ? opening : -1;
}

/** Returns how many times a character, or byte, is repeated from a position. */
export function runOf<T extends string | number>(
  text: { [at: number]: T; length: number },
  from: number,
  one: T,
): number {
  let at = from;
  while (at < text.length && text[at] === one) at++;
  return at - from;
}

/**
 * Returns the value of a quoted text. A quote is doubled or escaped. An escape character that is not the quote escapes the
 * quote, and itself before a quote, and is kept elsewhere: `"C:\new \"x\" \\"` is `C:\new "x" \`.
 */
function quotedValue(text: string, start: number, quote: string, escape: string): { value: string; end: number } {
  let value = '';
  let at = start + 1;
  while (at < text.length) {
    if (text[at] === quote) {
      if (text[at + 1] !== quote || escape === '') return { value, end: at + 1 };
      value += quote;
      at += 2;
    } else if (text[at] === escape) {
      const run = runOf(text, at, escape);
      const isBeforeQuote = text[at + run] === quote;
      const isQuoteEscaped = isBeforeQuote && run % 2 === 1;
      value += escape.repeat(isBeforeQuote ? run >> 1 : run) + (isQuoteEscaped ? quote : '');
      at += run + (isQuoteEscaped ? 1 : 0);
    } else value += text[at++];
  }
  return { value, end: text.length };
}

function nextStop(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++;
  return at;
}

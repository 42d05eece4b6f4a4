import { tableNames } from './file-config.ts';

const DELIMITERS = [',', ';', '\t', '|'];
const RECORDS = 200;
const TYPED =
  /^\s*(?:[-+]?[$€£¥]?\s?[-+]?\d[\d.,]*(?:e[-+]?\d+)?\s?[$€£¥%]?|true|false|\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d{1,2}[./]\d{2,4})\s*$/i;

/** The dialect of a CSV file. `names` are its columns in the table `data`. */
export interface CsvDialect {
  delimiter: string;
  quote: string;
  escape: string;
  /** Number of lines before the first record. */
  skip: number;
  header: boolean;
  names: string[];
}

/** The parts of a dialect that are configured. */
type Given = Partial<Omit<CsvDialect, 'names'>> & { ragged?: boolean };

/**
 * Returns the possible dialects of a CSV file, the most likely first, from its beginning. The delimiter is the one
 * that divides the records most evenly. A first record without any number, date or boolean is a header. `whole` states
 * whether `text` is the whole file, so that its last record is complete.
 */
export function sniffCsv(text: string, whole: boolean, given: Given = {}): CsvDialect[] {
  const quote = given.quote ?? '"';
  const skip = given.skip ?? blankLines(text);
  const table = afterLines(text, skip);
  const escapes =
    given.escape !== undefined ? [given.escape] : quote && text.includes(`\\${quote}`) ? [quote, '\\'] : [quote];
  return escapes.map((escape) => {
    const recordsBy = (delimiter: string) => recordsOf(table, { delimiter, quote, escape }, whole);
    const delimiter = given.delimiter ?? likeliest(recordsBy);
    const records = recordsBy(delimiter);
    const first = records[0] ?? [];
    const header = given.header ?? !first.some((value) => TYPED.test(value));
    const width = given.ragged ? Math.max(0, ...records.map((record) => record.length)) : first.length;
    const names = Array.from({ length: width }, (_, i) => (header ? (first[i] ?? '') : ''));
    return { delimiter, quote, escape, skip, header, names: tableNames(names) };
  });
}

const LINE_END = /\r\n|\n|\r/;

/** Counts blank lines at the beginning. DuckDB skips all others by itself. */
const blankLines = (text: string): number => /^(?:\r\n|\n|\r)*/.exec(text)![0].split(LINE_END).length - 1;

function afterLines(text: string, lines: number): string {
  let rest = text;
  for (let n = 0; n < lines; n++) {
    const end = LINE_END.exec(rest);
    rest = end ? rest.slice(end.index + end[0].length) : '';
  }
  return rest;
}

function likeliest(recordsBy: (delimiter: string) => string[][]): string {
  const judged = DELIMITERS.map((delimiter) => {
    const widths = recordsBy(delimiter).map((record) => record.length);
    const width = widths[0] ?? 1;
    return { delimiter, width, even: widths.filter((one) => one === width).length / Math.max(widths.length, 1) };
  });
  const cutting = judged.filter(({ width }) => width > 1).sort((a, b) => b.even - a.even || b.width - a.width);
  // One column: the first delimiter that divides nothing.
  return (cutting[0] ?? judged.find(({ even }) => even === 1) ?? judged[0]!).delimiter;
}

/** Returns the first records of a text without blank lines, and without the last one if the text was cut. */
function recordsOf(
  text: string,
  { delimiter, quote, escape }: Pick<CsvDialect, 'delimiter' | 'quote' | 'escape'>,
  whole: boolean,
): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length && records.length < RECORDS) {
    const { value, end } = quote && text[at] === quote ? quotedValue(text, at, quote, escape) : { value: '', end: at };
    const stop = nextStop(text, end, delimiter);
    record.push(value + text.slice(end, stop));
    at = stop + 1;
    if (text[stop] === delimiter) {
      if (at < text.length) continue;
      record.push('');
    }
    if (text[stop] === '\r' && text[at] === '\n') at += 1;
    const cut = stop >= text.length && !whole;
    if (!cut && (record.length > 1 || record[0] !== '')) records.push(record);
    record = [];
  }
  return records;
}

function quotedValue(text: string, start: number, quote: string, escape: string): { value: string; end: number } {
  let value = '';
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === escape && text[at + 1] === quote) value += text[++at];
    else if (text[at] === quote) return { value, end: at + 1 };
    else value += text[at];
  }
  return { value, end: text.length };
}

function nextStop(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++;
  return at;
}

import type { CsvRecord } from './csv-records.ts';
import type { DividedTable } from './csv-table.ts';
import { isTyped, textCell } from './header-rule.ts';

/** Share of the records that a delimiter divides into as many values. */
export const MOST = 0.8;

/** Numbers with a decimal comma or thousands, and times with a fraction: their commas divide nothing. */
const COMMA_NUMBERS = [
  /^[-+]?[$€£¥]?\s?[-+]?(?:\d*|\d{1,3}(?:[.'’ \u00a0\u202f]\d{3})+),\d+(?:e[-+]?\d+)?\s?[$€£¥%]?$/i,
  /^[-+]?[$€£¥]?\s?\d{1,3}(?:,\d{3})+(?:\.\d*)?\s?[$€£¥%]?$/,
  /:\d\d,\d{1,9}Z?$/i,
  // A number in a text, as in `12,5 kg`.
  /^[^,]*\d,\d[^,]*$/,
];
const ENTITY = /&#?\w+;/g;

/** Costs of a value that contains another delimiter: numbers within it are lost, a text rarely has it like this, or never. */
const LOST = 2;
const TIGHT = 1;
const BROKEN = 3;
/** Costs of lines before a table, after which the records follow without and with a blank line. */
const NOTES = 3;
const DIVIDED_NOTES = 0.5;
/** Another delimiter is possible if it costs less than so many times as much. */
const CLOSE = 2;

/** The table of the likeliest delimiter, and the tables of other delimiters that are as likely. */
interface LikelyTable {
  table: DividedTable;
  doubts: DividedTable[];
}

/** Costs of a division: for the first record, which may be names, and for all records. */
interface Costs {
  table: DividedTable;
  first: number;
  all: number;
}

/**
 * Chooses among the tables of several delimiters. The delimiter divides the records most evenly. Often several do: the
 * others are then parts of values, and the costs state how well values can contain them. `1,5` is a number and `Doe,
 * Ann` a text, but `5;2` is not a value, and neither is `Ann;5`, which hides a number.
 */
export function likeliestTable(tables: readonly DividedTable[], quote: string): LikelyTable {
  const divided = tables.filter(({ width }) => width > 1);
  const even = Math.max(...divided.map((table) => table.even));
  const rivals = divided.filter((table) => table.even >= Math.min(even, MOST));
  // One column: the first delimiter that divides nothing.
  if (rivals.length === 0) return { table: tables.find((table) => table.even === 1) ?? tables[0]!, doubts: [] };
  const delimiters = rivals.map(({ delimiter }) => delimiter);
  const [best, ...others] = rivals
    .map((table) => costsOf(table, delimiters, quote))
    .sort(
      (a, b) =>
        b.table.even - a.table.even ||
        a.all - b.all ||
        a.table.notes.length - b.table.notes.length ||
        b.table.width - a.table.width,
    );
  return { table: best!.table, doubts: others.filter((other) => isClose(best!, other)).map(({ table }) => table) };
}

/** Returns whether another delimiter may be the right one. */
function isClose(best: Costs, other: Costs): boolean {
  if (other.table.even < best.table.even) return other.all < best.all;
  return other.all <= best.all || other.all < CLOSE * best.all || (best.first > 0 && other.first <= best.first);
}

function costsOf(table: DividedTable, delimiters: readonly string[], quote: string): Costs {
  const others = delimiters.filter((delimiter) => delimiter !== table.delimiter);
  const [first = 0, ...rest] = table.records.map((record) => costOfRecord(record, others, quote));
  const below = rest.length > 0 ? rest.reduce((sum, cost) => sum + cost, 0) / rest.length : 0;
  const notes = table.notes.length === 0 ? 0 : table.records[0]!.afterBlank ? DIVIDED_NOTES : NOTES;
  return { table, first, all: first + below + notes };
}

const costOfRecord = ({ values, quoted }: CsvRecord, others: readonly string[], quote: string): number =>
  values.reduce(
    (sum, value, i) =>
      quoted[i] ? sum : others.reduce((costs, other) => costs + costOfValue(value.trim(), other, quote), sum),
    0,
  );

/** Returns what it costs that a value contains a character, which divides values otherwise. */
function costOfValue(value: string, other: string, quote: string): number {
  const text = other === ';' ? value.replace(ENTITY, '') : value;
  if (!text.includes(other)) return 0;
  if (other === ',' && COMMA_NUMBERS.some((pattern) => pattern.test(text))) return 0;
  const parts = text.split(other);
  if (parts[0] === '' || parts.at(-1) === '' || other === '\t') return BROKEN;
  if (quote && parts.some((part) => part.startsWith(quote) || part.endsWith(quote))) return BROKEN;
  const isSpaced = parts.every(
    (part, i) => (i === 0 || part.startsWith(' ')) && (other !== '|' || i === parts.length - 1 || part.endsWith(' ')),
  );
  return (parts.some((part) => isTyped(textCell(part))) ? LOST : 0) + (isSpaced ? 0 : TIGHT);
}

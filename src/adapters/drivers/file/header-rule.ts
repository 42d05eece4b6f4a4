import { couldBeValues, hasValue } from './header-shapes.ts';

/** Kind of a value, as far as it distinguishes names from values. */
type CellKind = 'blank' | 'text' | 'number' | 'date' | 'time' | 'boolean';

/** A value of one of the first records, as text, and its kind. */
export interface HeaderCell {
  kind: CellKind;
  text: string;
}

/** Whether the first record contains the column names. `certain` is false for names that may be values. */
export interface HeaderGuess {
  header: boolean;
  certain: boolean;
}

const NUMBER = /^[-+]?[$€£¥]?\s?[-+]?(?:\d[\d.,'’ \u00a0\u202f]*|[.,]\d+)(?:e[-+]?\d+)?\s?[$€£¥%]?$/i;
const DATE = /^(?:\d{4}-\d\d-\d\d(?:[T ].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?: .*)?|\d{4}\/\d{1,2}\/\d{1,2}(?: .*)?)$/;
const TIME = /^\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]m)?$/i;
const BOOLEAN = /^(?:true|false)$/i;
/** Words for a missing value, which do not count for the kind of a column. */
const MISSING = /^(?:|[-.:?]|\.\.|nan?|n\/a|#n\/a|n\.a\.|null|none)$/i;
const YEAR = /^(?:1[89]|20|21)\d\d$/;
/** Number of records below the first one that are weighed. */
const HEADER_RECORDS = 200;
/** Number of texts that show that a column has no numbers or dates. */
const ENOUGH_TEXTS = 3;
const MIN_STEPS = 3;
/** Number of records that may precede the table. */
export const MAX_NOTES = 50;

/** Returns a value of a text file as a cell. */
export function textCell(text: string): HeaderCell {
  const value = text.trim();
  if (MISSING.test(value)) return { kind: 'blank', text: value };
  const kind = DATE.test(value)
    ? 'date'
    : TIME.test(value)
      ? 'time'
      : BOOLEAN.test(value)
        ? 'boolean'
        : NUMBER.test(value)
          ? 'number'
          : 'text';
  return { kind, text: value };
}

/** Returns whether a cell is a number, date, time or boolean. */
export const isTyped = ({ kind }: HeaderCell): boolean => kind !== 'text' && kind !== 'blank';

/** The values of a column below the first record, which are not blank. */
interface ColumnBelow {
  cells: HeaderCell[];
  /** The kind that all of them have; undefined for several or none. */
  kind: CellKind | undefined;
}

/**
 * Decides whether the first of a table's records contains the column names. Each column is weighed: a text above
 * numbers, dates, times or booleans is a heading, and so is any of these above another kind. Numbers are headings where
 * they are years or count up, and the values below are not. A record that fits the types of all columns is data, and a
 * record of only texts contains the names. Cells may come from sheets, too.
 */
export function guessHeader([first = [], ...rest]: readonly (readonly HeaderCell[])[]): HeaderGuess {
  const below = rest.slice(0, HEADER_RECORDS);
  const columns = first.map((_, i) => columnBelow(below, i));
  const typed = first.flatMap((cell, i) => (isTyped(cell) ? [i] : []));
  const fits = typed.some((i) => first[i]!.kind === columns[i]!.kind);
  if (first.some((cell, i) => isOfOtherKind(cell, columns[i]!))) return { header: true, certain: !fits };
  if (typed.length === 0)
    return { header: true, certain: !recurs(first, columns) && !isLikeBelow(first, below, columns) };
  if (typed.every((i) => hasOnlyTexts(columns[i]!))) return { header: true, certain: false };
  if (!countsUp(first, below, columns, typed)) return { header: false, certain: true };
  return { header: true, certain: areSteadyYears(first, columns, typed) };
}

/** Returns whether the first record has only texts, and one of them is above numbers, dates, times or booleans. */
export const hasNamesAbove = ([first = [], ...rest]: readonly (readonly HeaderCell[])[]): boolean =>
  first.every(({ kind }) => kind === 'text') &&
  first.some((cell, i) => isOfOtherKind(cell, columnBelow(rest.slice(0, HEADER_RECORDS), i)));

/**
 * Returns whether the record below the names has texts alone, and all values below several of them are numbers, dates,
 * times or booleans: units, or a second line of names. A single odd value is reported with its column.
 */
export function hasSecondNames([, second = [], ...rest]: readonly (readonly HeaderCell[])[]): boolean {
  const below = rest.slice(0, HEADER_RECORDS);
  return (
    second.every(({ kind }) => kind === 'text' || kind === 'blank') &&
    second.filter((cell, i) => isOfOtherKind(cell, columnBelow(below, i))).length > 1
  );
}

/**
 * Returns the position of the names below titles that a spreadsheet wrote as wide as the table: the first record
 * without an empty value. `isAfterGap` states whether an empty row precedes a record, which may then have only texts
 * below it.
 */
export function namesBelowTitles(
  records: readonly (readonly HeaderCell[])[],
  isAfterGap: (position: number) => boolean = () => false,
): number {
  const names = records.slice(0, MAX_NOTES).findIndex((cells) => filled(cells) === cells.length);
  if (names < 1 || records[0]![0]?.text === '') return 0;
  const areNotes = records.slice(0, names).every((cells) => isNarrow(cells));
  const isTable = hasNamesAbove(records.slice(names)) || (isAfterGap(names) && names < records.length - 1);
  return areNotes && isTable ? names : 0;
}

/** Returns whether a record has as few values as a title. */
export const isNarrow = (cells: readonly HeaderCell[]): boolean =>
  cells.length > 1 && filled(cells) <= Math.max(1, cells.length / 2 - 1);

const filled = (cells: readonly HeaderCell[]): number => cells.filter(({ text }) => text !== '').length;

function columnBelow(below: readonly (readonly HeaderCell[])[], i: number): ColumnBelow {
  const cells = below.flatMap((record) => (record[i] && record[i].kind !== 'blank' ? [record[i]] : []));
  const kind = cells[0]?.kind;
  return { cells, kind: cells.every((cell) => cell.kind === kind) ? kind : undefined };
}

/** Returns whether a cell is not a value of its column: all values below are of one kind, and it is of another. */
const isOfOtherKind = (cell: HeaderCell, { kind }: ColumnBelow): boolean =>
  cell.kind !== 'blank' && kind !== undefined && kind !== 'text' && cell.kind !== kind;

/** Returns whether a text of the first record is a value of its column further down. */
const recurs = (first: readonly HeaderCell[], columns: ColumnBelow[]): boolean =>
  first.some(({ kind, text }, i) => kind === 'text' && columns[i]!.cells.some((cell) => cell.text === text));

/** Returns whether the texts of the first record could be the values of one (header-shapes.ts). */
const isLikeBelow = (
  first: readonly HeaderCell[],
  below: readonly (readonly HeaderCell[])[],
  columns: ColumnBelow[],
): boolean =>
  hasValue(
    textsOf(first),
    columns.map(({ cells }) => textsOf(cells)),
  ) ||
  (first.length > 0 &&
    below.every(({ length }) => length <= first.length) &&
    columns.every(({ kind }) => kind === 'text') &&
    couldBeValues(
      textsOf(first),
      columns.map(({ cells }) => textsOf(cells)),
    ));

const textsOf = (cells: readonly HeaderCell[]): string[] => cells.map(({ text }) => text);

/** Returns whether numbers of the first record are years at equal steps, and none below them is a year. */
function areSteadyYears(first: readonly HeaderCell[], columns: ColumnBelow[], typed: number[]): boolean {
  const years = typed.map((i) => Number(first[i]!.text));
  const step = years[1]! - years[0]!;
  return (
    years.length >= MIN_STEPS &&
    step > 0 &&
    years.every((year, n) => YEAR.test(String(year)) && year === years[0]! + n * step) &&
    !typed.some((i) => columns[i]!.cells.some(({ text }) => YEAR.test(text)))
  );
}

const hasOnlyTexts = ({ kind, cells }: ColumnBelow): boolean => kind === 'text' && cells.length >= ENOUGH_TEXTS;

const hasOnlyYears = ({ cells }: ColumnBelow): boolean =>
  cells.length > 0 && cells.every(({ text }) => YEAR.test(text));

/** Returns whether all values of the first record that are not texts are years, or count up from 0 or 1. */
function countsUp(
  first: readonly HeaderCell[],
  below: readonly (readonly HeaderCell[])[],
  columns: ColumnBelow[],
  typed: number[],
): boolean {
  if (below.length === 0) return false;
  const texts = typed.map((i) => first[i]!.text);
  if (new Set(texts).size < texts.length) return false;
  if (texts.every((text) => YEAR.test(text))) return !typed.some((i) => hasOnlyYears(columns[i]!));
  const isSequence = (record: readonly HeaderCell[]) =>
    typed.every((i, n) => n === 0 || Number(record[i]?.text) === Number(record[typed[n - 1]!]?.text) + 1);
  return texts.length >= MIN_STEPS && ['0', '1'].includes(texts[0]!) && isSequence(first) && !below.some(isSequence);
}

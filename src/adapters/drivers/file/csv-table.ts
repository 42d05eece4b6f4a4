import type { CsvRecord } from './csv-records.ts';
import { hasNamesAbove, isTyped, MAX_NOTES, namesBelowTitles, textCell } from './header-rule.ts';

/** Beginnings of lines that are comments. */
export const COMMENTS: readonly string[] = ['#', '//'];
/** The table in the records of a file. */
export interface FoundTable {
  records: CsvRecord[];
  /** Records that precede the table. */
  notes: CsvRecord[];
  /** Number of values of a record, and the share of records that have it. */
  width: number;
  even: number;
  /** Beginning of comments between the records. */
  prefix?: string;
}

/** A table, as divided by a delimiter. */
export type DividedTable = FoundTable & { delimiter: string };

/**
 * Finds the table in the first records of a file: titles, notes and comments may precede it, and comments may stand
 * between its records: lines that begin with one of `comments` and are not divided like the records. Records precede a
 * table only if all records that follow have one width of two or more. They must also be comments, single values, or
 * divided from it by a blank line.
 */
export function findTable(records: CsvRecord[], comments: readonly string[]): FoundTable {
  const prefix = comments.find((one) => records.some(({ raw }) => raw.startsWith(one)));
  const isComment = ({ raw }: CsvRecord) => prefix !== undefined && raw.startsWith(prefix);
  const bare = records.filter((record) => !isComment(record));
  const start = bareStart(bare, records[0] !== undefined && isComment(records[0]));
  const first = bare[start];
  const width = first?.values.length ?? 0;
  if (prefix === undefined || first === undefined || width < 2)
    return tableFrom(records, prefix === undefined ? start : 0);
  const position = records.indexOf(first);
  const isRemark = (record: CsvRecord) => isComment(record) && record.values.length !== width;
  const isMarkedRecord = (i: number) => i >= 0 && isComment(records[i]!) && !isRemark(records[i]!);
  let top = position;
  // The names themselves may begin with `#`, and so may records above the first one without it.
  if (isMarkedRecord(top - 1) && !hasHeading(bare.slice(start))) top -= 1;
  while (isMarkedRecord(top - 1) && records[top]!.values.some((value) => isTyped(textCell(value)))) top -= 1;
  const below = records.slice(top).filter((record) => !isRemark(record));
  const table = tableFrom([...records.slice(0, top), ...below], top);
  return below.length < records.length - top ? { ...table, prefix } : table;
}

/** Returns the table that begins at a record. */
export function tableFrom(all: CsvRecord[], start: number): FoundTable {
  const records = all.slice(start);
  const width = records[0]?.values.length ?? 1;
  const even = records.filter(({ values }) => values.length === width).length / Math.max(records.length, 1);
  return { records, notes: all.slice(0, start), width, even };
}

/** Returns the position of the first record of the table. */
function bareStart(records: CsvRecord[], afterComments: boolean): number {
  const width = records.at(-1)?.values.length ?? 0;
  const start = records.findLastIndex(({ values }) => values.length !== width) + 1;
  if (start === 0) return width > 1 ? namesBelowTitles(records.map(({ values }) => values.map(textCell))) : 0;
  const first = records[start];
  if (width < 2 || start > MAX_NOTES || records.length - start < 2 || first === undefined) return 0;
  const notes = records.slice(0, start);
  if (!first.afterBlank && !notes.every(({ values }) => filled(values) <= 1)) return 0;
  return first.afterBlank || afterComments || width > 2 || hasHeading(records.slice(start)) ? start : 0;
}

const filled = (values: string[]): number => values.filter((value) => value.trim() !== '').length;

/** Returns whether the first record has only texts, and one of them is above numbers, dates, times or booleans. */
const hasHeading = (records: CsvRecord[]): boolean => hasNamesAbove(records.map(({ values }) => values.map(textCell)));

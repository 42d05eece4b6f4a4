import type { CsvRecord } from './csv-records.ts';
import { hasNamesAbove, textCell } from './header-rule.ts';

/** Beginnings of lines that are comments. */
const COMMENTS = ['#', '//'];
/** Number of records that may precede the table. */
const MAX_NOTES = 50;

/** The table in the records of a file. */
export interface FoundTable {
  records: CsvRecord[];
  /** Records that precede the table. */
  notes: CsvRecord[];
  /** Number of values of a record, and the share of records that have it. */
  width: number;
  even: number;
  /** Beginning of comments between the records, and the line of the first one. */
  remark?: { prefix: string; line: number };
}

/** A table as a delimiter divides it. */
export type DividedTable = FoundTable & { delimiter: string };

/**
 * Finds the table in the first records of a file: titles, notes and comments may precede it, and comments may stand
 * between its records. Records precede a table only if all that follow have one width of two or more, and they are
 * comments, single values, or divided from it by a blank line.
 */
export function findTable(records: CsvRecord[], withComments = true): FoundTable {
  const prefix = withComments ? COMMENTS.find((one) => records.some(({ raw }) => raw.startsWith(one))) : undefined;
  const isComment = ({ raw }: CsvRecord) => prefix !== undefined && raw.startsWith(prefix);
  const bare = records.filter((record) => !isComment(record));
  const start = bareStart(bare, records[0] !== undefined && isComment(records[0]));
  const first = bare[start];
  const width = first?.values.length ?? 0;
  if (prefix === undefined || first === undefined || width < 2)
    return tableFrom(records, prefix === undefined ? start : 0);
  const position = records.indexOf(first);
  const remark = records.slice(position).find((record) => isComment(record) && record.values.length !== width);
  if (remark)
    return {
      ...tableFrom([...records.slice(0, position), ...bare.slice(start)], position),
      remark: { prefix, line: remark.line },
    };
  const above = records[position - 1];
  // The names themselves may begin with `#`.
  const hasMarkedNames =
    above !== undefined && isComment(above) && above.values.length === width && !hasHeading(bare.slice(start));
  return tableFrom(records, hasMarkedNames ? position - 1 : position);
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
  if (start === 0) return width > 1 ? startBelowTitle(records) : 0;
  const first = records[start];
  if (width < 2 || start > MAX_NOTES || records.length - start < 2 || first === undefined) return 0;
  const notes = records.slice(0, start);
  if (!first.afterBlank && !notes.every(({ values }) => filled(values) <= 1)) return 0;
  return first.afterBlank || afterComments || width > 2 || hasHeading(records.slice(start)) ? start : 0;
}

/** Returns the position of the names below titles that a spreadsheet wrote as wide as the table. */
function startBelowTitle(records: CsvRecord[]): number {
  const names = records.slice(0, MAX_NOTES).findIndex(({ values }) => filled(values) === values.length);
  if (names < 1 || records[0]!.values[0]!.trim() === '') return 0;
  const areNotes = records.slice(0, names).every(({ values }) => filled(values) <= Math.max(1, values.length / 2 - 1));
  return areNotes && hasHeading(records.slice(names)) ? names : 0;
}

const filled = (values: string[]): number => values.filter((value) => value.trim() !== '').length;

/** Returns whether the first record has texts alone, and one of them is above numbers, dates, times or booleans. */
const hasHeading = (records: CsvRecord[]): boolean => hasNamesAbove(records.map(({ values }) => values.map(textCell)));

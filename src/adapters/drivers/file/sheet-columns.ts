import type { FileProblem } from '../../../core/row-source.ts';
import { MAX_ODD, MIN_VALUES } from './find-readings.ts';
import { CellNumber, CellTime, serialValue, type CellValue } from './sheet-values.ts';

/** How cells of a column are read whose format differs from the format of the others. */
export type ColumnFix = 'elapsed' | 'number';

/** The cells of one kind in a column: their number, the row of the first one, and the largest number among them. */
class CellKind {
  count = 0;
  row = 0;
  largest = 0;

  add(row: number, repeat: number, size: number): void {
    if (this.count === 0) this.row = row;
    this.count += repeat;
    this.largest = Math.max(this.largest, Math.abs(size));
  }
}

interface ColumnCells {
  numbers: CellKind;
  days: CellKind;
  clocks: CellKind;
  /** Numbers of a day or more in a format for times of day, which are read as dates. */
  long: CellKind;
  others: CellKind;
  /** Others that are texts, and not dates by their spelling. */
  texts: CellKind;
}

/** Days up to which a number in a format for times of day may be a duration. */
const MAX_DURATION = 1000;
/** Numbers per date from which on the date is a number in the wrong format. */
const MIN_NUMBERS = 9;
/** How many times the largest number such a date may be. */
const MAX_FACTOR = 10;
const MAX_REPORTED = 10;
const ISO_DATE = /^\d{4}-\d\d-\d\d/;

/** Counts the kinds of cells in the columns of a sheet, to find cells whose format differs from the others. */
export class SheetColumns {
  readonly #columns: ColumnCells[] = [];

  /** Adds the cells of a row, from 0, which occurs `repeat` times. */
  add(values: readonly CellValue[], row: number, repeat: number): void {
    if (repeat > 0) values.forEach((value, i) => this.#addCell((this.#columns[i] ??= newColumn()), value, row, repeat));
  }

  #addCell(column: ColumnCells, value: CellValue, row: number, repeat: number): void {
    if (value === null || typeof value === 'symbol') return;
    if (typeof value === 'number') column.numbers.add(row, repeat, value);
    else if (value instanceof CellNumber) column.numbers.add(row, repeat, Number(value.text));
    else if (!(value instanceof CellTime)) {
      column.others.add(row, repeat, 0);
      if (typeof value === 'string' && !ISO_DATE.test(value)) column.texts.add(row, repeat, 0);
    } else {
      const kind = isLong(value) ? 'long' : value.text.includes('-', 1) ? 'days' : 'clocks';
      // Without the number of a cell, it is never one in the wrong format.
      column[kind].add(row, repeat, value.origin?.serial ?? Infinity);
    }
  }

  /** Returns the positions of columns with dates in cells for dates. */
  get withDates(): ReadonlySet<number> {
    return new Set(this.#columns.flatMap((column, i) => (column && column.days.count > 0 ? [i] : [])));
  }

  /** Returns the fixes by the positions of columns, and the report on each column with cells of several kinds. */
  result(): { fixes: ReadonlyMap<number, ColumnFix>; problems: FileProblem[] } {
    const fixes = new Map<number, ColumnFix>();
    const problems: FileProblem[] = [];
    this.#columns.forEach((column, i) => {
      const { fix, row, message } = doubtOf(column) ?? {};
      if (fix) fixes.set(i, fix);
      if (row === undefined) return;
      problems.push({ line: row + 1, message: `Row ${row + 1}, column ${i + 1}: ${message}` });
    });
    const more = problems.length - MAX_REPORTED;
    const unlisted = { message: `${more} more columns have cells whose format differs from the others` };
    return { fixes, problems: more > 0 ? [...problems.slice(0, MAX_REPORTED), unlisted] : problems };
  }
}

const newColumn = (): ColumnCells => ({
  numbers: new CellKind(),
  days: new CellKind(),
  clocks: new CellKind(),
  long: new CellKind(),
  others: new CellKind(),
  texts: new CellKind(),
});

const isLong = ({ origin }: CellTime): boolean => origin?.kind === 'time' && Math.abs(origin.serial) >= 1;

const CORRECT = 'Correct the formats of the cells in the file if that is wrong';

function doubtOf(column: ColumnCells): { fix?: ColumnFix; row: number; message: string } | undefined {
  const { numbers, days, clocks, long, others } = column;
  const moments = [days, clocks, long].filter(({ count }) => count > 0);
  const count = moments.reduce((sum, kind) => sum + kind.count, 0);
  if (numbers.count > 0 && count > 0) {
    const row = Math.min(...moments.map((kind) => kind.row));
    const largest = Math.max(...moments.map((kind) => kind.largest));
    if (others.count === 0 && numbers.count >= MIN_NUMBERS * count && largest <= MAX_FACTOR * numbers.largest)
      return {
        fix: 'number',
        row,
        message:
          'the cell has a format for dates or times, as others may in this column, and is read as a number, ' +
          `because most cells are numbers. ${CORRECT}`,
      };
    const [odd, one, rest] =
      numbers.count < count ? [numbers.row, 'a number', 'dates or times'] : [row, 'a date or time', 'numbers'];
    return {
      row: odd,
      message: `the cell is ${one} among ${rest}, as others may be in this column, so the column is text. ${CORRECT}`,
    };
  }
  if (long.count === 0 || clocks.count === 0) return textDoubtOf(column, moments, count);
  if (days.count === 0 && long.largest < MAX_DURATION)
    return {
      fix: 'elapsed',
      row: long.row,
      message:
        'the time is a day or more, as others may be in this column, and is read as a duration, ' +
        `because other cells are times of day. ${CORRECT}`,
    };
  return {
    row: clocks.row,
    message: `the cell is a time among dates, as others may be in this column, so the column is text. ${CORRECT}`,
  };
}

/** Returns the report on a column with dates or times and texts. Few texts among dates are reported by their value. */
function textDoubtOf({ texts, days }: ColumnCells, moments: readonly CellKind[], count: number) {
  const all = count + texts.count;
  const areFew = days.count === count && all >= MIN_VALUES && texts.count <= all * MAX_ODD;
  if (count === 0 || texts.count === 0 || areFew) return undefined;
  const [row, one, rest] =
    texts.count < count
      ? [texts.row, 'a text', 'dates or times']
      : [Math.min(...moments.map((kind) => kind.row)), 'a date or time', 'texts'];
  return {
    row,
    message: `the cell is ${one} among ${rest}, as others may be in this column, so the column is text. ${CORRECT}`,
  };
}

/** Returns the value of a cell in a column with a fix. */
export function fixedValue(value: CellValue, fix: ColumnFix | undefined): CellValue {
  if (fix === undefined || !(value instanceof CellTime) || !value.origin) return value;
  if (fix === 'number') return value.origin.serial;
  return isLong(value) ? serialValue(value.origin.serial, 'elapsed', false) : value;
}

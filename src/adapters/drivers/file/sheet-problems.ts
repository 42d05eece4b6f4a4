import type { FileProblem } from '../../../core/row-source.ts';
import {
  CELL_ERROR,
  CoarseTime,
  COVERED,
  EarlyTime,
  PaddedNumber,
  RoundedTime,
  UNCOMPUTED,
  UnstatedText,
  type CellValue,
} from './sheet-values.ts';
import type { SheetTable } from './xlsx-package.ts';

/** Returns the rows before the table of a sheet, which are left out. */
export const titleProblem = (line: number): FileProblem => ({
  line,
  message: 'The rows before the table are left out. Set skip to 0 if they belong to it',
});

/** Returns a row of few values above a wider table, which is read as names. */
export const narrowProblem = (line: number): FileProblem => ({
  line,
  message: 'The names of the columns are a row with few values. Set skip if the table begins below it',
});

/** Returns the sheet that is read because the first one is empty. */
export const emptySheetProblem = (sheet: string): FileProblem => ({
  message: `The first sheet is empty, so the sheet ${JSON.stringify(sheet)} is read. Set sheet to read another one`,
});

/** Returns the other sheets, if the first one may be a cover. */
export const coverProblem = (names: string): FileProblem => ({
  message: `The first sheet is read, and has few values. Set sheet to read another one: ${names}`,
});

/** Returns the row of totals of a table, which is read as a row. */
export function totalsProblem({ cells, hasTotals }: SheetTable): FileProblem[] {
  const line = Number(/^[A-Z]{1,4}(\d+)$/i.exec(cells.slice(cells.lastIndexOf(':') + 1))?.[1] ?? 0);
  if (!hasTotals || line === 0) return [];
  return [
    { line, message: `Row ${line} has the totals of a table, and is read as one of its rows. Remove it from the file` },
  ];
}

/** Returns the tables of a sheet that has several, which are read as one. */
export const severalTablesProblem = (tables: readonly SheetTable[]): FileProblem[] =>
  tables.length < 2
    ? []
    : [
        {
          message:
            `The sheet has ${tables.length} tables, and is read as one: ${listed(tables.map(({ cells }) => cells))}. ` +
            'Move each to a sheet of its own',
        },
      ];

/** Returns a row of names below an empty row, which may begin another table. */
export const nextTableProblem = (line: number): FileProblem => ({
  line,
  message:
    `Row ${line} follows an empty row, and has texts below numbers or dates, as the names of another table have: ` +
    'it is read as a row. Move the table to a sheet of its own if it is one',
});

/** Returns an empty column between others, which may divide two tables. */
export const emptyColumnProblem = (column: number): FileProblem => ({
  message:
    `Column ${column} is empty and has no name. The columns before and behind it are read as one table: ` +
    'move them to sheets of their own if they are two',
});

/** Report on a cell that cannot be read. */
export const NO_VALUE = 'the value cannot be read, and is a missing one';
/** Reports on the first cell of a column that has content, but no value. */
const FIRST_OF_COLUMN = new Map<CellValue, string>([
  [CELL_ERROR, 'the cell is an error, as others may be in this column: they are missing values'],
  [COVERED, 'a merged cell covers the cell, as others may be in this column: their values are left out'],
  [
    UNCOMPUTED,
    'the formula has no stored value, as others may in this column: they are missing values. ' +
      'Open the file in a spreadsheet program and save it',
  ],
]);

const UNSTATED =
  'the file does not state the value of the cell, as of others in this column: the text that it shows is read';

const EARLY =
  'the date is a negative number, as others may be in this column: it is read as a date before the first day of the ' +
  'workbook, which not all programs show';

const ROUNDED =
  'the time is less than a millisecond before midnight, as others may be in this column, and is read as midnight';

const COARSE =
  'the time has a fraction of a millisecond, as others may have in this column, and is rounded to milliseconds';

const PADDED =
  'the cell shows zeros before its number, as others may in this column: the number is read without them. ' +
  'Format the cells as texts with all digits if they are codes';

/** Reports on the first cell of a column with a value of a class. */
const FIRST_OF_CLASS = [
  [UnstatedText, UNSTATED],
  [EarlyTime, EARLY],
  [RoundedTime, ROUNDED],
  [CoarseTime, COARSE],
  [PaddedNumber, PADDED],
] as const;

/** Returns what is said of the first cell of a column like this one. */
export const doubtOf = (value: CellValue): string | undefined =>
  FIRST_OF_CLASS.find(([kind]) => value instanceof kind)?.[1] ?? FIRST_OF_COLUMN.get(value);

/** Returns whether there may be something to say of a cell. */
export const isDoubtful = (value: CellValue): boolean =>
  typeof value === 'symbol' || (typeof value === 'object' && doubtOf(value) !== undefined);

const MAX_LISTED_COLUMNS = 20;
const listed = (all: readonly unknown[]): string =>
  all.slice(0, MAX_LISTED_COLUMNS).join(', ') + (all.length > MAX_LISTED_COLUMNS ? ', …' : '');

/** Returns what is said of the cells of a sheet without a value that are not listed. */
export function unlistedProblems({ cells, columns }: { cells: number; columns: ReadonlySet<number> }): FileProblem[] {
  if (cells === 0) return [];
  const found =
    cells === 1
      ? '1 more cell that cannot be read is a missing value'
      : `${cells} more cells that cannot be read are missing values`;
  const place = `${columns.size === 1 ? 'column' : 'the columns'} ${listed([...columns])}`;
  return [{ message: `${found}, in ${place}` }];
}

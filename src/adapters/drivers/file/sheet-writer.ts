import { closeSync, writeFileSync } from 'node:fs';
import { badInput } from '../../../core/errors.ts';
import type { FileProblem } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import { headerProblem, secondNamesProblem } from './csv-problems.ts';
import { MARK } from './exact-decimals.ts';
import { renamedProblems, tableNames, type FileConfig } from './file-config.ts';
import { guessHeader, hasSecondNames, isNarrow, namesBelowTitles, textCell, type HeaderCell } from './header-rule.ts';
import { fixedValue, SheetColumns, type ColumnFix } from './sheet-columns.ts';
import { SheetLayout } from './sheet-layout.ts';
import { doubtOf, isDoubtful, narrowProblem, NO_VALUE, titleProblem, unlistedProblems } from './sheet-problems.ts';
import { CellNumber, CellText, CellTime, UNREADABLE } from './sheet-values.ts';
import type { CellValue, SheetRow } from './sheet-values.ts';
import { unlinkedFile } from './text-file.ts';

/** Maximum bytes of a sheet's values. A small archive can contain gigabytes. */
const MAX_SHEET_BYTES = 512 * 1024 ** 2;
const PIECE = 1 << 20;
const MAX_PROBLEMS = 10;
/** Rows below the first one that are weighed for the decision whether it contains the names. */
const HEADER_ROWS = 200;

export type SheetConfig = Pick<FileConfig, 'format' | 'sheet' | 'skip' | 'header' | 'columns'>;

/** A sheet as one JSON object per row, whose keys are `c0`, `c1`, … in an unlinked file. */
export interface SheetRows {
  path: string;
  names: string[];
  header: boolean;
  /** Number of rows before the names. */
  skip: number;
  /** Positions of columns with a text that looks like a date, in a cell for texts. */
  texts: ReadonlySet<number>;
  /** Positions of columns with a marked number, which is a text in a column of texts (exact-decimals.ts). */
  written: ReadonlySet<number>;
  /** Positions of columns of decimals with a whole number, which has a point. */
  pointed: ReadonlySet<number>;
  /** Positions of columns with dates in cells for dates. */
  withDates: ReadonlySet<number>;
  /** Whether some numbers are digits, which may be more than a double has. */
  hasDigits: boolean;
  /** Name of the sheet, if it is not the first one. */
  sheet?: string;
  /** Cells that have content, but no value. */
  problems: FileProblem[];
}

/** Writes the rows of a sheet. */
export class SheetWriter {
  readonly #copy = unlinkedFile();
  /** Whether the columns are configured. */
  readonly #hasNames: boolean;
  /** Undefined until the first rows show how many precede the table. */
  #skip: number | undefined;
  #header: boolean | undefined;
  #names: string[] = [];
  #width = 0;
  readonly #texts = new Set<number>();
  #hasDigits = false;
  readonly #written = new Set<number>();
  readonly #pointed = new Set<number>();
  /** Reports of `FIRST_OF_COLUMN`, each with the position of its column. */
  readonly #reported = new Set<string>();
  /** The first rows, until they show whether the first one contains the names. */
  #ahead: SheetRow[] | undefined = [];
  readonly #problems: FileProblem[] = [];
  /** Cells without a value beyond `MAX_PROBLEMS`. */
  readonly #unlisted = { cells: 0, columns: new Set<number>() };
  #text = '';
  #bytes = 0;

  /** The cells of the rows below the names. */
  readonly columns = new SheetColumns();
  readonly #layout = new SheetLayout();
  readonly #fixes: ReadonlyMap<number, ColumnFix>;
  #rows = 0;

  constructor({ skip, header, columns }: SheetConfig, fixes: ReadonlyMap<number, ColumnFix> = new Map()) {
    this.#fixes = fixes;
    this.#hasNames = columns !== undefined;
    this.#skip = skip;
    this.#header = header;
  }

  write({ index, values, repeat }: SheetRow): void {
    const width = values.findLastIndex((value) => value !== null) + 1;
    const first = Math.max(index, this.#skip ?? 0);
    if (width === 0 || first >= index + repeat) return;
    if (width > MAX_COLUMNS) throw badInput(`The sheet has ${width} columns; at most ${MAX_COLUMNS} are possible`);
    this.#width = Math.max(this.#width, width);
    this.#rows += repeat;
    const row = { index: first, values, repeat: index + repeat - first };
    if (!this.#ahead) return this.#writeRow(row);
    this.#ahead.push(row);
    const isDecided = this.#header !== undefined && this.#skip !== undefined;
    if (isDecided || this.#ahead.length > HEADER_ROWS) this.#begin(this.#ahead);
  }

  /** Returns the rows without titles above the table. */
  #withoutTitles(rows: readonly SheetRow[]): readonly SheetRow[] {
    if (this.#skip !== undefined) return rows;
    const cells = rows.map(({ values }) =>
      Array.from({ length: this.#width }, (_, i) => headerCell(values[i] ?? null)),
    );
    const isAfterGap = (i: number) => rows[i]!.index > rows[i - 1]!.index + rows[i - 1]!.repeat;
    const names = namesBelowTitles(cells, isAfterGap);
    this.#skip = names > 0 ? rows[names]!.index : 0;
    if (names > 0) this.#problems.push(titleProblem(rows[0]!.index + 1));
    else if (this.#header !== false && cells[0] && isNarrow(cells[0]))
      this.#problems.push(narrowProblem(rows[0]!.index + 1));
    return rows.slice(names);
  }

  /** Decides whether the first row contains the names, and writes the others. */
  #begin(ahead: readonly SheetRow[]): void {
    this.#ahead = undefined;
    const rows = this.#withoutTitles(ahead);
    const [first, ...rest] = rows;
    if (!first) return;
    const cells = rows.map(({ values }) => values.map(headerCell));
    if (this.#header === undefined) {
      const { header, certain } = guessHeader(cells);
      this.#header = header;
      if (!certain) this.#problems.push(headerProblem({ line: first.index + 1 }));
    }
    if (this.#header && !this.#hasNames && hasSecondNames(cells))
      this.#problems.push(secondNamesProblem({ line: rest[0]!.index + 1 }));
    if (this.#header) this.#names = first.values.map(shownText);
    this.#writeRow(this.#header ? { ...first, index: first.index + 1, repeat: first.repeat - 1 } : first);
    for (const row of rest) this.#writeRow(row);
  }

  #writeRow({ index, values: stored, repeat }: SheetRow): void {
    this.columns.add(stored, index, repeat);
    if (repeat > 0) this.#layout.add(stored, index, repeat);
    const values = this.#fixes.size > 0 ? stored.map((value, i) => fixedValue(value, this.#fixes.get(i))) : stored;
    if (repeat > 0 && values.some(isDoubtful)) this.#report(values, index);
    const written = values.flatMap((value, i) => {
      if (value instanceof CellText && repeat > 0) this.#texts.add(i);
      if (value instanceof CellNumber) this.#hasDigits = true;
      return this.#cell(value, i);
    });
    const line = `{${written.join(',')}}\n`;
    for (let i = 0; i < repeat; i++) {
      this.#text += line;
      if (this.#text.length >= PIECE) this.#flush();
    }
  }

  /** Returns a cell as a value of an object, nothing for one without a value. */
  #cell(value: CellValue, i: number): string[] {
    const cell = jsonValue(value);
    if (cell === null) return [];
    if (!(value instanceof CellNumber)) return [`"c${i}":${JSON.stringify(cell)}`];
    if (value.isWritten) this.#written.add(i);
    if (value.shown !== value.text) this.#pointed.add(i);
    return [`"c${i}":${value.isWritten ? `"${MARK}${value.text}"` : value.text}`];
  }

  #report(values: readonly CellValue[], index: number): void {
    values.forEach((value, i) => {
      const first = doubtOf(value);
      if (value !== UNREADABLE && first === undefined) return;
      if (first !== undefined && this.#reported.has(`${i} ${first}`)) return;
      if (this.#problems.length >= MAX_PROBLEMS) {
        this.#unlisted.cells += 1;
        this.#unlisted.columns.add(i + 1);
        return;
      }
      this.#reported.add(`${i} ${first}`);
      this.#problems.push({ line: index + 1, message: `Row ${index + 1}, column ${i + 1}: ${first ?? NO_VALUE}` });
    });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#text);
    writeFileSync(this.#copy.file, bytes);
    this.#bytes += bytes.length;
    this.#text = '';
    if (this.#bytes > MAX_SHEET_BYTES)
      throw badInput(`The sheet has more than ${MAX_SHEET_BYTES / 1024 ** 2} MiB of values`);
  }

  /** Number of rows and columns that have values. */
  get size(): { rows: number; columns: number } {
    return { rows: this.#rows, columns: this.#width };
  }

  discard(): void {
    closeSync(this.#copy.file);
  }

  /** Writes the rows that are still in memory. */
  finish(): void {
    if (this.#ahead) this.#begin(this.#ahead);
    this.#flush();
  }

  end(): SheetRows {
    if (this.#width === 0) throw badInput('The sheet has no rows');
    const written = Array.from({ length: this.#width }, (_, i) => this.#names[i] ?? '');
    const names = tableNames(written);
    const renamed = this.#hasNames ? [] : renamedProblems(written, names);
    return {
      path: this.#copy.path,
      names,
      header: this.#header ?? true,
      skip: this.#skip ?? 0,
      texts: this.#texts,
      written: this.#written,
      pointed: this.#pointed,
      withDates: this.columns.withDates,
      hasDigits: this.#hasDigits,
      problems: [
        ...this.#problems,
        ...unlistedProblems(this.#unlisted),
        ...(this.#hasNames ? [] : this.#layout.problems(this.#names)),
        ...renamed,
      ],
    };
  }
}

/** Returns a cell as a text. */
const shownText = (value: CellValue): string => String(jsonValue(value) ?? '');

/** Returns a cell for the decision about the first row. A text is a text, whatever it looks like. */
function headerCell(value: CellValue): HeaderCell {
  const text = shownText(value).trim();
  if (text === '' || textCell(text).kind === 'blank') return { kind: 'blank', text };
  if (value instanceof CellTime) return { kind: text.includes('-', 1) ? 'date' : 'time', text };
  if (value instanceof CellNumber) return { kind: 'number', text };
  return { kind: typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text', text };
}

/** Returns a cell's value as JSON; null for an empty one, an error, and a date that cannot be read. */
function jsonValue(value: CellValue): string | number | boolean | null {
  if (value instanceof CellTime || value instanceof CellText) return value.text;
  if (value instanceof CellNumber) return value.shown;
  return typeof value === 'symbol' ? null : value;
}

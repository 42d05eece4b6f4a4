import { writeFileSync } from 'node:fs';
import { ApiError, badInput } from '../../../core/errors.ts';
import type { FileProblem } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import { headerProblem } from './csv-problems.ts';
import { tableNames, type FileConfig } from './file-config.ts';
import { guessHeader, textCell, type HeaderCell } from './header-rule.ts';
import { odsRows } from './ods-reader.ts';
import { CellNumber, CellText, CellTime, UNCOMPUTED, UNREADABLE } from './sheet-values.ts';
import type { CellValue, SheetRow } from './sheet-values.ts';
import { unlinkedFile } from './text-file.ts';
import { xlsxRows } from './xlsx-reader.ts';
import { ZipArchive } from './zip-archive.ts';

/** Maximum bytes of a sheet's values. A small archive can contain gigabytes. */
const MAX_SHEET_BYTES = 512 * 1024 ** 2;
const PIECE = 1 << 20;
const MAX_LISTED_SHEETS = 50;

const MAX_PROBLEMS = 10;
/** Rows below the first one that are weighed for the decision whether it contains the names. */
const HEADER_ROWS = 200;

/** Errors of formulas as texts, which are no values. */
const ERROR_TEXT = /^#(N\/A|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)$/;

type SheetConfig = Pick<FileConfig, 'format' | 'sheet' | 'skip' | 'header'>;

/** A sheet as one JSON object per row, whose keys are `c0`, `c1`, … in an unlinked file. */
export interface SheetRows {
  path: string;
  names: string[];
  header: boolean;
  /** Positions of columns with a text that looks like a date, in a cell for texts. */
  texts: ReadonlySet<number>;
  /** Whether some numbers are digits, which may be more than a double has. */
  hasDigits: boolean;
  /** Dates that cannot be read. */
  problems: FileProblem[];
}

/**
 * Reads a sheet of a workbook. Formulas have the values that were stored with them. Empty rows are skipped. Throws
 * BAD_USER_INPUT for a workbook that is broken or encrypted, and for an unknown sheet.
 */
export async function readSheet(file: string, config: SheetConfig): Promise<SheetRows> {
  try {
    const writer = new SheetWriter(config);
    for await (const row of rowsOf(file, config)) writer.write(row);
    return writer.end();
  } catch (error) {
    if (error instanceof ApiError || isFromSystem(error)) throw error;
    throw badInput(
      `The workbook cannot be read: ${error instanceof Error ? error.message.slice(0, 200) : 'it is broken'}`,
      {
        cause: error,
      },
    );
  }
}

const isFromSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

/** Returns the rows of the sheet that is configured. */
function rowsOf(file: string, { format, sheet }: SheetConfig): AsyncIterable<SheetRow> {
  const archive = ZipArchive.open(file);
  if (!archive) throw new Error('it is cut');
  return (format === 'ods' ? odsRows : xlsxRows)(archive, sheet, unknownSheet);
}

const unknownSheet = (names: string[]): Error =>
  badInput(
    `config.sheet must be one of ${names
      .slice(0, MAX_LISTED_SHEETS)
      .map((one) => JSON.stringify(one))
      .join(', ')}`,
  );

const NO_VALUE = 'the value cannot be read, and is a missing one';
const NO_RESULT =
  'the formula has no stored value, as others may in this column: they are missing values. ' +
  'Open the file in a spreadsheet program and save it';

/** Writes the rows of a sheet. */
class SheetWriter {
  readonly #copy = unlinkedFile();
  readonly #skip: number;
  #header: boolean | undefined;
  #names: string[] = [];
  #width = 0;
  readonly #texts = new Set<number>();
  #hasDigits = false;
  /** Positions of columns with a formula that has no stored value. */
  readonly #uncomputed = new Set<number>();
  /** The first rows, until they show whether the first one contains the names. */
  #ahead: SheetRow[] | undefined = [];
  readonly #problems: FileProblem[] = [];
  #text = '';
  #bytes = 0;

  constructor({ skip = 0, header }: SheetConfig) {
    this.#skip = skip;
    this.#header = header;
  }

  write({ index, values, repeat }: SheetRow): void {
    const width = values.findLastIndex((value) => value !== null) + 1;
    const first = Math.max(index, this.#skip);
    if (width === 0 || first >= index + repeat) return;
    if (width > MAX_COLUMNS) throw badInput(`The sheet has ${width} columns; at most ${MAX_COLUMNS} are possible`);
    this.#width = Math.max(this.#width, width);
    const row = { index: first, values, repeat: index + repeat - first };
    if (!this.#ahead) return this.#writeRow(row);
    this.#ahead.push(row);
    if (this.#header !== undefined || this.#ahead.length > HEADER_ROWS) this.#begin(this.#ahead);
  }

  /** Decides whether the first row contains the names, and writes the others. */
  #begin(rows: readonly SheetRow[]): void {
    this.#ahead = undefined;
    const [first, ...rest] = rows;
    if (!first) return;
    if (this.#header === undefined) {
      const { header, certain } = guessHeader(rows.map(({ values }) => values.map(headerCell)));
      this.#header = header;
      if (!certain) this.#problems.push(headerProblem({ line: first.index + 1 }));
    }
    if (this.#header) this.#names = first.values.map(shownText);
    this.#writeRow(this.#header ? { ...first, index: first.index + 1, repeat: first.repeat - 1 } : first);
    for (const row of rest) this.#writeRow(row);
  }

  #writeRow({ index, values, repeat }: SheetRow): void {
    if (repeat > 0 && values.some((value) => typeof value === 'symbol')) this.#report(values, index);
    const written = values.flatMap((value, i) => {
      if (value instanceof CellText && repeat > 0) this.#texts.add(i);
      if (value instanceof CellNumber) this.#hasDigits = true;
      const cell = jsonValue(value);
      return cell === null ? [] : [`"c${i}":${value instanceof CellNumber ? value.text : JSON.stringify(cell)}`];
    });
    const line = `{${written.join(',')}}\n`;
    for (let i = 0; i < repeat; i++) {
      this.#text += line;
      if (this.#text.length >= PIECE) this.#flush();
    }
  }

  #report(values: readonly CellValue[], index: number): void {
    values.forEach((value, i) => {
      const isFirstFormula = value === UNCOMPUTED && !this.#uncomputed.has(i);
      if ((value !== UNREADABLE && !isFirstFormula) || this.#problems.length >= MAX_PROBLEMS) return;
      if (isFirstFormula) this.#uncomputed.add(i);
      const place = `Row ${index + 1}, column ${i + 1}`;
      this.#problems.push({
        line: index + 1,
        message: isFirstFormula ? `${place}: ${NO_RESULT}` : `${place}: ${NO_VALUE}`,
      });
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

  end(): SheetRows {
    if (this.#ahead) this.#begin(this.#ahead);
    this.#flush();
    if (this.#width === 0) throw badInput('The sheet has no rows');
    const names = Array.from({ length: this.#width }, (_, i) => this.#names[i] ?? '');
    return {
      path: this.#copy.path,
      names: tableNames(names),
      header: this.#header ?? true,
      texts: this.#texts,
      hasDigits: this.#hasDigits,
      problems: this.#problems,
    };
  }
}

/** Returns a cell as a text. */
const shownText = (value: CellValue): string => String(jsonValue(value) ?? '');

/** Returns a cell for the decision about the first row. A text is a text, whatever it says. */
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
  if (value instanceof CellNumber) return value.text.replace(/\.0$/, '');
  if (typeof value === 'string') return ERROR_TEXT.test(value) ? null : value;
  return typeof value === 'symbol' ? null : value;
}

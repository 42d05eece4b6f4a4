import { writeFileSync } from 'node:fs';
import { ApiError, badInput } from '../../../core/errors.ts';
import type { FileProblem } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import { tableNames, type FileConfig } from './file-config.ts';
import { odsRows } from './ods-reader.ts';
import { CellTime, UNREADABLE } from './sheet-values.ts';
import type { CellValue, SheetRow } from './sheet-values.ts';
import { unlinkedFile } from './text-file.ts';
import { xlsxRows } from './xlsx-reader.ts';
import { ZipArchive } from './zip-archive.ts';

/** Maximum bytes of a sheet's values. A small archive can contain gigabytes. */
const MAX_SHEET_BYTES = 512 * 1024 ** 2;
const PIECE = 1 << 20;
const MAX_LISTED_SHEETS = 50;

const MAX_PROBLEMS = 10;

/** Errors of formulas as texts, which are no values. */
const ERROR_TEXT = /^#(N\/A|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)$/;

type SheetConfig = Pick<FileConfig, 'format' | 'sheet' | 'skip' | 'header'>;

/** A sheet as one JSON object per row, whose keys are `c0`, `c1`, … in an unlinked file. */
export interface SheetRows {
  path: string;
  names: string[];
  header: boolean;
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

/** Writes the rows of a sheet. */
class SheetWriter {
  readonly #copy = unlinkedFile();
  readonly #skip: number;
  #header: boolean | undefined;
  #names: string[] = [];
  #width = 0;
  #begun = false;
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
    const cells = values.map(jsonValue);
    let times = index + repeat - first;
    if (!this.#begun) {
      this.#begun = true;
      // A first row without any number, date or boolean is a header.
      this.#header ??= values.every((value, i) => cells[i] === null || typeof value === 'string');
      if (this.#header) {
        this.#names = cells.slice(0, width).map((cell) => String(cell ?? ''));
        times -= 1;
      }
    }
    if (values.includes(UNREADABLE)) this.#report(values, index);
    const written = cells.flatMap((cell, i) => (cell === null ? [] : [`"c${i}":${JSON.stringify(cell)}`]));
    const line = `{${written.join(',')}}\n`;
    for (let i = 0; i < times; i++) {
      this.#text += line;
      if (this.#text.length >= PIECE) this.#flush();
    }
  }

  #report(values: readonly CellValue[], index: number): void {
    const column = values.indexOf(UNREADABLE);
    if (this.#problems.length < MAX_PROBLEMS)
      this.#problems.push({
        line: index + 1,
        message: `Row ${index + 1}, column ${column + 1}: the date cannot be read, and is a missing value`,
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
    this.#flush();
    if (this.#width === 0) throw badInput('The sheet has no rows');
    const names = Array.from({ length: this.#width }, (_, i) => this.#names[i] ?? '');
    return { path: this.#copy.path, names: tableNames(names), header: this.#header ?? true, problems: this.#problems };
  }
}

/** Returns a cell's value as JSON; null for an empty one, an error, and a date that cannot be read. */
function jsonValue(value: CellValue): string | number | boolean | null {
  if (value instanceof CellTime) return value.text;
  if (typeof value === 'string') return ERROR_TEXT.test(value) ? null : value;
  return typeof value === 'symbol' ? null : value;
}

import { readFileSync, writeFileSync } from 'node:fs';
import type { StreamRow } from 'hucre/xlsx';
import { ApiError, badInput } from '../../../core/errors.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import { tableNames, type FileConfig } from './file-config.ts';
import { unlinkedFile } from './text-file.ts';

/** Maximum bytes of a sheet's values. A small archive can contain gigabytes. */
const MAX_SHEET_BYTES = 512 * 1024 ** 2;
const PIECE = 1 << 20;
const MAX_LISTED_SHEETS = 50;

/** Errors of formulas, which are no values. */
const CELL_ERROR = /^#(N\/A|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)$/;
/** Serial numbers below 1 are times of a day, which the reader returns as dates of 1899. */
const FIRST_DATE = Date.UTC(1900, 0, 1);

type SheetConfig = Pick<FileConfig, 'format' | 'sheet' | 'skip' | 'header'>;

/** A sheet as one JSON object per row, whose keys are `c0`, `c1`, … in an unlinked file. */
export interface SheetRows {
  path: string;
  names: string[];
  header: boolean;
}

/**
 * Reads a sheet of a workbook. Formulas have the values that were stored with them. Empty rows are skipped. Throws
 * BAD_USER_INPUT for a workbook that is broken or encrypted, and for an unknown sheet.
 */
export async function readSheet(file: string, config: SheetConfig): Promise<SheetRows> {
  try {
    const bytes = readFileSync(file);
    const writer = new SheetWriter(config);
    for await (const row of await rowsOf(bytes, config)) writer.write(row);
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

async function rowsOf(bytes: Uint8Array, { format, sheet }: SheetConfig): Promise<AsyncIterable<StreamRow>> {
  if (format === 'ods') {
    const { streamOdsRows, readOds } = await import('hucre/ods');
    const position = sheet === undefined ? 0 : await positionOf(sheet, (sheets) => readOds(bytes, { sheets }));
    return streamOdsRows(bytes, { sheets: [position] });
  }
  const { streamXlsxRows, readXlsx } = await import('hucre/xlsx');
  const position = sheet === undefined ? 0 : await positionOf(sheet, (sheets) => readXlsx(bytes, { sheets }));
  return streamXlsxRows(bytes, { sheet: position });
}

/** Returns the position of a sheet by its name. `read` reads a workbook's sheets that a filter selects. */
async function positionOf(
  name: string,
  read: (filter: (info: { name: string }, index: number) => boolean) => Promise<unknown>,
): Promise<number> {
  const names: string[] = [];
  await read((info, index) => {
    names[index] = info.name;
    return false;
  });
  if (!names.includes(name))
    throw badInput(
      `config.sheet must be one of ${names
        .slice(0, MAX_LISTED_SHEETS)
        .map((one) => JSON.stringify(one))
        .join(', ')}`,
    );
  return names.indexOf(name);
}

/** Writes the rows of a sheet. */
class SheetWriter {
  readonly #copy = unlinkedFile();
  readonly #skip: number;
  #header: boolean | undefined;
  #names: string[] = [];
  #width = 0;
  #begun = false;
  #text = '';
  #bytes = 0;

  constructor({ skip = 0, header }: SheetConfig) {
    this.#skip = skip;
    this.#header = header;
  }

  write({ index, values }: StreamRow): void {
    const cells = values.map(cellValue);
    const width = cells.findLastIndex((cell) => cell !== null) + 1;
    if (width === 0 || index < this.#skip) return;
    if (width > MAX_COLUMNS) throw badInput(`The sheet has ${width} columns; at most ${MAX_COLUMNS} are possible`);
    this.#width = Math.max(this.#width, width);
    if (!this.#begun) {
      this.#begun = true;
      // A first row without any number, date or boolean is a header.
      this.#header ??= values.every((value) => value === null || typeof value === 'string');
      if (this.#header) {
        this.#names = cells.slice(0, width).map((cell) => String(cell ?? ''));
        return;
      }
    }
    const written = cells.flatMap((cell, i) => (cell === null ? [] : [`"c${i}":${JSON.stringify(cell)}`]));
    this.#text += `{${written.join(',')}}\n`;
    if (this.#text.length >= PIECE) this.#flush();
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
    return { path: this.#copy.path, names: tableNames(names), header: this.#header ?? true };
  }
}

/** Returns a cell's value as JSON; null for an empty one and for the error of a formula. */
function cellValue(value: unknown): string | number | boolean | null {
  if (value instanceof Date) return dateText(value);
  if (typeof value === 'string') return value === '' || CELL_ERROR.test(value) ? null : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'boolean' ? value : null;
}

function dateText(date: Date): string | null {
  if (Number.isNaN(date.getTime())) return null;
  const [day, time] = date.toISOString().split('T') as [string, string];
  if (date.getTime() < FIRST_DATE) return time.slice(0, 8);
  return time === '00:00:00.000Z' ? day : `${day}T${time}`;
}

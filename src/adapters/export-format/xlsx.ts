import type { Row } from '../../core/dataset-index.ts';
import { badInput } from '../../core/errors.ts';
import type { ExportEncoder } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';
import { cellOf, headerCell, widthOf } from './xlsx-cells.ts';
import { beginSheet, closingParts, endSheet, ROOT_RELATIONS, sheetPath, STYLES } from './xlsx-parts.ts';
import { zipArchive, type ZipEntry } from './zip.ts';

const MAX_COLUMNS = 16_384;
/** Number of characters that are compressed at a time. */
const PIECE = 1 << 18;

/** Limits of a sheet. The next sheet begins where one is full. */
export interface SheetLimits {
  /** Maximum number of rows, header included. */
  rows: number;
  /**
   * Maximum number of characters, of at most three bytes each, because an entry of the archive is smaller than 4 GiB.
   */
  characters: number;
}
const EXCELS_LIMITS: SheetLimits = { rows: 1_048_576, characters: 1_000_000_000 };

/** Creates an encoder of workbooks (ECMA-376, Office Open XML), with further sheets where one cannot hold all rows. */
export const xlsxEncoder = (limits: SheetLimits): ExportEncoder => ({
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  check({ length }) {
    if (length > MAX_COLUMNS)
      throw badInput(
        `A sheet holds at most ${MAX_COLUMNS} columns, and these are ${length}; choose some with \`fields\``,
      );
  },
  encode: (fields, batches, title) => zipArchive(partsOf(fields, batches, limits, title)),
});

export const xlsx = xlsxEncoder(EXCELS_LIMITS);

async function* partsOf(
  fields: readonly Field[],
  batches: AsyncIterable<readonly Row[]>,
  limits: SheetLimits,
  title: string,
): AsyncGenerator<ZipEntry> {
  yield { path: '_rels/.rels', texts: [ROOT_RELATIONS] };
  yield { path: 'xl/styles.xml', texts: [STYLES] };
  const rows = new RowCursor(batches);
  const write = rowWriter(fields);
  let sheets = 0;
  do yield { path: sheetPath(++sheets), texts: sheet(rows, write, limits) };
  while (await rows.more());
  for (const { path, text } of closingParts(sheets, title)) yield { path, texts: [text] };
}

/** Yields one sheet: the header, and rows up to the limits. */
async function* sheet(
  rows: RowCursor,
  { begin, lastColumn, row }: RowWriter,
  limits: SheetLimits,
): AsyncGenerator<string> {
  let text = begin;
  let written = 0;
  let number = 2;
  for (
    ;
    number <= limits.rows && written + text.length < limits.characters && (rows.ready || (await rows.more()));
    number++
  ) {
    text += row(rows.take(), number);
    if (text.length < PIECE) continue;
    written += text.length;
    yield text;
    text = '';
  }
  yield text + endSheet(`${lastColumn}${number - 1}`);
}

interface RowWriter {
  /** The sheet up to its header. */
  begin: string;
  lastColumn: string;
  row(row: Row, number: number): string;
}

function rowWriter(fields: readonly Field[]): RowWriter {
  const columns = fields.map((field, i) => ({ name: field.name, letters: lettersOf(i), cell: cellOf(field) }));
  return {
    begin: `${beginSheet(fields.map(widthOf))}<row r="1">${columns
      .map(({ name, letters }) => headerCell(`${letters}1`, name))
      .join('')}</row>`,
    lastColumn: lettersOf(Math.max(columns.length - 1, 0)),
    row(row, number) {
      let cells = '';
      for (const { name, letters, cell } of columns) cells += cell(letters + number, row[name]);
      return `<row r="${number}">${cells}</row>`;
    },
  };
}

/** Returns the letters of a column: A, …, Z, AA, … */
const lettersOf = (index: number): string =>
  (index < 26 ? '' : lettersOf(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));

/** Iterates over rows one by one, across sheets. */
class RowCursor {
  readonly #batches: AsyncIterator<readonly Row[]>;
  #batch: readonly Row[] = [];
  #at = 0;

  constructor(batches: AsyncIterable<readonly Row[]>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  /** Whether a row is available without waiting. */
  get ready(): boolean {
    return this.#at < this.#batch.length;
  }

  /** Returns whether there is another row. Waits for the next batch if none is available. */
  async more(): Promise<boolean> {
    while (!this.ready) {
      const { done, value } = await this.#batches.next();
      if (done) return false;
      this.#batch = value;
      this.#at = 0;
    }
    return true;
  }

  take(): Row {
    return this.#batch[this.#at++]!;
  }
}

import {
  CELL_ERROR,
  durationValue,
  isoValue,
  MAX_SHEET_COLUMNS,
  numberValue,
  UNCOMPUTED,
  wholeValue,
} from './sheet-values.ts';
import type { CellValue, SheetRow } from './sheet-values.ts';
import { readXml } from './xml-reader.ts';
import type { ZipArchive } from './zip-archive.ts';

const CONTENT = 'content.xml';
const MAX_SHEET_ROWS = 1_048_576;
/** Repetitions of a blank that are kept. */
const MAX_BLANKS = 1000;

/** Parts of a cell that are not its text: comments, pictures, notes, tables inside it. */
const ASIDE = /^(annotation|note|frame|custom-shape|g|control|caption|rect|line|ruby-text|table)$/;

type Attributes = Readonly<Record<string, string>>;

/** Yields the rows of a sheet by its name, or of the first one. `missing` is called with all names if there is none. */
export async function* odsRows(
  archive: ZipArchive,
  sheet: string | undefined,
  missing: (names: string[]) => Error,
): AsyncGenerator<SheetRow> {
  if ((await archive.text('META-INF/manifest.xml')).includes('encryption-data')) throw new Error('it is encrypted');
  const content = new OdsContent(sheet);
  for await (const rows of readXml(archive.chunks(CONTENT), content, () => content.takeRows())) {
    yield* rows;
    if (content.finished) return;
  }
  if (sheet !== undefined && !content.finished) throw missing(content.names);
}

/** State of the reader of `content.xml`. */
class OdsContent {
  readonly names: string[] = [];
  /** Whether the sheet was read to its end. */
  finished = false;
  readonly #wanted: string | undefined;
  #rows: SheetRow[] = [];
  #inSpreadsheet = false;
  /** Whether the open table is the wanted sheet. */
  #inSheet = false;
  #row: SheetRow = { index: 0, values: [], repeat: 1 };
  #index = 0;
  #column = 0;
  #cell: Attributes | undefined;
  #paragraphs: string[] = [];
  #inParagraph = false;
  /** Depth of the elements beside the text of a cell. */
  #aside = 0;

  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  takeRows(): SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  readonly open = (name: string, attributes: Attributes): void => {
    if (this.#aside > 0) this.#aside += 1;
    else if (this.#cell) this.#openInCell(name, attributes);
    else if (name === 'spreadsheet') this.#inSpreadsheet = true;
    else if (name === 'table' && this.#inSpreadsheet) this.#openTable(attributes['table:name'] ?? '');
    else if (!this.#inSheet) return;
    else if (name === 'table-row')
      this.#row = { index: this.#index, values: [], repeat: repetitions(attributes, 'rows', MAX_SHEET_ROWS) };
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#cell = attributes;
  };

  #openTable(name: string): void {
    this.names.push(name);
    this.#inSheet = !this.finished && (this.#wanted === undefined || this.#wanted === name);
  }

  #openInCell(name: string, attributes: Attributes): void {
    if (ASIDE.test(name)) this.#aside = 1;
    else if (name === 'p' || name === 'h') {
      this.#inParagraph = true;
      this.#paragraphs.push('');
    } else if (name === 's') this.text(' '.repeat(Math.min(Number(attributes['text:c'] ?? 1) || 1, MAX_BLANKS)));
    else if (name === 'line-break') this.text('\n');
    else if (name === 'tab') this.text('\t');
  }

  readonly text = (text: string): void => {
    if (this.#inParagraph && this.#aside === 0) this.#paragraphs[this.#paragraphs.length - 1] += text;
  };

  readonly close = (name: string): void => {
    if (this.#aside > 0) this.#aside -= 1;
    else if (name === 'p' || name === 'h') this.#inParagraph = false;
    else if (this.#cell) {
      if (name === 'table-cell' || name === 'covered-table-cell') this.#closeCell(this.#cell, name === 'table-cell');
    } else if (name === 'table' && this.#inSheet) this.#closeTable();
    else if (name === 'table-row' && this.#inSheet) this.#closeRow();
  };

  #closeCell(attributes: Attributes, isVisible: boolean): void {
    const value = isVisible ? cellValue(attributes, this.#paragraphs) : null;
    const repeat = repetitions(attributes, 'columns', MAX_SHEET_COLUMNS);
    if (value !== null) {
      if (this.#column + repeat > MAX_SHEET_COLUMNS) throw new Error(`it has more than ${MAX_SHEET_COLUMNS} columns`);
      const { values } = this.#row;
      while (values.length < this.#column) values.push(null);
      for (let i = 0; i < repeat; i++) values.push(value);
    }
    this.#column += repeat;
    this.#paragraphs = [];
    this.#cell = undefined;
  }

  #closeRow(): void {
    if (this.#row.values.length > 0) this.#rows.push(this.#row);
    this.#index += this.#row.repeat;
    this.#column = 0;
  }

  #closeTable(): void {
    this.#inSheet = false;
    this.finished = true;
  }
}

const repetitions = (attributes: Attributes, of: 'rows' | 'columns', max: number): number =>
  Math.max(1, Math.min(max, Number(attributes[`table:number-${of}-repeated`] ?? 1) || 1));

function cellValue(attributes: Attributes, paragraphs: readonly string[]): CellValue {
  if (attributes['calcext:value-type'] === 'error') return CELL_ERROR;
  const type = attributes['office:value-type'] ?? attributes['calcext:value-type'];
  const stated = (name: string) => attributes[`office:${name}`] ?? '';
  switch (type) {
    case 'float':
    case 'currency':
    case 'percentage':
      return wholeValue(stated('value'), numberValue(stated('value')));
    case 'boolean':
      return { true: true, false: false }[stated('boolean-value')] ?? null;
    case 'date':
      return stated('date-value') === '' ? null : isoValue(stated('date-value'));
    case 'time':
      return stated('time-value') === '' ? null : durationValue(stated('time-value'));
    default:
      // A text that is stated is the value; the paragraphs are what the cell shows.
      return stated('string-value') || paragraphs.join('\n') || (attributes['table:formula'] ? UNCOMPUTED : null);
  }
}

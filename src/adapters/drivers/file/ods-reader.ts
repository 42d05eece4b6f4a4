import {
  CELL_ERROR,
  COVERED,
  durationValue,
  exactValue,
  isoValue,
  MAX_SHEET_COLUMNS,
  numberValue,
  paddedValue,
  statedValue,
  UNCOMPUTED,
  UnstatedText,
} from './sheet-values.ts';
import type { CellValue, SheetRow } from './sheet-values.ts';
import { readXml } from './xml-reader.ts';
import type { ZipArchive } from './zip-archive.ts';

const CONTENT = 'content.xml';
/** A name that sheets do not have. */
const NO_SHEET = '\0';
const MAX_SHEET_ROWS = 1_048_576;
/** Number of blanks that an element may stand for. */
const MAX_BLANKS = 65_535;
/** Blanks of the document, which are one however many they are. */
const BLANKS = /[ \t\r\n]+/g;

/** Parts of a cell that are not its text: comments, pictures, notes, tables inside it. */
const ASIDE = /^(annotation|note|frame|custom-shape|g|control|caption|rect|line|ruby-text|table)$/;

type Attributes = Readonly<Record<string, string>>;

/**
 * Yields the rows of a sheet by its name, or of the first one. `missing` is called with all names if the sheet does not
 * exist.
 */
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

/** Returns the names of the sheets. */
export async function odsSheets(archive: ZipArchive): Promise<string[]> {
  const content = new OdsContent(NO_SHEET);
  for await (const _ of readXml(archive.chunks(CONTENT), content, () => [])) continue;
  return content.names;
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
  /** Whether the paragraph ends with a blank of the document, or is empty: further ones do not count. */
  #isAfterBlank = true;
  /** Depth of the elements that are not part of the text of a cell. */
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
      this.#isAfterBlank = true;
      this.#paragraphs.push('');
    } else if (name === 's') this.#add(' '.repeat(blanksOf(attributes)));
    else if (name === 'line-break') this.#add('\n');
    else if (name === 'tab') this.#add('\t');
  }

  /** Adds to the paragraph what an element stands for. */
  #add(text: string): void {
    if (!this.#inParagraph || text === '') return;
    this.#paragraphs[this.#paragraphs.length - 1] += text;
    this.#isAfterBlank = false;
  }

  readonly text = (text: string): void => {
    if (!this.#inParagraph || this.#aside > 0) return;
    const single = text.replace(BLANKS, ' ');
    const added = this.#isAfterBlank && single.startsWith(' ') ? single.slice(1) : single;
    this.#add(added);
    if (added.endsWith(' ')) this.#isAfterBlank = true;
  };

  #closeParagraph(): void {
    this.#inParagraph = false;
    const text = this.#paragraphs.at(-1) ?? '';
    if (this.#isAfterBlank && text !== '') this.#paragraphs[this.#paragraphs.length - 1] = text.slice(0, -1);
  }

  readonly close = (name: string): void => {
    if (this.#aside > 0) this.#aside -= 1;
    else if (name === 'p' || name === 'h') this.#closeParagraph();
    else if (this.#cell) {
      if (name === 'table-cell' || name === 'covered-table-cell') this.#closeCell(this.#cell, name === 'table-cell');
    } else if (name === 'table' && this.#inSheet) this.#closeTable();
    else if (name === 'table-row' && this.#inSheet) this.#closeRow();
  };

  #closeCell(attributes: Attributes, isVisible: boolean): void {
    const content = cellValue(attributes, this.#paragraphs);
    const value = isVisible || content === null ? content : COVERED;
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

function blanksOf(attributes: Attributes): number {
  const count = Number(attributes['text:c'] ?? 1);
  if (!(count >= 0 && count <= MAX_BLANKS)) throw new Error(`a cell has more than ${MAX_BLANKS} blanks in a row`);
  return count;
}

/** Text of a formula that has an error. Not all programs state the error otherwise. */
const ERROR_TEXT = /^#(N\/A|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)$/;

/** Text of a number with zeros before it. */
const ZEROS = /^-?0\d/;

/** Returns the value of a cell: what it states, otherwise the text that it shows. */
function cellValue(attributes: Attributes, paragraphs: readonly string[]): CellValue {
  const text = paragraphs.join('\n');
  if (attributes['calcext:value-type'] === 'error') return CELL_ERROR;
  if (attributes['table:formula'] && ERROR_TEXT.test(text)) return CELL_ERROR;
  const type = attributes['office:value-type'] ?? attributes['calcext:value-type'];
  const stated = (name: string) => attributes[`office:${name}`] ?? '';
  const empty = attributes['table:formula'] ? UNCOMPUTED : null;
  const valueOf = (name: string, read: (stated: string) => CellValue | undefined): CellValue =>
    statedValue(stated(name), read(stated(name))) ?? (text.trim() === '' ? empty : new UnstatedText(text));
  switch (type) {
    case 'float':
    case 'currency':
    case 'percentage':
      return valueOf('value', (number) => paddedValue(exactValue(number, numberValue(number)), ZEROS.test(text)));
    case 'boolean':
      return valueOf('boolean-value', (word) => ({ true: true, false: false })[word]);
    case 'date':
      return valueOf('date-value', isoValue);
    case 'time':
      return valueOf('time-value', durationValue);
    default:
      // A text that is stated is the value; the paragraphs are what the cell shows.
      return stated('string-value') || text || empty;
  }
}

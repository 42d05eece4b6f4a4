import { formatFor, GENERAL_FORMAT, type CellFormat } from './number-format.ts';
import {
  CELL_ERROR,
  CellTime,
  exactValue,
  isoValue,
  MAX_SHEET_COLUMNS,
  numberValue,
  paddedValue,
  statedValue,
  UNCOMPUTED,
  UNREADABLE,
  serialValue,
  textValue,
} from './sheet-values.ts';
import type { CellValue, SheetRow } from './sheet-values.ts';
import {
  readSharedTexts,
  readStyles,
  readTables,
  readWorkbook,
  RichText,
  unescaped,
  workbookPart,
  type SheetTable,
  type Workbook,
} from './xlsx-package.ts';
import { readXml } from './xml-reader.ts';
import type { ZipArchive } from './zip-archive.ts';

const REFERENCE = /^([A-Z]{1,4})\d+$/i;
const [BEFORE_A, LETTERS] = [64, 26];

type Attributes = Readonly<Record<string, string>>;

/** The context to which the cells of a sheet refer. */
interface CellContext {
  texts: readonly string[];
  formats: readonly CellFormat[];
  is1904: boolean;
}

/** Returns the names of the worksheets that are not hidden. */
export async function xlsxSheets(archive: ZipArchive): Promise<string[]> {
  const part = await workbookPart(archive);
  const { sheets } = part === undefined ? { sheets: [] } : await readWorkbook(archive, part);
  return sheets.flatMap(({ name, hidden }) => (hidden ? [] : [name]));
}

/** Returns the tables that a worksheet defines, found like its rows. */
export async function xlsxTables(archive: ZipArchive, name: string | undefined): Promise<SheetTable[]> {
  const part = await workbookPart(archive);
  if (part === undefined) return [];
  const sheet = sheetIn(await readWorkbook(archive, part), name);
  return sheet ? readTables(archive, sheet.part) : [];
}

/** Returns the worksheet with a name, or the first one that is not hidden. */
const sheetIn = ({ sheets }: Workbook, name: string | undefined): Workbook['sheets'][number] | undefined =>
  name === undefined ? (sheets.find(({ hidden }) => !hidden) ?? sheets[0]) : sheets.find((one) => one.name === name);

/**
 * Yields the rows of a worksheet by its name, or of the first one that is not hidden. `missing` is called with all
 * names if the worksheet does not exist.
 */
export async function* xlsxRows(
  archive: ZipArchive,
  name: string | undefined,
  missing: (names: string[]) => Error,
): AsyncGenerator<SheetRow> {
  const part = await workbookPart(archive);
  if (part === undefined) throw new Error('it has no workbook');
  const workbook = await readWorkbook(archive, part);
  const { is1904, strings, styles } = workbook;
  const sheet = sheetIn(workbook, name);
  if (!sheet) throw missing(workbook.sheets.map((one) => one.name));
  const texts = await readSharedTexts(archive, strings);
  const content = new SheetContent({ texts, formats: await readStyles(archive, styles), is1904 });
  for await (const rows of readXml(archive.chunks(sheet.part), content, () => content.takeRows())) yield* rows;
}

/** State of the reader of a worksheet. */
class SheetContent {
  readonly #context: CellContext;
  #rows: SheetRow[] = [];
  #inData = false;
  #row: SheetRow = { index: -1, values: [], repeat: 1 };
  #column = 0;
  #cell: Attributes | undefined;
  #value = '';
  #inValue = false;
  readonly #inline = new RichText();
  /** Depth of the elements inside a cell that are not its value, such as extensions. */
  #aside = 0;
  #inInline = false;
  #hasFormula = false;

  constructor(context: CellContext) {
    this.#context = context;
  }

  takeRows(): SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  readonly open = (name: string, attributes: Attributes): void => {
    if (this.#inInline) this.#inline.open(name);
    else if (this.#aside > 0) this.#aside += 1;
    else if (this.#cell) {
      if (name === 'v') this.#inValue = true;
      else if (name === 'is') this.#inInline = true;
      else this.#aside = 1;
      if (name === 'f') this.#hasFormula = true;
    } else if (name === 'sheetData') this.#inData = true;
    else if (!this.#inData) return;
    else if (name === 'row') {
      const stated = Number(attributes['r']);
      const index = stated > 0 ? stated - 1 : this.#row.index + 1;
      if (index === this.#row.index) throw new Error(`row ${index + 1} occurs twice`);
      if (index < this.#row.index) throw new Error(`row ${index + 1} is behind row ${this.#row.index + 1}`);
      this.#row = { index, values: [], repeat: 1 };
      this.#column = 0;
    } else if (name === 'c') this.#openCell(attributes);
  };

  #openCell(attributes: Attributes): void {
    this.#cell = attributes;
    this.#value = '';
    this.#hasFormula = false;
    this.#inline.clear();
    if (attributes['r'] !== undefined) this.#column = columnOf(attributes['r']);
  }

  readonly text = (text: string): void => {
    if (this.#inInline) this.#inline.text(text);
    else if (this.#inValue) this.#value += text;
  };

  readonly close = (name: string): void => {
    if (this.#inInline) {
      if (name === 'is') this.#inInline = false;
      else this.#inline.close(name);
    } else if (this.#aside > 0) this.#aside -= 1;
    else if (name === 'v') this.#inValue = false;
    else if (name === 'c' && this.#cell) this.#closeCell(this.#cell);
    else if (name === 'row' && this.#inData) this.#rows.push(this.#row);
    else if (name === 'sheetData') this.#inData = false;
  };

  #closeCell(attributes: Attributes): void {
    const value = this.#valueOf(attributes) ?? (this.#hasFormula && attributes['t'] !== 'str' ? UNCOMPUTED : null);
    const { values } = this.#row;
    while (values.length < this.#column) values.push(null);
    if (value !== null && (values[this.#column] ?? null) !== null)
      throw new Error(`the cell ${attributes['r'] ?? ''} of row ${this.#row.index + 1} occurs twice`);
    values[this.#column] = value ?? values[this.#column] ?? null;
    this.#column += 1;
    this.#cell = undefined;
  }

  #valueOf({ t: type = 'n', s: style = '' }: Attributes): CellValue {
    const { texts, formats, is1904 } = this.#context;
    const format = formats[Number(style)] ?? GENERAL_FORMAT;
    const text = this.#value;
    switch (type) {
      case 's': {
        const shared = text.trim() === '' ? '' : texts[numberValue(text) ?? -1];
        return shared === undefined ? UNREADABLE : textValue(shared, format);
      }
      case 'str':
        return unescaped(text) || null;
      case 'inlineStr':
        return textValue(this.#inline.value, format);
      case 'b':
        return statedValue(text, { 1: true, true: true, 0: false, false: false }[text.trim().toLowerCase()]);
      case 'e':
        return CELL_ERROR;
      case 'd':
        return statedValue(text, isoValue(text.trim()));
      default: {
        const number = numberValue(text);
        if (number === null) return statedValue(text, null);
        const { kind, hasFraction, digits = 0 } = formatFor(format, number);
        if (kind === 'number')
          return paddedValue(exactValue(text, number, hasFraction), String(Math.abs(number)).length < digits);
        const value = serialValue(number, kind, is1904, hasFraction);
        if (value instanceof CellTime) value.origin = { serial: number, kind };
        return value;
      }
    }
  }
}

/** Returns the position of a cell's column by its reference, such as `AB12`. */
function columnOf(reference: string): number {
  const letters = REFERENCE.exec(reference)?.[1]?.toUpperCase() ?? '';
  const column = [...letters].reduce((sum, letter) => sum * LETTERS + letter.charCodeAt(0) - BEFORE_A, 0) - 1;
  if (column < 0 || column >= MAX_SHEET_COLUMNS)
    throw new Error(`the cell ${reference.slice(0, 20)} is outside its sheet`);
  return column;
}

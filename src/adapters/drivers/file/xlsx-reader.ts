import { GENERAL_FORMAT, type CellFormat } from './number-format.ts';
import {
  CELL_ERROR,
  decimalValue,
  isoValue,
  MAX_SHEET_COLUMNS,
  numberValue,
  UNCOMPUTED,
  UNREADABLE,
  wholeValue,
  serialValue,
  textValue,
} from './sheet-values.ts';
import type { CellValue, SheetRow } from './sheet-values.ts';
import { readSharedTexts, readStyles, readWorkbook, RichText, unescaped, workbookPart } from './xlsx-package.ts';
import { readXml } from './xml-reader.ts';
import type { ZipArchive } from './zip-archive.ts';

const REFERENCE = /^([A-Z]{1,4})\d+$/i;
const [BEFORE_A, LETTERS] = [64, 26];

type Attributes = Readonly<Record<string, string>>;

/** What the cells of a sheet refer to. */
interface CellContext {
  texts: readonly string[];
  formats: readonly CellFormat[];
  is1904: boolean;
}

/**
 * Yields the rows of a worksheet by its name, or of the first one that is not hidden. `missing` is called with all names
 * if there is none.
 */
export async function* xlsxRows(
  archive: ZipArchive,
  name: string | undefined,
  missing: (names: string[]) => Error,
): AsyncGenerator<SheetRow> {
  const part = await workbookPart(archive);
  if (part === undefined) throw new Error('it has no workbook');
  const { sheets, is1904, strings, styles } = await readWorkbook(archive, part);
  const sheet =
    name === undefined ? (sheets.find(({ hidden }) => !hidden) ?? sheets[0]!) : sheets.find((one) => one.name === name);
  if (!sheet) throw missing(sheets.map((one) => one.name));
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
    else if (this.#cell) {
      if (name === 'v') this.#inValue = true;
      else if (name === 'is') this.#inInline = true;
      else if (name === 'f') this.#hasFormula = true;
    } else if (name === 'sheetData') this.#inData = true;
    else if (!this.#inData) return;
    else if (name === 'row') {
      const stated = Number(attributes['r']);
      this.#row = { index: stated > 0 ? stated - 1 : this.#row.index + 1, values: [], repeat: 1 };
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
    } else if (name === 'v') this.#inValue = false;
    else if (name === 'c' && this.#cell) this.#closeCell(this.#cell);
    else if (name === 'row' && this.#inData) this.#rows.push(this.#row);
    else if (name === 'sheetData') this.#inData = false;
  };

  #closeCell(attributes: Attributes): void {
    const value = this.#valueOf(attributes) ?? (this.#hasFormula && attributes['t'] !== 'str' ? UNCOMPUTED : null);
    const { values } = this.#row;
    while (values.length < this.#column) values.push(null);
    values[this.#column] = value;
    this.#column += 1;
    this.#cell = undefined;
  }

  #valueOf({ t: type = 'n', s: style = '' }: Attributes): CellValue {
    const { texts, formats, is1904 } = this.#context;
    const format = formats[Number(style)] ?? GENERAL_FORMAT;
    const text = this.#value;
    switch (type) {
      case 's':
        return text.trim() === '' ? null : textValue(texts[Number(text)] ?? '', format);
      case 'str':
        return unescaped(text) || null;
      case 'inlineStr':
        return textValue(this.#inline.value, format);
      case 'b':
        return { 1: true, true: true, 0: false, false: false }[text.trim().toLowerCase()] ?? null;
      case 'e':
        return CELL_ERROR;
      case 'd':
        return text.trim() === '' ? null : isoValue(text.trim());
      default: {
        const number = numberValue(text);
        if (number === null) return text.trim() === '' ? null : UNREADABLE;
        const { kind, hasFraction } = format;
        if (kind === 'number') return hasFraction ? decimalValue(number) : wholeValue(text, number);
        return serialValue(number, kind, is1904, hasFraction);
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

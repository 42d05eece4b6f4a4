import { cellFormat, type CellFormat } from './number-format.ts';
import { readWholeXml } from './xml-reader.ts';
import type { ZipArchive } from './zip-archive.ts';

const ROOT = '_rels/.rels';
/** Where most programs write the workbook. */
const USUAL_WORKBOOK = 'xl/workbook.xml';

interface Relationship {
  id: string;
  /** The last part of its type. */
  kind: string;
  target: string;
}

/** A workbook: the parts of its worksheets in their order, and what their cells refer to. */
export interface Workbook {
  sheets: { name: string; part: string; hidden: boolean }[];
  is1904: boolean;
  strings: string | undefined;
  styles: string | undefined;
}

/** Returns the name of the workbook's part: where the package states it, or where it usually is; undefined for none. */
export async function workbookPart(archive: ZipArchive): Promise<string | undefined> {
  const stated = (await relationshipsOf(archive, '')).find(({ kind }) => kind === 'officeDocument')?.target;
  return [stated, USUAL_WORKBOOK].find((part) => part !== undefined && archive.has(part));
}

/** Reads the part that lists the sheets. Chart, dialog and macro sheets have no rows, and are left out. */
export async function readWorkbook(archive: ZipArchive, part: string): Promise<Workbook> {
  const related = await relationshipsOf(archive, part);
  const sheets: Workbook['sheets'] = [];
  let is1904 = false;
  await readWholeXml(archive.chunks(part), {
    open: (name, attributes) => {
      if (name === 'workbookPr') is1904 = /^(1|true|on)$/.test(attributes['date1904'] ?? '');
      if (name !== 'sheet') return;
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1];
      const sheet = related.find((one) => one.id === id && one.kind === 'worksheet');
      const { name: title = '', state = 'visible' } = attributes;
      if (sheet) sheets.push({ name: title, part: sheet.target, hidden: state !== 'visible' });
    },
  });
  if (sheets.length === 0) throw new Error('it has no worksheet');
  const partOf = (kind: string) => related.find((one) => one.kind === kind && archive.has(one.target))?.target;
  return { sheets, is1904, strings: partOf('sharedStrings'), styles: partOf('styles') };
}

/** A table that a worksheet defines: its cells, such as `A1:C5`, and whether its last row has totals. */
export interface SheetTable {
  cells: string;
  hasTotals: boolean;
}

/** Returns the tables that a worksheet defines. */
export async function readTables(archive: ZipArchive, part: string): Promise<SheetTable[]> {
  const tables: SheetTable[] = [];
  for (const { kind, target } of await relationshipsOf(archive, part)) {
    if (kind !== 'table' || !archive.has(target)) continue;
    await readWholeXml(archive.chunks(target), {
      open: (name, { ref: cells = '', totalsRowCount = '0' }) => {
        if (name === 'table') tables.push({ cells, hasTotals: Number(totalsRowCount) > 0 });
      },
    });
  }
  return tables;
}

/** Returns the relationships of a part; of the package for an empty name. */
async function relationshipsOf(archive: ZipArchive, part: string): Promise<Relationship[]> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const list = part === '' ? ROOT : `${folder}_rels/${part.slice(folder.length)}.rels`;
  const found: Relationship[] = [];
  if (!archive.has(list)) return found;
  await readWholeXml(archive.chunks(list), {
    open: (name, { Id: id = '', Type: type = '', Target: target = '' }) => {
      if (name === 'Relationship')
        found.push({ id, kind: type.slice(type.lastIndexOf('/') + 1), target: resolvePart(folder, target) });
    },
  });
  return found;
}

/** Returns the name of a part from its path relative to a folder. */
function resolvePart(folder: string, target: string): string {
  const path = target.replaceAll('\\', '/');
  const steps = `${path.startsWith('/') ? '' : folder}${path}`.split('/');
  const parts: string[] = [];
  for (const step of steps)
    if (step === '..') parts.pop();
    else if (step !== '' && step !== '.') parts.push(step);
  return parts.join('/');
}

/**
 * Reads the texts that cells share. A text in several formats is a list of runs. Anything outside of the runs, and the
 * pronunciation of East Asian texts, is not part of it.
 */
export async function readSharedTexts(archive: ZipArchive, part: string | undefined): Promise<string[]> {
  const texts: string[] = [];
  if (part === undefined) return texts;
  const item = new RichText();
  await readWholeXml(archive.chunks(part), {
    open: (name) => {
      if (name === 'si') item.clear();
      else item.open(name);
    },
    text: (text) => item.text(text),
    close: (name) => {
      if (name === 'si') texts.push(item.value);
      else item.close(name);
    },
  });
  return texts;
}

/** State of the reader of one text: `t` elements, alone or in runs. */
export class RichText {
  #plain = '';
  #runs: string | undefined;
  #inRun = false;
  #inText = false;
  #inPhonetic = false;

  get value(): string {
    return unescaped(this.#runs ?? this.#plain);
  }

  clear(): void {
    this.#plain = '';
    this.#runs = undefined;
  }

  open(name: string): void {
    if (name === 'rPh') this.#inPhonetic = true;
    else if (name === 'r') this.#inRun = true;
    else if (name === 't') this.#inText = !this.#inPhonetic;
  }

  text(text: string): void {
    if (!this.#inText) return;
    if (this.#inRun) this.#runs = (this.#runs ?? '') + text;
    else this.#plain += text;
  }

  close(name: string): void {
    if (name === 'rPh') this.#inPhonetic = false;
    else if (name === 'r') this.#inRun = false;
    else if (name === 't') this.#inText = false;
  }
}

/** Characters that XML does not have, or changes, are written by their code: `_x000D_`. */
export const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;

/** Returns the format of each style of cells. */
export async function readStyles(archive: ZipArchive, part: string | undefined): Promise<CellFormat[]> {
  const codes = new Map<number, string>();
  const ids: number[] = [];
  if (part === undefined) return [];
  let inCells = false;
  // Conditional formats have codes of their own.
  let inCodes = false;
  await readWholeXml(archive.chunks(part), {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      if (name === 'numFmts') inCodes = true;
      else if (name === 'numFmt' && inCodes) codes.set(Number(numFmtId), formatCode);
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) ids.push(Number(numFmtId));
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false;
      else if (name === 'numFmts') inCodes = false;
    },
  });
  return ids.map((id) => cellFormat(id, codes.get(id)));
}

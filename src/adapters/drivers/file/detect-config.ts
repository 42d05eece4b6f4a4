import { readFileSync } from 'node:fs';
import { badInput } from '../../../core/errors.ts';
import type { DetectedFile, FileProblem } from '../../../core/row-source.ts';
import type { ColumnsFrom } from '../query-process/work.ts';
import { checkTypes } from './declared-types.ts';
import { DuckdbSession } from './duckdb-session.ts';
import { guessEncoding, legacySample } from './encoding-guess.ts';
import { examineText } from './examine-text.ts';
import type { FileConfig } from './file-config.ts';
import { headBytes } from './file-head.ts';
import { checkRecords, createTable, detectCsvConfig } from './file-table.ts';
import { nestedArray } from './json-document.ts';
import { checkKeys } from './json-keys.ts';
import { numberCodes } from './number-codes.ts';
import { nanosecondsPath } from './parquet-zones.ts';
import { isWorkbook, openSource } from './table-source.ts';
import { brokenJsonLine, NO_NUMBER, utf8Path, decoderOf } from './text-file.ts';
import { timeProblems } from './time-problems.ts';
import { KEEP_TEXTS, SELECT_TEXTS, valueProblems } from './value-problems.ts';
import { workbookPart } from './xlsx-package.ts';
import { ZipArchive } from './zip-archive.ts';

const PARQUET = 'PAR1';
/** Compressed files, by their first bytes. They are never unpacked, because a kilobyte can contain a terabyte. */
const PACKED: [string, string][] = [
  ['\x1f\x8b', 'gzip'],
  ['PK\x03\x04', 'ZIP'],
  ['\x28\xb5\x2f\xfd', 'Zstandard'],
  ['BZh', 'bzip2'],
  ['\xfd7zXZ', 'xz'],
  ['7z\xbc\xaf', '7-Zip'],
];
const OLE = '\xd0\xcf\x11\xe0';
const MARKS: [string, string][] = [
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
];
/** Beginnings of files that are not tables. */
const OTHER_FILES = ['\x89PNG', 'GIF8', '\xff\xd8\xff', '%PDF-', 'SQLite f', 'RIFF'];
/** Characters that texts rarely have. */
const CONTROLS = /[\0-\x08\x0e-\x1a\x1c-\x1f]/g;
const FEW_CONTROLS = 3;
const CONTROLS_SHARE = 0.02;
const MARKUP = /^\s*<(\?xml|!doctype|html|svg)/i;
const JSON_NAME = /\.(json|ndjson|jsonl|geojson)$/i;
const TABLE_NAME = /\.(csv|tsv|xlsx?|ods)$/i;
const CSV_NAME = /\.(csv|tsv|txt|tab)$/i;

/**
 * Returns the config of an uploaded file, determined by its content and the settings in `given`, which are used as they
 * are; null if it is not a table. `columnsFrom` decides which values fit the types of its columns (column-fit.ts).
 * Throws BAD_USER_INPUT for a table that is damaged or cannot be read with `given`.
 */
export async function detectFileConfig(
  path: string,
  filename: string,
  given: Partial<FileConfig> = {},
  columnsFrom: ColumnsFrom = 'user',
): Promise<DetectedFile | null> {
  const { bytes, size } = headBytes(path);
  const start = bytes.toString('latin1', 0, 8);
  if (size === 0) throw badInput('The file is empty');
  if ((given.format ?? (start.startsWith(PARQUET) && 'parquet')) === 'parquet') return detectParquetConfig(path);
  const workbook = given.format ?? (await workbookFormat(path, start));
  if (workbook && isWorkbook(workbook)) return detectSheetConfig(path, { ...given, format: workbook }, columnsFrom);
  if (start.startsWith(OLE))
    throw badInput('The file is encrypted, or in an old format of Office (.xls): save it as .xlsx without a password');
  const packed = PACKED.find(([magic]) => start.startsWith(magic));
  if (packed) throw badInput(`The file is packed (${packed[1]}): upload what is in it`);
  if (isUtf32(bytes)) throw badInput('The file is UTF-32, which cannot be read: save it as UTF-8');
  const encoding = given.encoding ?? MARKS.find(([mark]) => start.startsWith(mark))?.[1];
  const head = decoderOf(encoding ?? 'utf-8').decode(bytes);
  if (encoding === undefined) checkUnmarkedEncoding(bytes);
  if (MARKUP.test(head) && TABLE_NAME.test(filename))
    throw badInput(
      'The file is a web page or XML, although it is named like a table: open it in a spreadsheet program and save it as .xlsx or .csv',
    );
  if (isBinary(head, start) || MARKUP.test(head)) return null;
  if (bytes.length === size && head.trim() === '') throw badInput('The file has only blank lines');
  const format =
    given.format ?? (given.path !== undefined ? 'json' : undefined) ?? kindOf(head, bytes.length === size, filename);
  const detected = await detectTextConfig(path, { ...given, format, encoding }, columnsFrom);
  const isDoubtful = given.format === undefined && format === 'csv' && isJsonText(head);
  return isDoubtful ? { ...detected, problems: [JSON_PROBLEM, ...detected.problems] } : detected;
}

const JSON_PROBLEM: FileProblem = {
  line: 1,
  message: 'The file is read as CSV by its name, but its text is JSON. Set format to json or ndjson if it is',
};

/** Returns whether a text, or its first line, is an object or an array of JSON. */
function isJsonText(text: string): boolean {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return false;
  return [trimmed, trimmed.split(/[\r\n]/, 1)[0]!].some((one) => {
    try {
      JSON.parse(one);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Returns whether a file is not a text. A few control characters can occur in a text, and are named if it cannot be
 * read with them. A text that is valid in its encoding and has no U+0000 may have many.
 */
function isBinary(head: string, start: string): boolean {
  if (OTHER_FILES.some((other) => start.startsWith(other))) return true;
  const controls = head.match(CONTROLS)?.length ?? 0;
  return controls > FEW_CONTROLS + head.length * CONTROLS_SHARE && /[\0\ufffd]/.test(head);
}

/** Bytes that show whether a text has two bytes per character, and the share of zeros among one half of them. */
const UNMARKED_BYTES = 1000;
const MOST_ZEROS = 0.7;

/** Throws BAD_USER_INPUT for UTF-16 without a byte order mark, in which most characters of tables have a zero byte. */
function checkUnmarkedEncoding(bytes: Uint8Array): void {
  const units = Math.floor(Math.min(bytes.length, UNMARKED_BYTES) / 2);
  const zeros = [0, 0];
  for (let i = 0; i < 2 * units; i++) if (bytes[i] === 0) zeros[i % 2]! += 1;
  const [high = 0, low = 0] = zeros;
  if (Math.min(high, low) > 0 || Math.max(high, low) < MOST_ZEROS * units || units === 0) return;
  throw badInput(
    `The file seems to be UTF-16 without a byte order mark: set encoding to ${high > low ? 'utf-16be' : 'utf-16le'}`,
  );
}

/** Returns whether most characters have three zero bytes before or after the first one, as in UTF-32. */
function isUtf32(bytes: Uint8Array): boolean {
  const units = Math.floor(Math.min(bytes.length, 2 * UNMARKED_BYTES) / 4);
  const zeros = [0, 0, 0, 0];
  for (let i = 0; i < 4 * units; i++) if (bytes[i] === 0) zeros[i % 4]! += 1;
  const hasZeroUnit = Array.from({ length: units }, (_, n) => bytes.subarray(4 * n, 4 * n + 4)).some((unit) =>
    unit.every((byte) => byte === 0),
  );
  // No character has a fourth byte, and most have neither a second nor a third one.
  const isMostly = (...counts: number[]) => counts[0] === units && counts.every((count) => count > MOST_ZEROS * units);
  const [first = 0, second = 0, third = 0, fourth = 0] = zeros;
  return units > 0 && !hasZeroUnit && (isMostly(first, second, third) || isMostly(fourth, third, second));
}

async function detectParquetConfig(path: string): Promise<DetectedFile> {
  const config = { format: 'parquet' as const };
  const exact = nanosecondsPath(path);
  const session = await DuckdbSession.open([exact], '');
  const { problems } = await createTable(session, { path: exact }, config);
  const fine = exact === path ? undefined : await nanosecondColumns(session, path);
  return { config, problems: [...problems, ...(await valueProblems(session, { hint: SELECT_TEXTS, fine }))] };
}

/** Returns the columns of `data` with nanoseconds whose time zone the file states: queries read them as microseconds. */
async function nanosecondColumns(data: DuckdbSession, path: string): Promise<ReadonlySet<string>> {
  const session = await DuckdbSession.open([path], '');
  await createTable(session, { path }, { format: 'parquet' });
  const types = 'select column_name, column_type from (describe data)';
  const read = new Map((await session.rows(types)).map(([name, type]) => [String(name), String(type)]));
  session.close();
  const exact = await data.rows(types);
  return new Set(exact.flatMap(([name, type]) => (read.get(String(name)) === String(type) ? [] : [String(name)])));
}

const SPREADSHEET = 'opendocument.spreadsheet';

/** Returns the format of a workbook; undefined for other files. */
async function workbookFormat(path: string, start: string): Promise<'xlsx' | 'ods' | undefined> {
  const archive = start.startsWith('PK') ? ZipArchive.open(path) : undefined;
  if (!archive) return undefined;
  const workbook = await workbookPart(archive);
  if (workbook?.endsWith('.bin')) throw badInput('The file is a binary workbook (.xlsb): save it as .xlsx');
  if (workbook !== undefined && isWorkbookPart(workbook, await archive.text('[Content_Types].xml'))) return 'xlsx';
  if (!archive.has('content.xml')) return undefined;
  const type = (await archive.text('mimetype')) || (await archive.text('META-INF/manifest.xml'));
  return type === '' || type.includes(SPREADSHEET) ? 'ods' : undefined;
}

/** Documents and presentations have a main part, too. */
const isWorkbookPart = (part: string, types: string): boolean =>
  /(^|\/)workbook[^/]*\.xml$/i.test(part) || /spreadsheetml|ms-excel/.test(types);

async function detectSheetConfig(file: string, given: FileConfig, columnsFrom: ColumnsFrom): Promise<DetectedFile> {
  const source = await openSource(file, given);
  const session = await DuckdbSession.open([source.path], '');
  const { header, skip, sheet = given.sheet } = source.sheet!;
  const config = { ...given, header, skip, ...(sheet !== undefined && { sheet }) };
  const { columns, problems, table, source: read } = await createTable(session, source, config);
  if (given.columns) await checkTypes(session, table!, config, columnsFrom);
  const codes = await numberCodes(session, table!, columns!, given);
  const changed = await valueProblems(session, { hint: KEEP_TEXTS, source: read });
  const isDeclared = given.columns !== undefined && columnsFrom === 'user';
  // Cells for dates have no zone, and midnight is a date.
  const texts = columns!.map((column, i) => (source.sheet!.withDates.has(i) ? { ...column, type: 'VARCHAR' } : column));
  const times = isDeclared ? [] : await timeProblems(session, table!, texts, config);
  return {
    config: { ...config, columns },
    problems: [...source.sheet!.problems, ...problems, ...codes, ...times, ...changed],
  };
}

async function detectTextConfig(file: string, given: FileConfig, columnsFrom: ColumnsFrom): Promise<DetectedFile> {
  const { format } = given;
  const json = format !== 'csv';
  const encoding = given.encoding ?? encodingOf(file, json);
  const utf8 = utf8Path(file, encoding);
  if (given.encoding !== undefined && examineText(utf8, json) !== 'utf-8') throw badInput('The file is not UTF-8');
  const config = { ...given, encoding };
  if (!json) {
    const { problems, ...detected } = await detectCsvConfig(utf8, config, columnsFrom);
    const isGuessed = given.encoding === undefined && encoding !== 'utf-8';
    return { ...detected, problems: [...(isGuessed ? [encodingProblem(encoding)] : []), ...problems] };
  }
  const source = await openSource(file, config);
  const { path } = source;
  const session = await DuckdbSession.open([path], '');
  try {
    checkKeys(path, format === 'json' ? 'json' : 'ndjson');
    if (given.columns) await checkRecords(session, path, config);
    const { columns, problems, table, source: read } = await createTable(session, source, config);
    if (given.columns) await checkTypes(session, table!, config, columnsFrom);
    const changed = await valueProblems(session, { hint: KEEP_TEXTS, source: read });
    const isDeclared = given.columns !== undefined && columnsFrom === 'user';
    const times = isDeclared ? [] : await timeProblems(session, table!, columns!, config);
    const nested = (given.path ?? given.columns) === undefined ? await nestedProblems(session, path) : [];
    return { config: { ...config, columns }, problems: [...nested, ...problems, ...times, ...changed] };
  } catch (error) {
    // DuckDB's line number is past the invalid line.
    const broken = format === 'ndjson' ? brokenJsonLine(path) : undefined;
    throw broken ? badInput(broken, { cause: error }) : error;
  }
}

/** Returns the array of objects in a file of one object, which may be the table. */
async function nestedProblems(session: DuckdbSession, path: string): Promise<FileProblem[]> {
  const rows = await session.rows('select 1 from data limit 2');
  const keys = rows.length === 1 ? nestedArrayIn(readFileSync(path, 'utf8')) : undefined;
  if (keys === undefined) return [];
  const message = `The file is read as one row, but has an array of objects. Set path to ${JSON.stringify(keys)} to read it`;
  return [{ message }];
}

/** Returns the encoding of a text without a byte order mark. Throws BAD_USER_INPUT with the line that has none. */
function encodingOf(file: string, json: boolean): string {
  const guess = json ? undefined : guessEncoding(legacySample(file));
  if (!guess) return examineText(file, json);
  examineText(utf8Path(file, guess), json);
  return guess;
}

const encodingProblem = (encoding: string): FileProblem => ({
  message:
    `The file is not UTF-8, and is read as ${encoding}. ` +
    'Set encoding if characters are wrong, or save it as UTF-8 if it has a code page of DOS such as cp850',
});

/** JSON begins with a bracket, CSV with any character. The file name decides only where a text could be both. */
function kindOf(head: string, whole: boolean, filename: string): 'csv' | 'json' | 'ndjson' {
  const text = head.trimStart();
  if (CSV_NAME.test(filename) || !/^[[{]/.test(text)) {
    if (JSON_NAME.test(filename)) throw badInput('The file is not a JSON table: it begins neither with [ nor with {');
    return 'csv';
  }
  const line = text.split('\n', 1)[0]!;
  if (text.startsWith('[')) {
    if (isJsonText(line) && text.slice(line.length).trim() !== '')
      throw badInput(
        'Line 1 of the file is a JSON array, and further lines follow: a JSON table is one array of objects, or an object a line',
      );
    return 'json';
  }
  if (line.length === text.length && !whole) return 'ndjson';
  try {
    JSON.parse(line);
    return 'ndjson';
  } catch {
    const keys = whole ? nestedArrayIn(text) : undefined;
    // The line has an error, which is named later.
    if (NO_NUMBER.test(line) || (line.trimEnd().endsWith('}') && keys === undefined)) return 'ndjson';
    throw badInput(
      'The first line of the file is not a JSON object: a JSON table is an array of objects, or an object a line. ' +
        `For an array inside a document, set config.path${keys === undefined ? '' : ` to ${JSON.stringify(keys)}`}`,
    );
  }
}

function nestedArrayIn(text: string): string | undefined {
  try {
    return nestedArray(JSON.parse(text.replace(/^\ufeff/, '')));
  } catch {
    return undefined;
  }
}

import { badInput } from '../../../core/errors.ts';
import type { DetectedFile, FileProblem } from '../../../core/row-source.ts';
import { DuckdbSession } from './duckdb-session.ts';
import { guessEncoding, legacySample } from './encoding-guess.ts';
import { examineText } from './examine-text.ts';
import type { FileConfig } from './file-config.ts';
import { headBytes } from './file-head.ts';
import { createTable, detectCsvConfig } from './file-table.ts';
import { isWorkbook, openSource } from './table-source.ts';
import { brokenJsonLine, utf8Path, decoderOf } from './text-file.ts';
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
const CSV_NAME = /\.(csv|tsv|txt|tab)$/i;

/**
 * Returns the config of an uploaded file, determined by its content and the settings in `given`, which are used as they
 * are; null if it is not a table. Throws BAD_USER_INPUT for a table that is damaged or cannot be read with `given`.
 */
export async function detectFileConfig(
  path: string,
  filename: string,
  given: Partial<FileConfig> = {},
): Promise<DetectedFile | null> {
  const { bytes, size } = headBytes(path);
  const start = bytes.toString('latin1', 0, 8);
  if (size === 0) throw badInput('The file is empty');
  if ((given.format ?? (start.startsWith(PARQUET) && 'parquet')) === 'parquet') return detectParquetConfig(path);
  const workbook = given.format ?? (await workbookFormat(path, start));
  if (workbook && isWorkbook(workbook)) return detectSheetConfig(path, { ...given, format: workbook });
  if (start.startsWith(OLE))
    throw badInput('The file is encrypted, or in an old format of Office (.xls): save it as .xlsx without a password');
  const packed = PACKED.find(([magic]) => start.startsWith(magic));
  if (packed) throw badInput(`The file is packed (${packed[1]}): upload what is in it`);
  const encoding = given.encoding ?? MARKS.find(([mark]) => start.startsWith(mark))?.[1];
  const head = decoderOf(encoding ?? 'utf-8').decode(bytes);
  if (isBinary(head, start) || MARKUP.test(head)) return null;
  const format =
    given.format ?? (given.path !== undefined ? 'json' : undefined) ?? kindOf(head, bytes.length === size, filename);
  return detectTextConfig(path, { ...given, format, encoding });
}

/**
 * Returns whether a file is no text. A few control characters are a text's, and are named if it cannot be read with them;
 * so are many in a text of its encoding without U+0000.
 */
function isBinary(head: string, start: string): boolean {
  if (OTHER_FILES.some((other) => start.startsWith(other))) return true;
  const controls = head.match(CONTROLS)?.length ?? 0;
  return controls > FEW_CONTROLS + head.length * CONTROLS_SHARE && /[\0\ufffd]/.test(head);
}

async function detectParquetConfig(path: string): Promise<DetectedFile> {
  const config = { format: 'parquet' as const };
  const session = await DuckdbSession.open([path], '');
  await createTable(session, { path }, config);
  return { config, problems: [] };
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

async function detectSheetConfig(file: string, given: FileConfig): Promise<DetectedFile> {
  const source = await openSource(file, given);
  const session = await DuckdbSession.open([source.path], '');
  const config = { ...given, header: source.sheet!.header, skip: given.skip ?? 0 };
  const { columns, problems } = await createTable(session, source, config);
  if (given.columns) await session.rows('select count(columns(*)) from data');
  return { config: { ...config, columns }, problems: [...source.sheet!.problems, ...problems] };
}

async function detectTextConfig(file: string, given: FileConfig): Promise<DetectedFile> {
  const { format } = given;
  const json = format !== 'csv';
  const encoding = given.encoding ?? encodingOf(file, json);
  const utf8 = utf8Path(file, encoding);
  if (given.encoding !== undefined && examineText(utf8, json) !== 'utf-8') throw badInput('The file is not UTF-8');
  const config = { ...given, encoding };
  if (!json) {
    const { problems, ...detected } = await detectCsvConfig(utf8, config);
    const isGuessed = given.encoding === undefined && encoding !== 'utf-8';
    return { ...detected, problems: [...(isGuessed ? [encodingProblem(encoding)] : []), ...problems] };
  }
  const source = await openSource(file, config);
  const { path } = source;
  const session = await DuckdbSession.open([path], '');
  try {
    const { columns, problems } = await createTable(session, source, config);
    if (given.columns) await session.rows('select count(columns(*)) from data');
    return { config: { ...config, columns }, problems };
  } catch (error) {
    // DuckDB's line number is past the invalid line.
    const broken = format === 'ndjson' ? brokenJsonLine(path) : undefined;
    throw broken ? badInput(broken, { cause: error }) : error;
  }
}

/** Returns the encoding of a text without a byte order mark. Throws BAD_USER_INPUT with the line that has none. */
function encodingOf(file: string, json: boolean): string {
  const guess = json ? undefined : guessEncoding(legacySample(file));
  if (!guess) return examineText(file, json);
  examineText(utf8Path(file, guess), json);
  return guess;
}

const encodingProblem = (encoding: string): FileProblem => ({
  message: `The file is not UTF-8, and is read as ${encoding}. Set encoding if characters are wrong`,
});

/** JSON begins with a bracket, CSV with any character. The file name decides only where a text could be both. */
function kindOf(head: string, whole: boolean, filename: string): 'csv' | 'json' | 'ndjson' {
  const text = head.trimStart();
  if (CSV_NAME.test(filename) || !/^[[{]/.test(text)) {
    if (JSON_NAME.test(filename)) throw badInput('The file is not a JSON table: it begins neither with [ nor with {');
    return 'csv';
  }
  if (text.startsWith('[')) return 'json';
  const line = text.split('\n', 1)[0]!;
  if (line.length === text.length && !whole) return 'ndjson';
  try {
    JSON.parse(line);
    return 'ndjson';
  } catch {
    throw badInput(
      'The first line of the file is not a JSON object: a JSON table is an array of objects, or an object a line. ' +
        'For an array inside a document, set config.path',
    );
  }
}

import { ftruncateSync, writeFileSync } from 'node:fs';
import type { CsvDialect } from './csv-dialect.ts';
import { doubleQuotes, recordsIn, type LineEnd } from './csv-scan.ts';
import { headBytes, tailOf } from './file-head.ts';
import { chunksOf, unlinkedFile } from './text-file.ts';

const LF = 10;
const CR = 13;
/** Ctrl-Z, which ended a text in DOS. */
const END_OF_TEXT = /(?<!\x1a)\x1a+[\r\n]*$/;
const TAIL_BYTES = 64;
const LINE_FEED = Buffer.from('\n');
const PIECE = 1 << 20;

/** The position of the first of some records of a file, and their number. */
interface Counted {
  offset: number;
  count: number;
}

/** A CSV file in a form that DuckDB can read. */
export interface CsvSource {
  /** Path of the file itself, or of an unlinked copy. */
  path: string;
  /** Path of the file. */
  original: string;
  dialect: CsvDialect;
  /** The line end of all records. */
  lineEnd: LineEnd;
  /** Position of the first comment, and the number of comments, if there are some. */
  comments?: Counted;
  /** The character that escapes quotes in the file itself. In the copy they are doubled. */
  escape: string;
  /** Position of the first record with an escape character that escapes nothing, and the number of such records. */
  keptEscapes?: Counted;
}

/**
 * Prepares a CSV file for DuckDB, which reads records of one line end only, and takes the first one that it meets, in
 * quotes or not. A file with several line ends outside of quotes is copied. So is a file with comments, a Ctrl-Z at its
 * end, quotes in skipped lines, a quote after the byte order mark, or the escape character of the dialect if it is not the
 * quote.
 */
export function csvSource(path: string, dialect: CsvDialect): CsvSource {
  const ends = needsCopy(path, dialect) ? undefined : recordEnds(path, dialect);
  const { escape } = dialect;
  // Without another escape character, and in the copy, only quotes escape quotes.
  const read = {
    original: path,
    escape,
    dialect: usesEscape(dialect) ? { ...dialect, escape: dialect.quote } : dialect,
  };
  if (ends && ends.length <= 1) return { ...read, path, lineEnd: ends[0] ?? '\n' };
  return { ...read, ...copyOf(path, dialect), lineEnd: '\n' };
}

/** Returns whether another character than the quote escapes quotes. */
const usesEscape = ({ quote, escape }: CsvDialect): boolean =>
  quote !== '' && escape !== quote && /^[\0-\x7f]$/.test(escape);

function has(path: string, character: string): boolean {
  for (const chunk of chunksOf(path)) if (chunk.includes(character)) return true;
  return false;
}

function needsCopy(path: string, dialect: CsvDialect): boolean {
  const { quote, escape, skip, comment } = dialect;
  if (comment || (usesEscape(dialect) && has(path, escape)) || END_OF_TEXT.test(tailOf(path, TAIL_BYTES))) return true;
  if (quote === '') return false;
  const head = headBytes(path).bytes.toString('latin1');
  const skipped = head.split(/\r\n|\n|\r/, skip).join('\n');
  return skipped.includes(quote) || head.startsWith(`\xef\xbb\xbf${quote}`);
}

/** Returns the line ends of the records. Only quotes can contain others. */
function recordEnds(path: string, dialect: CsvDialect): LineEnd[] {
  const all = lineEndsOf(path);
  if (all.length <= 1) return all;
  const ends = new Set<LineEnd>();
  for (const { end } of recordsIn(path, dialect)) {
    if (end !== '') ends.add(end);
    if (ends.size > 1) break;
  }
  return [...ends];
}

/** Returns all line ends of a file, in quotes or not, at most two. */
function lineEndsOf(path: string): LineEnd[] {
  const ends = new Set<LineEnd>();
  let isAfterCr = false;
  for (const chunk of chunksOf(path)) {
    for (let at = chunk.indexOf(LF); at >= 0 && ends.size < 2; at = chunk.indexOf(LF, at + 1))
      ends.add((at > 0 ? chunk[at - 1] === CR : isAfterCr) ? '\r\n' : '\n');
    if (isAfterCr && chunk[0] !== LF) ends.add('\r');
    for (let at = chunk.indexOf(CR); at >= 0 && at < chunk.length - 1 && ends.size < 2; at = chunk.indexOf(CR, at + 1))
      if (chunk[at + 1] !== LF) ends.add('\r');
    isAfterCr = chunk.at(-1) === CR;
    if (ends.size > 1) break;
  }
  if (isAfterCr) ends.add('\r');
  return [...ends];
}

/**
 * Copies a file: its records end with LF, skipped lines and comments are empty, quotes within quotes are doubled, and a
 * Ctrl-Z at the end is left out.
 */
function copyOf(path: string, dialect: CsvDialect): Pick<CsvSource, 'path' | 'comments' | 'keptEscapes'> {
  const copy = unlinkedFile();
  const piece = Buffer.allocUnsafe(PIECE);
  let length = 0;
  let size = 0;
  const write = (bytes: Uint8Array) => {
    if (length + bytes.length > PIECE) {
      writeFileSync(copy.file, piece.subarray(0, length));
      length = 0;
    }
    if (bytes.length > PIECE) writeFileSync(copy.file, bytes);
    else {
      piece.set(bytes, length);
      length += bytes.length;
    }
    size += bytes.length;
  };
  let comments: Counted | undefined;
  let keptEscapes: Counted | undefined;
  let records = 0;
  for (const { bytes, end, isSkipped, offset } of recordsIn(path, dialect)) {
    records += 1;
    if (isSkipped) {
      if (records > dialect.skip) comments = counted(comments, offset);
    } else if (usesEscape(dialect)) {
      const doubled = doubleQuotes(bytes, dialect);
      write(doubled.bytes);
      if (doubled.keepsEscape) keptEscapes = counted(keptEscapes, offset);
    } else write(bytes);
    if (end !== '') write(LINE_FEED);
  }
  writeFileSync(copy.file, piece.subarray(0, length));
  const ending = END_OF_TEXT.exec(tailOf(copy.path, TAIL_BYTES));
  if (ending) ftruncateSync(copy.file, size - ending[0].length);
  return { path: copy.path, ...(comments && { comments }), ...(keptEscapes && { keptEscapes }) };
}

/** Counts a record at a position of the file. */
const counted = (found: Counted | undefined, offset: number): Counted => ({
  offset: found?.offset ?? offset,
  count: (found?.count ?? 0) + 1,
});

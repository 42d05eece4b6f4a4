import { badInput } from '../../../core/errors.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { runOf } from './csv-records.ts';
import { chunksOf } from './text-file.ts';

const LF = 10;
const CR = 13;
/** A value may have one before its quote. */
const BLANK = 32;
const BOM = Buffer.from('\ufeff');
const MAX_RECORD_MIB = 16;
/** Maximum bytes of a record. */
export const MAX_RECORD_BYTES = MAX_RECORD_MIB * 1024 ** 2;

/** How a record ends. At the end of the file it may have none. */
export type LineEnd = '\n' | '\r\n' | '\r' | '';

/** A piece of a CSV file as it is scanned. `bytes` are valid until the next one. */
export interface ScannedRecord {
  /** The record without its line end; the first one also without a byte order mark. */
  bytes: Buffer;
  end: LineEnd;
  /** Position of its first byte in the file. */
  offset: number;
  /** Whether it is one of the lines that `skip` leaves out, or a comment. */
  isSkipped: boolean;
}

type Marks = Pick<CsvDialect, 'delimiter' | 'quote' | 'escape' | 'skip' | 'comment' | 'markedRecords' | 'names'>;

/**
 * Yields the records of a CSV file, blank lines included. They end outside of quotes, with any line end. Skipped lines
 * and comments end with the line. With `markedRecords` a line that has as many values as there are names is a record,
 * however it begins. Throws BAD_USER_INPUT with the line of a record that is much longer than `MAX_RECORD_BYTES`.
 */
export function* recordsIn(path: string, marks: Marks): Generator<ScannedRecord> {
  const comment = Buffer.from(marks.comment ?? '');
  const delimiter = Buffer.from(marks.delimiter);
  const [quote, escape] = [byteOf(marks.quote), byteOf(marks.escape)];
  let rest: Buffer = Buffer.alloc(0);
  let records = 0;
  let base = 0;
  const take = function* (bytes: Buffer, isLast: boolean): Generator<ScannedRecord> {
    let start = base === 0 && startsWith(bytes, 0, BOM) ? BOM.length : 0;
    while (start < bytes.length) {
      const isMarked = comment.length > 0 && startsWith(bytes, start, comment);
      const isAbove = records < marks.skip;
      const record =
        isAbove || (isMarked && !marks.markedRecords) ? undefined : recordStop(bytes, start, delimiter, quote, escape);
      const isSkipped = !record || (isMarked && record.width !== marks.names.length);
      // The end of a record is certain only if it is not the end of the chunk.
      if (!isLast && record && record.at >= bytes.length - 1) break;
      const at = isSkipped ? lineStop(bytes, start) : record.at;
      // A line feed may follow in the next chunk.
      if (!isLast && at >= bytes.length - 1) break;
      const end = endAt(bytes, at);
      yield { bytes: bytes.subarray(start, at), end, offset: base + start, isSkipped };
      records += 1;
      start = at + end.length;
    }
    rest = Buffer.from(bytes.subarray(start));
    base += start;
  };
  for (const chunk of chunksOf(path)) {
    yield* take(rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk, false);
    if (rest.length > MAX_RECORD_BYTES)
      throw badInput(
        `Line ${lineAt(path, base)} of the file: a quote is not closed, or a record is longer than ${MAX_RECORD_MIB} MiB. ` +
          'Set quote to "" if values are not quoted',
      );
  }
  yield* take(rest, true);
}

/** Returns the number of the line, from 1, at a position of a file. */
export function lineAt(path: string, offset: number): number {
  let line = 1;
  let base = 0;
  let isAfterCr = false;
  for (const chunk of chunksOf(path)) {
    const end = Math.min(chunk.length, offset - base);
    for (let at = 0; at < end; at++) {
      const byte = chunk[at];
      if (byte === CR || (byte === LF && !isAfterCr)) line += 1;
      isAfterCr = byte === CR;
    }
    base += chunk.length;
    if (base >= offset) break;
  }
  return line;
}

/** No byte. */
const NONE = -1;

/** Returns the byte of an ASCII character, `NONE` for others. DuckDB refuses other quotes. */
const byteOf = (character: string): number =>
  character && character.charCodeAt(0) < 0x80 ? character.charCodeAt(0) : NONE;

const startsWith = (bytes: Buffer, at: number, prefix: Buffer): boolean =>
  bytes.subarray(at, at + prefix.length).equals(prefix);

function lineStop(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
  return at;
}

function endAt(bytes: Buffer, at: number): LineEnd {
  if (at >= bytes.length) return '';
  if (bytes[at] === LF) return '\n';
  return bytes[at + 1] === LF ? '\r\n' : '\r';
}

/**
 * Returns where the record that begins at `from` ends, its line end outside of quotes, and the number of its values. Calls
 * `onQuoted` with the range of each quoted value, after its first quote and past its last one.
 */
function recordStop(
  bytes: Buffer,
  from: number,
  delimiter: Buffer,
  quote: number,
  escape: number,
  onQuoted?: (from: number, to: number) => void,
): { at: number; width: number } {
  const [last] = delimiter.subarray(-1);
  let at = from;
  let isValueStart = true;
  let width = 1;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (isValueStart && byte === BLANK && bytes[at + 1] === quote && last !== BLANK) at += 1;
    if (isValueStart && bytes[at] === quote) {
      const stop = quoteStop(bytes, at + 1, quote, escape);
      onQuoted?.(at + 1, stop);
      at = stop;
      isValueStart = false;
      continue;
    }
    if (byte === LF || byte === CR) return { at, width };
    isValueStart = byte === last && (delimiter.length === 1 || startsWith(bytes, at + 1 - delimiter.length, delimiter));
    if (isValueStart) width += 1;
    at += 1;
  }
  return { at: bytes.length, width };
}

/** Returns where a quoted value ends: after its closing quote. A quote within it is doubled, or escaped by `escape`. */
function quoteStop(bytes: Buffer, from: number, quote: number, escape: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === quote) {
      if (bytes[at + 1] !== quote || escape === NONE) return at + 1;
      at += 2;
    } else if (byte === escape) {
      const run = runOf(bytes, at, escape);
      at += run + (bytes[at + run] === quote ? run % 2 : 0);
    } else at += 1;
  }
  return bytes.length;
}

/** A record whose quotes within quotes are doubled. */
interface DoubledQuotes {
  bytes: Buffer;
  /** Whether it has an escape character that escapes nothing, and stays. */
  keepsEscape: boolean;
}

/**
 * Rewrites `\\"` as `""` within the quoted values of a record, for any escape character. With the former DuckDB would also
 * drop the escape character before all other characters.
 */
export function doubleQuotes(bytes: Buffer, marks: Pick<Marks, 'delimiter' | 'quote' | 'escape'>): DoubledQuotes {
  const [quote, escape] = [byteOf(marks.quote), byteOf(marks.escape)];
  if (!bytes.includes(escape)) return { bytes, keepsEscape: false };
  const parts: Buffer[] = [];
  let copied = 0;
  let keepsEscape = false;
  const doubled = Buffer.from([quote, quote]);
  recordStop(bytes, 0, Buffer.from(marks.delimiter), quote, escape, (from, to) => {
    for (let at = bytes.indexOf(escape, from); at >= 0 && at < to; at = bytes.indexOf(escape, at)) {
      const run = runOf(bytes, at, escape);
      if (bytes[at + run] === quote) {
        parts.push(bytes.subarray(copied, at + (run >> 1)));
        if (run % 2 === 1) parts.push(doubled);
        copied = at + run + (run % 2);
        at = copied;
      } else {
        keepsEscape = true;
        at += run;
      }
    }
  });
  return { bytes: Buffer.concat([...parts, bytes.subarray(copied)]), keepsEscape };
}

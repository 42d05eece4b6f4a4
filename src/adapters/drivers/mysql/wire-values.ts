import { isBytes, isUnsigned, typeWord } from './columns.ts';
import type { CsvBytes } from './csv-bytes.ts';
import type { WireRow } from './wire-row.ts';
import { writeDate, writeDatetime, writeTime } from './wire-times.ts';
import type { WireField } from './wire.ts';

/** Writes the next value of a row, which is not null, in the dialect of segments. */
export type ValueWriter = (row: WireRow, out: CsvBytes) => void;

const [TRUE, FALSE, ZERO, ONE] = [0x74, 0x66, 0x30, 0x31];

/** Returns how a column's values are written. The number is the protocol's type. */
export function writerOf(field: WireField): ValueWriter {
  const unsigned = isUnsigned(field);
  const { columnLength: width, decimals } = field;
  switch (field.columnType) {
    case 1:
      return integerWriter(1, unsigned);
    case 2:
    case 13:
      return integerWriter(2, unsigned);
    case 3:
    case 9:
      return integerWriter(4, unsigned);
    case 8:
      return unsigned ? (row, out) => writeBigint(row, out, true) : (row, out) => writeBigint(row, out, false);
    case 4:
      return (row, out) => out.ascii(shortestFloat(row.bytes.readFloatLE(row.take(4))));
    case 5:
      return (row, out) => out.ascii(String(row.bytes.readDoubleLE(row.take(8))));
    case 10:
    case 14:
      return writeDate;
    case 7:
    case 12:
      return writeDatetime;
    case 11:
      return (row, out) => writeTime(row, out, decimals);
    case 16:
      return width === 1
        ? (row, out) => writeBoolean(row, out, row.take(row.length()))
        : (row, out) => writeBits(row, out, width);
    // These are marked as bytes and are texts. MySQL's own documents are well-formed.
    case 0:
    case 6:
    case 245:
    case 246:
      return writeText;
    default:
      return isBytes(field) ? writeBase64 : typeWord(field) === 'json' ? writeJson : writeText;
  }
}

const integerWriter = (bytes: 1 | 2 | 4, unsigned: boolean): ValueWriter =>
  unsigned
    ? (row, out) => out.integer(row.bytes.readUIntLE(row.take(bytes), bytes))
    : (row, out) => out.integer(row.bytes.readIntLE(row.take(bytes), bytes));

function writeBigint(row: WireRow, out: CsvBytes, unsigned: boolean): void {
  const { bytes } = row;
  const at = row.take(8);
  if (bytes.readInt32LE(at + 4) === 0) out.integer(bytes.readUInt32LE(at));
  else out.ascii(String(unsigned ? bytes.readBigUInt64LE(at) : bytes.readBigInt64LE(at)));
}

function writeBoolean({ bytes }: WireRow, out: CsvBytes, at: number): void {
  out.byte(bytes[at] === 0 ? FALSE : TRUE);
}

/** Returns the shortest digits that read back as the same single-precision number. */
function shortestFloat(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/** Writes bits as digits, as Postgres does. */
function writeBits(row: WireRow, out: CsvBytes, width: number): void {
  const length = row.length();
  const last = row.take(length) + length - 1;
  for (let bit = width - 1; bit >= 0; bit--) out.byte(row.bytes[last - (bit >> 3)]! & (1 << (bit & 7)) ? ONE : ZERO);
}

function writeText(row: WireRow, out: CsvBytes): void {
  const length = row.length();
  const at = row.take(length);
  out.text(row.bytes, at, at + length);
}

function writeBase64(row: WireRow, out: CsvBytes): void {
  const length = row.length();
  const at = row.take(length);
  const digits = Buffer.from(row.bytes.toString('base64', at, at + length), 'latin1');
  out.text(digits, 0, digits.length);
}

/** Writes MariaDB's `json`, a text that is hardly validated by the server: invalid JSON becomes a string. */
function writeJson(row: WireRow, out: CsvBytes): void {
  const length = row.length();
  const at = row.take(length);
  const text = row.bytes.toString('utf8', at, at + length);
  if (isJson(text)) out.text(row.bytes, at, at + length);
  else out.replaced(JSON.stringify(text));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

import type { CsvBytes } from './csv-bytes.ts';
import type { WireRow } from './wire-row.ts';

const [SPACE, COLON, DOT, DASH] = [0x20, 0x3a, 0x2e, 0x2d];
const NO_DATE = '0000-00-00';
const MIDNIGHT = '00:00:00';
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDay(year: number, month: number, day: number): boolean {
  if (year === 0 || month === 0 || month > 12 || day === 0 || day > DAYS[month - 1]!) return false;
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
}

/**
 * Writes a day. A day that no calendar has (MySQL's zero dates, a 31st of February) becomes the zero date, which
 * readers count and turn into null.
 */
function writeDay(out: CsvBytes, year: number, month: number, day: number): void {
  if (!isDay(year, month, day)) return out.ascii(NO_DATE);
  out.padded(year, 4);
  out.byte(DASH);
  out.padded(month, 2);
  out.byte(DASH);
  out.padded(day, 2);
}

function writeClock(out: CsvBytes, hours: number, minutes: number, seconds: number): void {
  if (hours < 100) out.padded(hours, 2);
  else out.integer(hours);
  out.byte(COLON);
  out.padded(minutes, 2);
  out.byte(COLON);
  out.padded(seconds, 2);
}

function writeFraction(out: CsvBytes, microseconds: number, digits: number): void {
  out.byte(DOT);
  out.padded(Math.floor(microseconds / 10 ** (6 - digits)), digits);
}

/** Reads year, month and day, which are absent when all are 0. */
function takeDay(row: WireRow, out: CsvBytes): { length: number; at: number } {
  const length = row.length();
  const at = row.take(length);
  const { bytes } = row;
  if (length < 4) out.ascii(NO_DATE);
  else writeDay(out, bytes.readUInt16LE(at), bytes[at + 2]!, bytes[at + 3]!);
  return { length, at };
}

export const writeDate = (row: WireRow, out: CsvBytes): void => void takeDay(row, out);

/**
 * Writes the day; hours, minutes and seconds are absent if they and the microseconds are 0, microseconds if they are 0.
 */
export function writeDatetime(row: WireRow, out: CsvBytes): void {
  const { length, at } = takeDay(row, out);
  const { bytes } = row;
  out.byte(SPACE);
  if (length < 7) out.ascii(MIDNIGHT);
  else writeClock(out, bytes[at + 4]!, bytes[at + 5]!, bytes[at + 6]!);
  if (length >= 11) writeFraction(out, bytes.readUInt32LE(at + 7), 6);
}

/** Writes a time span: sign, days, hours, minutes and seconds are absent if all are 0, microseconds if they are 0. */
export function writeTime(row: WireRow, out: CsvBytes, decimals: number): void {
  const length = row.length();
  const at = row.take(length);
  const { bytes } = row;
  if (length < 8) out.ascii(MIDNIGHT);
  else {
    if (bytes[at] === 1) out.byte(DASH);
    writeClock(out, bytes.readUInt32LE(at + 1) * 24 + bytes[at + 5]!, bytes[at + 6]!, bytes[at + 7]!);
  }
  // 31 means that the number of decimals is not fixed, which does not occur for times.
  if (decimals > 0 && decimals <= 6) writeFraction(out, length < 12 ? 0 : bytes.readUInt32LE(at + 8), decimals);
}

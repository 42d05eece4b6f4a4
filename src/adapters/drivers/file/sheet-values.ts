import { LIKE_A_DATE } from '../../../core/export-format.ts';
import type { CellFormat, NumberKind } from './number-format.ts';

/** A date, a time or a duration of a cell, as a text. */
export class CellTime {
  readonly text: string;
  /** The number that the cell has, and how its format shows it; undefined for a date that the file states. */
  origin?: { serial: number; kind: NumberKind };

  constructor(text: string) {
    this.text = text;
  }
}

/** A date of a negative number, which is before the first day of the workbook. Not all programs show it. */
export class EarlyTime extends CellTime {}

/** A date or time less than a millisecond before midnight, which is read as midnight. */
export class RoundedTime extends CellTime {}

/** A time whose number has a fraction of a millisecond, which is rounded. */
export class CoarseTime extends CellTime {}

/** A number as digits, which may be more than a double has. A whole number with a point is one of a column of decimals. */
export class CellNumber {
  readonly text: string;
  /** Whether the cell has exactly this text, which a column of texts keeps. */
  readonly isWritten: boolean;

  constructor(text: string, isWritten = false) {
    this.text = text;
    this.isWritten = isWritten;
  }

  /** The number as a text. */
  get shown(): string {
    return this.isWritten ? this.text : this.text.replace(/\.0$/, '');
  }
}

/** A number that the cell shows with zeros before it, as codes have them. */
export class PaddedNumber extends CellNumber {}

/** A text in a cell for texts. It looks like a date, but is not one. */
export class CellText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A text that a cell for numbers, dates or booleans shows, whose value the file does not state. */
export class UnstatedText extends CellText {}

/**
 * Cells with content, but without a value: one that a merged cell covers, an error, a value that cannot be read, and a formula whose value
 * was not stored.
 */
export const CELL_ERROR = Symbol('error');
export const UNREADABLE = Symbol('unreadable');
export const UNCOMPUTED = Symbol('uncomputed');
export const COVERED = Symbol('covered');

/** Value of a cell; null for an empty one. */
export type CellValue =
  | string
  | number
  | boolean
  | CellTime
  | CellNumber
  | CellText
  | typeof CELL_ERROR
  | typeof UNREADABLE
  | typeof UNCOMPUTED
  | typeof COVERED
  | null;

/** A row of a sheet, by its position. It is followed by `repeat` - 1 equal ones. */
export interface SheetRow {
  index: number;
  values: CellValue[];
  repeat: number;
}

/** Columns of a sheet in the programs that write workbooks. */
export const MAX_SHEET_COLUMNS = 16_384;

const DAY_MS = 86_400_000;
const DAY_BEFORE_1900 = Date.UTC(1899, 11, 31);
const START_OF_1904 = Date.UTC(1904, 0, 1);
/** Milliseconds by which the number of days that a program writes can be wrong. */
const MAX_ERROR_OF_DAYS_MS = 0.005;
const DECIMALS = /(?:\.(\d+))?(?:e-(\d+))?$/;
/** 29 February 1900, which the calendar of workbooks has and the year does not. */
const LEAP_DAY_1900 = 60;
const FIRST_MS = new Date('0001-01-01T00:00:00Z').getTime();
const LAST_MS = new Date('9999-12-31T23:59:59.999Z').getTime();

/**
 * Returns the value of a number that a cell shows as a date or time. Days are counted from the epoch of the workbook:
 * negative ones, which LibreOffice writes, are before it. Day 0 of 1900 and its 29 February do not exist. With
 * `hasTime` the cell shows fractions of seconds, so that midnight is a datetime. Times are rounded to milliseconds, as
 * Excel shows them: a time of day just before midnight is `00:00:00`.
 */
export function serialValue(
  serial: number,
  kind: Exclude<NumberKind, 'number'>,
  is1904: boolean,
  hasTime = false,
): CellValue {
  const ms = Math.round(serial * DAY_MS);
  const isClock = kind === 'time' && serial > -1 && serial < 1;
  if (isClock && Math.abs(ms) === DAY_MS) return new RoundedTime(clockText(0));
  const value = kind === 'elapsed' || isClock ? new CellTime(clockText(ms)) : dayValue(serial, is1904, hasTime);
  if (!(value instanceof CellTime)) return value;
  if (kind !== 'elapsed' && !isClock) {
    if (serial < 0) return new EarlyTime(value.text);
    if (Math.floor(ms / DAY_MS) > Math.floor(serial)) return new RoundedTime(value.text);
  }
  return Math.abs(serial * DAY_MS - ms) > possibleError(serial) ? new CoarseTime(value.text) : value;
}

/** Returns the milliseconds by which a number of days may be wrong: half of its last digit, but not less than programs. */
function possibleError(serial: number): number {
  const [, fraction = '', exponent = '0'] = DECIMALS.exec(String(serial))!;
  return Math.max(MAX_ERROR_OF_DAYS_MS, (DAY_MS / 2) * 10 ** -(fraction.length + Number(exponent)));
}

/** Returns the date of a number of days. */
function dayValue(serial: number, is1904: boolean, hasTime: boolean): CellValue {
  const isDayZero = serial >= 0 && serial < 1;
  if (is1904) return momentValue(START_OF_1904 + Math.round(serial * DAY_MS), hasTime);
  if (isDayZero || Math.floor(serial) === LEAP_DAY_1900) return UNREADABLE;
  // Before the epoch, days are counted as if the leap day had existed.
  const days = serial >= LEAP_DAY_1900 || serial < 0 ? serial - 1 : serial;
  return momentValue(DAY_BEFORE_1900 + Math.round(days * DAY_MS), hasTime);
}

/**
 * Returns a date for midnight without a time, otherwise a datetime. `digits` are the digits after the millisecond,
 * which the check of values reports (value-problems.ts).
 */
function momentValue(ms: number, hasTime = false, digits = ''): CellValue {
  if (!(ms >= FIRST_MS && ms <= LAST_MS)) return UNREADABLE;
  const [day, time] = new Date(ms).toISOString().split('T') as [string, string];
  const isDay = time === '00:00:00.000Z' && digits === '' && !hasTime;
  return new CellTime(isDay ? day : `${day}T${time.slice(0, -1)}${digits}Z`);
}

/**
 * Returns hours, minutes and seconds, as databases write an interval: `30:00:00`, `-07:30:15.5`. `digits` are the
 * digits after the millisecond.
 */
function clockText(ms: number, digits = ''): string {
  const size = Math.abs(ms);
  const [hours, minutes, seconds] = [size / 3_600_000, (size / 60_000) % 60, (size / 1000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  const fraction = `${String(size % 1000).padStart(3, '0')}${digits}`.replace(/(?<!0)0+$/, '');
  return `${ms < 0 ? '-' : ''}${hours}:${minutes}:${seconds}${fraction && `.${fraction}`}`;
}

const ISO_MOMENT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(?:(?<=:\d\d:\d\d)\.(\d+))?(Z|[+-]\d\d:?\d\d)?)?$/;
const ISO_CLOCK = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?Z?$/;

/** Returns the value of a date or time in ISO 8601. */
export function isoValue(text: string): CellValue {
  const [, day, time = '00:00', fraction = '', zone = 'Z'] = ISO_MOMENT.exec(text) ?? [];
  if (day === undefined) {
    const [, hours, minutes, seconds = '0', part = ''] = ISO_CLOCK.exec(text) ?? [];
    if (hours === undefined) return UNREADABLE;
    const clock = clockMs(hours, minutes!, seconds);
    if (Number(minutes) > 59 || Number(seconds) > 59 || clock >= DAY_MS) return UNREADABLE;
    return new CellTime(clockOf(clock, part));
  }
  // `Date` takes 30 February as 1 March.
  if (!isDay(day)) return UNREADABLE;
  const { ms, digits } = fractionOf(fraction);
  const second = Date.parse(`${day}T${time}${zone}`);
  return roundedTime(second, ms, momentValue(second + ms, false, digits));
}

/** Returns the value of a second and its rounded milliseconds as a `RoundedTime` if they are in different days. */
const roundedTime = (second: number, ms: number, value: CellValue): CellValue =>
  value instanceof CellTime && ms === 1000 && (second + ms) % DAY_MS === 0 ? new RoundedTime(value.text) : value;

function isDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** Milliseconds of possible errors of programs, which calculate with days: less than a microsecond. */
const MAX_ERROR_MS = 0.000_99;

/** Returns the milliseconds of a fraction of a second, and the digits after them that are not an error of programs. */
function fractionOf(fraction: string): { ms: number; digits: string } {
  const exact = Number(`0.${fraction}0`) * 1000;
  const nearest = Math.round(exact);
  if (Math.abs(exact - nearest) < MAX_ERROR_MS) return { ms: nearest, digits: '' };
  return { ms: Number(fraction.slice(0, 3)), digits: fraction.slice(3).replace(/(?<!0)0+$/, '') };
}

const ISO_DURATION = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d+))?S)?)?$/;

/** Returns the value of a duration in ISO 8601 without years and months, such as `PT30H15M`. */
export function durationValue(text: string): CellValue {
  const [found, sign, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] =
    ISO_DURATION.exec(text) ?? [];
  if (found === undefined) return UNREADABLE;
  const size = clockOf(Number(days) * DAY_MS + clockMs(hours, minutes, seconds), fraction);
  return new CellTime(`${sign && /[1-9]/.test(size) ? '-' : ''}${size}`);
}

/** Returns the text of a time and a fraction of a second. Its digits stay where rounding would end the day. */
function clockOf(second: number, fraction: string): string {
  const { ms, digits } = fractionOf(fraction);
  if (ms < 1000 || (second + ms) % DAY_MS > 0) return clockText(second + ms, digits);
  return clockText(second + Number(fraction.slice(0, 3)), fraction.slice(3));
}

const clockMs = (hours: string, minutes: string, seconds: string): number =>
  Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000;

/**
 * Returns the number of a text; null for a blank one, and for numbers outside the range of a double, such as `1e999`
 * and `1e-999`.
 */
export function numberValue(text: string): number | null {
  // `Number` also reads hexadecimal, octal and binary numbers.
  const number = text.trim() === '' || OTHER_BASE.test(text) ? Number.NaN : Number(text);
  return Number.isFinite(number) && !(number === 0 && NOT_ZERO.test(text)) ? number : null;
}

const OTHER_BASE = /^\s*0[box]/i;
const NOT_ZERO = /^[^e]*[1-9]/i;
const WHOLE = /^-?\d+$/;
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Returns the stated value of a cell: `value`, null if it states nothing, or that it cannot be read. */
export const statedValue = <T extends CellValue>(text: string, value: T | undefined): CellValue =>
  text.trim() === '' ? null : (value ?? UNREADABLE);

/** Parts of a number as XML Schema has it: sign, whole digits, decimals, exponent. */
const NUMBER_PARTS = /^\s*([-+]?)(?=\.?\d)0*(?!0)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?\s*$/i;
/** Digits of a decimal that every double has, and those that `toPrecision` prints at most. */
const [DOUBLE_DIGITS, MAX_PRINTED] = [15, 100];

/**
 * Returns a number of a cell, as its digits where a double does not have them all. Programs write a double with up to
 * 17 digits, and some with more: `0.10000000000000001` is 0.1. With `hasFraction`, the cell shows decimals: a whole
 * number has a point.
 */
export function exactValue(text: string, number: number | null, hasFraction = false): CellValue {
  if (number === null) return null;
  const [, sign, whole = '', fraction = '', exponent] = NUMBER_PARTS.exec(text) ?? [];
  const isWhole = fraction === '' && exponent === undefined;
  if (sign === undefined || (isWhole ? Number.isSafeInteger(number) : isDouble(whole + fraction, number)))
    return hasFraction && WHOLE.test(String(number)) ? new CellNumber(`${number}.0`) : number;
  const decimals = fraction || (hasFraction && isWhole ? '0' : '');
  return new CellNumber(
    `${sign === '-' ? '-' : ''}${whole || '0'}${decimals && `.${decimals}`}${exponent === undefined ? '' : `e${exponent}`}`,
  );
}

/** Returns a whole number as one that the cell shows with zeros before it, if it does. */
export const paddedValue = (value: CellValue, hasZeros: boolean): CellValue =>
  hasZeros && typeof value === 'number' && Number.isInteger(value) ? new PaddedNumber(String(value)) : value;

/** Whether the digits of a number are a double's, printed with as many. */
function isDouble(written: string, number: number): boolean {
  const digits = withoutZeros(written);
  if (digits.length <= DOUBLE_DIGITS) return true;
  if (digits.length > MAX_PRINTED) return false;
  return withoutZeros(number.toPrecision(digits.length).replace(/e.*|[-.]/g, '')) === digits;
}

/** Returns digits without the zeros at their beginning and end. */
const withoutZeros = (digits: string): string => digits.replace(/^0+|(?<!0)0+$/g, '');

/**
 * Returns the value of a text in a cell of a format. In a format for numbers, digits are a number, and so is an
 * exponent as exports write it. Others, such as `007` and `12E3`, are texts.
 */
export function textValue(text: string, { isText, isNumber, hasFraction }: CellFormat): CellValue {
  if (isText && LIKE_A_DATE.test(text)) return new CellText(text);
  const isPrinted = String(Number(text)) === text && Number.isFinite(Number(text));
  if (!isNumber || !(isPrinted || PLAIN_NUMBER.test(text))) return text || null;
  if (WHOLE.test(text)) return new CellNumber(hasFraction ? `${text}.0` : text);
  return new CellNumber(text, !isPrinted);
}

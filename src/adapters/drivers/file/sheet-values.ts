import type { CellFormat, NumberKind } from './number-format.ts';

/** A date, a time or a duration of a cell, as a text. */
export class CellTime {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A number as digits, which may be more than a double has. A whole number with a point is one of a column of decimals. */
export class CellNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A text in a cell for texts, which is no date and no error although it looks like one. */
export class CellText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Cells with content, but without a value: the error of a formula, a value that cannot be read, and a formula whose value
 * was not stored.
 */
export const CELL_ERROR = Symbol('error');
export const UNREADABLE = Symbol('unreadable');
export const UNCOMPUTED = Symbol('uncomputed');

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
/** 29 February 1900, which the calendar of workbooks has and the year does not. */
const LEAP_DAY_1900 = 60;
const FIRST_MS = new Date('0001-01-01T00:00:00Z').getTime();
const LAST_MS = new Date('9999-12-31T23:59:59.999Z').getTime();

/**
 * Returns the value of a number that a cell shows as a date or time. Days are counted from the epoch of the workbook:
 * negative ones, which LibreOffice writes, are before it. Day 0 of 1900 and its 29 February are no dates. With `hasTime` the cell shows
 * fractions of seconds, so that midnight is a datetime.
 */
export function serialValue(
  serial: number,
  kind: Exclude<NumberKind, 'number'>,
  is1904: boolean,
  hasTime = false,
): CellValue {
  if (kind === 'elapsed') return new CellTime(clockText(Math.round(serial * DAY_MS)));
  const isDayZero = serial >= 0 && serial < 1;
  if (kind === 'time' && serial > -1 && serial < 1) return new CellTime(clockText(Math.round(serial * DAY_MS)));
  if (is1904) return momentValue(START_OF_1904 + Math.round(serial * DAY_MS), hasTime);
  if (isDayZero || Math.floor(serial) === LEAP_DAY_1900) return UNREADABLE;
  // Before the epoch, days are counted as if the leap day had existed.
  const days = serial >= LEAP_DAY_1900 || serial < 0 ? serial - 1 : serial;
  return momentValue(DAY_BEFORE_1900 + Math.round(days * DAY_MS), hasTime);
}

/** Returns a date for midnight without a time, otherwise a datetime. */
function momentValue(ms: number, hasTime = false): CellValue {
  if (!(ms >= FIRST_MS && ms <= LAST_MS)) return UNREADABLE;
  const [day, time] = new Date(ms).toISOString().split('T') as [string, string];
  return new CellTime(time === '00:00:00.000Z' && !hasTime ? day : `${day}T${time}`);
}

/** Returns hours, minutes and seconds, as databases write an interval: `30:00:00`, `-07:30:15.5`. */
function clockText(ms: number): string {
  const size = Math.abs(ms);
  const [hours, minutes, seconds] = [size / 3_600_000, (size / 60_000) % 60, (size / 1000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  const fraction = String(size % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return `${ms < 0 ? '-' : ''}${hours}:${minutes}:${seconds}${fraction && `.${fraction}`}`;
}

const ISO_MOMENT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/;
const ISO_CLOCK = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?Z?$/;

/** Returns the value of a date or time in ISO 8601. */
export function isoValue(text: string): CellValue {
  const [, day, time = '00:00', zone = 'Z'] = ISO_MOMENT.exec(text) ?? [];
  if (day === undefined) {
    const [, hours, minutes, seconds = '0', fraction = ''] = ISO_CLOCK.exec(text) ?? [];
    if (hours === undefined) return UNREADABLE;
    return new CellTime(clockText(clockMs(hours, minutes!, `${seconds}.${fraction}`)));
  }
  // `Date` takes 30 February as 1 March.
  if (!isDay(day)) return UNREADABLE;
  return momentValue(Date.parse(`${day}T${time}${zone}`));
}

function isDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

const ISO_DURATION = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/;

/** Returns the value of a duration in ISO 8601 without years and months, such as `PT30H15M`. */
export function durationValue(text: string): CellValue {
  const [found, sign, days = '0', hours = '0', minutes = '0', seconds = '0'] = ISO_DURATION.exec(text) ?? [];
  if (found === undefined) return UNREADABLE;
  const ms = Number(days) * DAY_MS + clockMs(hours, minutes, seconds.replace(',', '.'));
  return new CellTime(clockText(sign ? -ms : ms));
}

const clockMs = (hours: string, minutes: string, seconds: string): number =>
  Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Math.round(Number(seconds) * 1000);

/** Returns the number of a text; null for a blank one and for what is not a finite number. */
export function numberValue(text: string): number | null {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

const WHOLE = /^-?\d+$/;
const LONG_WHOLE = /^-?[1-9]\d{15,}$/;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** Texts that would be a date, or no value. */
const LIKE_A_VALUE = /^(?:\d{4}-|#)/;

/** Returns a number of a cell: by its digits where it is a whole one that a double may not have. */
export const wholeValue = (text: string, number: number | null): CellValue =>
  number !== null && !Number.isSafeInteger(number) && LONG_WHOLE.test(text.trim())
    ? new CellNumber(text.trim())
    : number;

/** Returns a number of a cell that shows decimals: a whole one has a point. */
export const decimalValue = (number: number): CellValue =>
  WHOLE.test(String(number)) ? new CellNumber(`${number}.0`) : number;

/** Returns the value of a text in a cell of a format: a number that no cell can store is a text in one for numbers. */
export function textValue(text: string, { isText, isNumber, hasFraction }: CellFormat): CellValue {
  if (isText && LIKE_A_VALUE.test(text)) return new CellText(text);
  if (!isNumber || !JSON_NUMBER.test(text)) return text || null;
  return new CellNumber(hasFraction && WHOLE.test(text) ? `${text}.0` : text);
}

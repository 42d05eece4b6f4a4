import { expect, test } from 'vitest';
import { cellFormat, formatFor } from '../../src/adapters/drivers/file/number-format.ts';
import type { NumberKind } from '../../src/adapters/drivers/file/number-format.ts';
import {
  CellNumber,
  CellText,
  CellTime,
  CoarseTime,
  durationValue,
  EarlyTime,
  exactValue,
  isoValue,
  numberValue,
  RoundedTime,
  serialValue,
  textValue,
  UNREADABLE,
} from '../../src/adapters/drivers/file/sheet-values.ts';
import type { CellValue } from '../../src/adapters/drivers/file/sheet-values.ts';

const textOf = (value: CellValue) => (value instanceof CellTime ? value.text : value);

test.each<[string, NumberKind]>([
  ['yyyy-mm-dd', 'date'],
  ['d/m/yy h:mm;@', 'date'],
  ['[$-407]dd.mm.yyyy', 'date'],
  ['[$-F800]dddd, mmmm dd, yyyy', 'date'],
  ['yyyy"年"m"月"d"日"', 'date'],
  ['mmm', 'date'],
  ['ggge', 'date'],
  ['aaa', 'date'],
  ['[$-411]AAAA', 'date'],
  ['a/p h:mm', 'time'],
  ['[Red]yyyy', 'date'],
  ['h:mm', 'time'],
  ['h:mm AM/PM', 'time'],
  ['mm:ss.000', 'time'],
  ['[$-409]h:mm:ss AM/PM;@', 'time'],
  ['[h]:mm', 'elapsed'],
  ['[hh]:mm:ss.0', 'elapsed'],
  ['[mm]:ss', 'elapsed'],
  ['[s]', 'elapsed'],
  ['General', 'number'],
  ['GENERAL', 'number'],
  ['@', 'number'],
  ['0.00E+00', 'number'],
  ['#,##0 "days"', 'number'],
  ['#,##0\\ \\h', 'number'],
  ['[Red]-0.00', 'number'],
  ['[>=100]0;0.0', 'number'],
  ['[DBNum1]0', 'number'],
  ['_-* #,##0.00 _€_-;@', 'number'],
  ['# ?/?', 'number'],
  ['0;h:mm', 'number'],
  ['"h:mm"', 'number'],
  ['', 'number'],
])('the format %s shows a %s', (code, kind) => {
  expect(cellFormat(164, code).kind).toBe(kind);
});

test('formats without a code are known by their ids', () => {
  const kinds = [0, 2, 9, 14, 17, 18, 21, 22, 27, 30, 32, 36, 37, 45, 46, 47, 49, 50, 58, 59, 164].map(
    (id) => cellFormat(id, undefined).kind,
  );
  expect(kinds.join()).toBe(
    'number,number,number,date,date,time,time,date,date,date,time,date,number,time,elapsed,time,number,date,date,number,number',
  );
});

test.each<[string, number, NumberKind]>([
  ['[>=1]h:mm;[<1]0%', 0.5, 'number'],
  ['[>=1]h:mm;[<1]0%', 1.5, 'time'],
  ['[<1]h:mm;yyyy-mm-dd', 0.5, 'time'],
  ['[<1]h:mm;yyyy-mm-dd', 45000, 'date'],
  ['[<1]h:mm;[>=1000]yyyy-mm-dd;0', 45000, 'date'],
  ['[<1]h:mm;[>=1000]yyyy-mm-dd;0', 5, 'number'],
  ['[Red][>100]0;[h]:mm', 4, 'elapsed'],
  ['[>100][Red]0;[h]:mm', 104, 'number'],
  ['[<>5]0;h:mm', 5, 'time'],
  ['h:mm;0', -5, 'number'],
  ['h:mm;0', 0, 'time'],
  ['h:mm;0', 0.5, 'time'],
  ['h:mm;-0.0;0', 0, 'number'],
  ['h:mm;-0.0;0', 0.5, 'time'],
  ['h:mm;-0.0;0', -0.5, 'number'],
  ['0;h:mm', -0.5, 'time'],
  ['0;h:mm;@', 5, 'number'],
  ['yyyy-mm-dd;;', 45000, 'date'],
  ['yyyy-mm-dd;"none";"-"', 0, 'date'],
  ['"after";h:mm', 0.5, 'time'],
  ['[=0]"";dd/mm/yyyy', 45000, 'date'],
  ['[=0]"";dd/mm/yyyy', 0, 'date'],
  ['[=0]"zero";[=1]"one";h:mm', 0.5, 'time'],
  ['dd/mm/yyyy;[=0]0', 45000, 'date'],
  ['0;General', -5, 'number'],
  ['h:mm;General', -5, 'number'],
])('the format %s shows %s as a %s', (code, value, kind) => {
  expect(formatFor(cellFormat(164, code), value).kind).toBe(kind);
});

test.each<[number, Exclude<NumberKind, 'number'>, boolean, string | symbol]>([
  [1, 'date', false, '1900-01-01'],
  [59.5, 'date', false, '1900-02-28T12:00:00.000Z'],
  [60, 'date', false, UNREADABLE],
  [60.5, 'date', false, UNREADABLE],
  [61, 'date', false, '1900-03-01'],
  [-0.5, 'date', false, '1899-12-29T12:00:00.000Z'],
  [-18136, 'date', false, '1850-05-05'],
  [-693593, 'date', false, '0001-01-01'],
  [-693594, 'date', false, UNREADABLE],
  [2958465.999988426, 'date', false, '9999-12-31T23:59:59.000Z'],
  [2958466, 'date', false, UNREADABLE],
  [0, 'date', false, UNREADABLE],
  [0.999, 'date', false, UNREADABLE],
  [0, 'date', true, '1904-01-01'],
  [0.5, 'date', true, '1904-01-01T12:00:00.000Z'],
  [-1, 'date', true, '1903-12-31'],
  [0, 'time', false, '00:00:00'],
  [-0.5, 'time', false, '-12:00:00'],
  [0.25, 'time', true, '06:00:00'],
  [0.396006944444444, 'time', false, '09:30:15'],
  [0.5000000001, 'time', false, '12:00:00'],
  [1.25, 'time', false, '1900-01-01T06:00:00.000Z'],
  [45322.25, 'time', false, '2024-01-31T06:00:00.000Z'],
  [0.3125, 'elapsed', false, '07:30:00'],
  [4.25, 'elapsed', true, '102:00:00'],
  [-1.5, 'elapsed', false, '-36:00:00'],
  [1e-5, 'elapsed', false, '00:00:00.864'],
  [1e6, 'elapsed', false, '24000000:00:00'],
])('the number %s as a %s (1904: %s)', (serial, kind, is1904, expected) => {
  expect(textOf(serialValue(serial, kind, is1904))).toBe(expected);
});

test.each<[number, Exclude<NumberKind, 'number'>, string, new (text: string) => CellTime]>([
  [0.999999999, 'time', '00:00:00', RoundedTime],
  [-0.999999999, 'time', '00:00:00', RoundedTime],
  [0.9999999999999999, 'time', '00:00:00', RoundedTime],
  [0.99999, 'time', '23:59:59.136', CellTime],
  [0.999999991234, 'time', '23:59:59.999', CoarseTime],
  [45322.999988426, 'date', '2024-01-31T23:59:59.000Z', CellTime],
  [0.396006944444444, 'time', '09:30:15', CellTime],
  [0.5000000001, 'time', '12:00:00', CoarseTime],
  [0.999999999, 'elapsed', '24:00:00', CoarseTime],
  [1, 'elapsed', '24:00:00', CellTime],
  [1.0000000001, 'elapsed', '24:00:00', CoarseTime],
  [45322.999999999, 'date', '2024-02-01', RoundedTime],
  [45322.999999999, 'time', '2024-02-01', RoundedTime],
  [45322.3960069444, 'date', '2024-01-31T09:30:15.000Z', CellTime],
  [45322.123456789, 'date', '2024-01-31T02:57:46.667Z', CoarseTime],
  [45322, 'date', '2024-01-31', CellTime],
  [-0.5, 'date', '1899-12-29T12:00:00.000Z', EarlyTime],
])('rounding of the number %s as a %s is known', (serial, kind, text, type) => {
  const value = serialValue(serial, kind, false) as CellTime;
  expect([value.text, value.constructor]).toEqual([text, type]);
});

test.each<[string, string | symbol]>([
  ['1850-05-05', '1850-05-05'],
  ['2024-02-29T00:00:00', '2024-02-29'],
  ['2024-01-31T09:15', '2024-01-31T09:15:00.000Z'],
  ['2024-01-31T09:15:00.1234567', '2024-01-31T09:15:00.1234567Z'],
  ['2024-01-31T00:00:00.0001', '2024-01-31T00:00:00.0001Z'],
  ['1960-01-31T09:15:00.99990', '1960-01-31T09:15:00.9999Z'],
  ['2024-01-31T23:59:59.999999942', '2024-02-01'],
  ['2024-01-31T09:15:00.123000169', '2024-01-31T09:15:00.123Z'],
  ['2024-01-31T09:15:00.000001', '2024-01-31T09:15:00.000001Z'],
  ['2024-01-31T09:15.5', UNREADABLE],
  ['08:05:06.1234567', '08:05:06.1234567'],
  ['2024-01-31T09:15:00+02:00', '2024-01-31T07:15:00.000Z'],
  ['0001-01-01', '0001-01-01'],
  ['09:30:15.5', '09:30:15.5'],
  ['23:59', '23:59:00'],
  ['23:59:59.99999995', '23:59:59.99999995'],
  ['08:59:59.99999995', '09:00:00'],
  ['24:00:00', UNREADABLE],
  ['09:60', UNREADABLE],
  ['09:30:60', UNREADABLE],
  ['0000-01-01', UNREADABLE],
  ['-0044-03-15', UNREADABLE],
  ['12024-01-01', UNREADABLE],
  ['2023-02-29', UNREADABLE],
  ['2024-01-31T25:00:00', UNREADABLE],
  ['31.01.2024', UNREADABLE],
])('the date %s', (text, expected) => {
  expect(textOf(isoValue(text))).toBe(expected);
});

test.each<[string, string | symbol]>([
  ['PT09H30M15S', '09:30:15'],
  ['PT30H', '30:00:00'],
  ['P1DT2H', '26:00:00'],
  ['PT1.25S', '00:00:01.25'],
  ['PT0,5S', '00:00:00.5'],
  ['-PT90M', '-01:30:00'],
  ['-PT0S', '00:00:00'],
  ['PT00H00M00.0001S', '00:00:00.0001'],
  ['-PT00H00M00.0001S', '-00:00:00.0001'],
  ['PT08H30M15.000000001S', '08:30:15'],
  ['PT23H59M59.99999995S', '23:59:59.99999995'],
  ['-PT23H59M59.99999995S', '-23:59:59.99999995'],
  ['PT08H59M59.99999995S', '09:00:00'],
  ['PT24H', '24:00:00'],
  ['P1Y', UNREADABLE],
  ['1:05 PM', UNREADABLE],
])('the duration %s', (text, expected) => {
  expect(textOf(durationValue(text))).toBe(expected);
});

test.each([
  ['1.50', 1.5],
  [' 7 ', 7],
  ['1E3', 1000],
  ['', null],
  [' ', null],
  ['x', null],
  ['INF', null],
  ['1e999', null],
  ['1e-999', null],
  ['-0.0e-999', -0],
  ['5e-324', 5e-324],
])('the number %j', (text, expected) => {
  expect(numberValue(text)).toBe(expected);
});

test.each<[string, string, CellValue]>([
  ['General', '7', '7'],
  ['0', '7', new CellNumber('7')],
  ['0', '9007199254740993', new CellNumber('9007199254740993')],
  ['0.00', '9007199254740993', new CellNumber('9007199254740993.0')],
  ['#,##0.00', '1234567890123.4567', new CellNumber('1234567890123.4567', true)],
  ['0.00', '1.10', new CellNumber('1.10', true)],
  ['0.00', '1.5', new CellNumber('1.5')],
  ['0.00', '5e-324', new CellNumber('5e-324')],
  ['0.00', '12E3', '12E3'],
  ['0.00', '1e5', '1e5'],
  ['0.00', '1e999', '1e999'],
  ['0.00', 'NaN', 'NaN'],
  ['0.00', '1.7e+308', new CellNumber('1.7e+308')],
  ['0', '007', '007'],
  ['0', '+1', '+1'],
  ['0', '1,5', '1,5'],
  ['0', 'seven', 'seven'],
  ['0', '', null],
  ['@', '7', '7'],
  ['@', '2024-01-31', new CellText('2024-01-31')],
  ['@', '#N/A', '#N/A'],
  ['@', '', null],
  ['General', '2024-01-31', '2024-01-31'],
  ['yyyy-mm-dd', '1850-05-05', '1850-05-05'],
])('a cell in the format %s with the text %j', (code, text, expected) => {
  expect(textValue(text, cellFormat(164, code))).toStrictEqual(expected);
});

test('formats with decimals or fractions of seconds are known', () => {
  const codes = [
    '0.00',
    '#,##0.00########',
    '[Red]-0.00',
    'hh:mm:ss.000',
    '0',
    '0"."0',
    'd\\.m\\.yyyy',
    '0%',
    '@',
    '0;0.0',
  ];
  expect(codes.filter((code) => cellFormat(164, code).hasFraction)).toEqual(codes.slice(0, 4));
  expect([5, -5].map((value) => formatFor(cellFormat(164, '0;-0.0'), value).hasFraction)).toEqual([false, true]);
  const ids = [0, 1, 2, 3, 4, 9, 10, 11, 14, 22, 39, 44, 47, 49];
  expect(ids.filter((id) => cellFormat(id, undefined).hasFraction)).toEqual([2, 4, 10, 11, 39, 44]);
  const numbers = ['5', '-5', '2.5', '1e21'].map((text) => exactValue(text, Number(text), true));
  expect(numbers).toEqual([new CellNumber('5.0'), new CellNumber('-5.0'), 2.5, 1e21]);
  expect([true, false].map((hasTime) => textOf(serialValue(61, 'date', false, hasTime)))).toEqual([
    '1900-03-01T00:00:00.000Z',
    '1900-03-01',
  ]);
});

test.each<[string, string | number | null]>([
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', '9007199254740993'],
  ['-1234567890123456789', '-1234567890123456789'],
  [' 123456789012345678901 ', '123456789012345678901'],
  ['18446744073709551616', '18446744073709551616'],
  ['+9007199254740993.0', '9007199254740993.0'],
  ['1.2345678901234568E+18', 1234567890123456800],
  ['1.2345678901234567891E+19', '1.2345678901234567891e+19'],
  // As Excel and others write 0.1: with 17 digits, and with all digits of the double.
  ['0.10000000000000001', 0.1],
  ['0.1000000000000000055511151231257827', 0.1],
  ['-3.0000000000000001E-5', -0.00003],
  ['2.5000000000000000000', 2.5],
  ['1234567890123.4567', '1234567890123.4567'],
  ['-00.123456789012345678901', '-0.123456789012345678901'],
  ['.1234567890123456789', '0.1234567890123456789'],
  ['1e999', null],
])('the number %j is %j', (text, expected) => {
  const value = exactValue(text, numberValue(text));
  expect(value instanceof CellNumber ? value.text : value).toBe(expected);
});

test('long numbers of cells that show decimals keep their digits', () => {
  const texts = ['12345678901234567890', '1234567890123456.789', '1.2345678901234567891e19'];
  expect(texts.map((text) => exactValue(text, Number(text), true))).toEqual([
    new CellNumber('12345678901234567890.0'),
    new CellNumber('1234567890123456.789'),
    new CellNumber('1.2345678901234567891e19'),
  ]);
});

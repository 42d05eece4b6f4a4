import { describe, expect, test } from 'vitest';
import type { ApiError } from '../../src/core/errors.ts';
import { nextRun } from '../../src/core/schedule/schedule.ts';
import { errorOf, print, runsAfter, scheduleOf } from './schedule-fixture.ts';

describe('a cron expression', () => {
  test.each([
    ['  0   12 * * *  ', ['2026-01-01T12:00Z', '2026-01-02T12:00Z']],
    ['05 9 * * *', ['2026-01-01T09:05Z', '2026-01-02T09:05Z']],
    ['0 9-17/4 * * *', ['2026-01-01T09:00Z', '2026-01-01T13:00Z', '2026-01-01T17:00Z', '2026-01-02T09:00Z']],
    ['0 0 1 jan,JUL *', ['2026-07-01T00:00Z', '2027-01-01T00:00Z']],
    ['0 0 * Mar-may/2 1', ['2026-03-02T00:00Z', '2026-03-09T00:00Z']],
    ['0 0 * * 0', ['2026-01-04T00:00Z', '2026-01-11T00:00Z']],
    ['0 0 * * 7', ['2026-01-04T00:00Z', '2026-01-11T00:00Z']],
    ['0 0 * * sun', ['2026-01-04T00:00Z', '2026-01-11T00:00Z']],
    ['0 0 * * FRI-SUN', ['2026-01-02T00:00Z', '2026-01-03T00:00Z', '2026-01-04T00:00Z', '2026-01-09T00:00Z']],
    ['0 0 * * SUN-TUE', ['2026-01-04T00:00Z', '2026-01-05T00:00Z', '2026-01-06T00:00Z', '2026-01-11T00:00Z']],
    ['0 0 * * 6-7', ['2026-01-03T00:00Z', '2026-01-04T00:00Z', '2026-01-10T00:00Z']],
    // The 13th or a Friday.
    ['0 0 13 * FRI', ['2026-01-02T00:00Z', '2026-01-09T00:00Z', '2026-01-13T00:00Z', '2026-01-16T00:00Z']],
    // 30 February does not exist, but Mondays in February do.
    ['0 0 30 2 MON', ['2026-02-02T00:00Z', '2026-02-09T00:00Z']],
    ['0 0 29 2 *', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    ['0 0 31 * *', ['2026-01-31T00:00Z', '2026-03-31T00:00Z', '2026-05-31T00:00Z']],
  ])('%j', (interval, runs) => {
    expect(runsAfter(scheduleOf({ interval }), '2026-01-01T00:00Z', runs.length)).toEqual(runs);
  });

  test('for 29 February skips the year 2100', () => {
    expect(runsAfter(scheduleOf({ interval: '59 23 29 2 *' }), '2096-03-01T00:00Z', 1)).toEqual(['2104-02-29T23:59Z']);
  });

  test('ends with the year 2999', () => {
    expect(runsAfter(scheduleOf({ interval: '0 0 1 1 *' }), '2997-06-01T00:00Z', 9)).toEqual([
      '2998-01-01T00:00Z',
      '2999-01-01T00:00Z',
    ]);
  });

  test('is due strictly after an instant', () => {
    const schedule = scheduleOf({ interval: '* * * * *' });
    expect(print(nextRun(schedule, new Date('2026-01-01T00:00:00Z'))!)).toBe('2026-01-01T00:01Z');
    expect(print(nextRun(schedule, new Date('2026-01-01T00:00:59.999Z'))!)).toBe('2026-01-01T00:01Z');
    expect(print(nextRun(schedule, new Date('2025-12-31T23:59:59.999Z'))!)).toBe('2026-01-01T00:00Z');
  });
});

describe('an invalid cron expression is 400 and names the interval', () => {
  const FIVE = 'interval must have five fields: minute, hour, day of the month, month, day of the week';
  test.each([
    ['0 * * * * *', FIVE],
    ['* * * *', FIVE],
    ['@daily', FIVE],
    ['@every 5 minutes or so', 'the invalid minute "@EVERY"'],
    ['60 * * * *', 'the invalid minute "60": use * or 0 to 59, lists, ranges and steps'],
    ['-1 * * * *', 'the invalid minute "-1"'],
    ['1.5 * * * *', 'the invalid minute "1.5"'],
    ['*/0 * * * *', 'the invalid minute "*/0"'],
    ['*/60 * * * *', 'the invalid minute "*/60"'],
    ['5/15 * * * *', 'the invalid minute "5/15"'],
    ['/15 * * * *', 'the invalid minute "/15"'],
    ['1,,2 * * * *', 'the invalid minute "1,,2"'],
    ['1, * * * *', 'the invalid minute "1,"'],
    ['*-5 * * * *', 'the invalid minute "*-5"'],
    ['JAN * * * *', 'the invalid minute "JAN"'],
    ['H * * * *', 'the invalid minute "H"'],
    ['? * * * *', 'the invalid minute "?"'],
    ['0 24 * * *', 'the invalid hour "24"'],
    ['0 22-2 * * *', 'the invalid hour "22-2"'],
    ['0 1-2-3 * * *', 'the invalid hour "1-2-3"'],
    ['0 0 0 * *', 'the invalid day of the month "0"'],
    ['0 0 32 * *', 'the invalid day of the month "32"'],
    ['0 0 L * *', 'the invalid day of the month "L"'],
    ['0 0 15W * *', 'the invalid day of the month "15W"'],
    ['0 0 LW * *', 'the invalid day of the month "LW"'],
    ['0 0 * 13 *', 'the invalid month "13": use * or 1 to 12, JAN to DEC'],
    ['0 0 * 0 *', 'the invalid month "0"'],
    ['0 0 * MON *', 'the invalid month "MON"'],
    ['0 0 * JANUARY *', 'the invalid month "JANUARY"'],
    ['0 0 * * 8', 'the invalid day of the week "8": use * or 0 to 7, SUN to SAT'],
    ['0 0 * * FRI#2', 'the invalid day of the week "FRI#2"'],
    ['0 0 * * FRIL', 'the invalid day of the week "FRIL"'],
    ['0 0 * * 5L', 'the invalid day of the week "5L"'],
    ['0 0 * * +MON', 'the invalid day of the week "+MON"'],
    ['0 0 * * FRI-MON', 'the invalid day of the week "FRI-MON"'],
    ['0 0 30 2 *', 'names a date that does not exist'],
    ['0 0 30,31 FEB *', 'names a date that does not exist'],
    ['0 0 31 2,4,6,9,11 *', 'names a date that does not exist'],
    ['', 'must not be empty'],
    ['  ', 'must not be empty'],
    [null, 'is required'],
    [`0 0 1 1 *${' '.repeat(260)}1`, 'must have at most 255 characters'],
  ])('%j', (interval, message) => {
    const error = errorOf(() => scheduleOf({ interval })) as ApiError;
    expect(error.status).toBe(400);
    expect(error.message).toContain(message);
    expect(error.validation).toEqual([expect.objectContaining({ path: ['interval'] })]);
  });
});

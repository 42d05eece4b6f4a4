import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiError } from '../../src/core/errors.ts';
import { missedRun, nextRun } from '../../src/core/schedule/schedule.ts';
import { DAY, HOUR, MINUTE, naiveInstant, naiveLocal, ZONES } from './naive-clock.ts';
import { errorOf, print, runsAfter, scheduleOf } from './schedule-fixture.ts';

const simple = (interval: string, startOn: string | null, timezone = 'UTC') =>
  scheduleOf({ intervalType: 'simple', interval, timezone, startOn: startOn === null ? null : new Date(startOn) });

describe('a simple interval', () => {
  test('is counted from startOn, which is a due time', () => {
    const schedule = simple('10 minutes', '2026-01-01T12:03Z');
    expect(runsAfter(schedule, '2025-01-01T00:00Z', 3)).toEqual([
      '2026-01-01T12:03Z',
      '2026-01-01T12:13Z',
      '2026-01-01T12:23Z',
    ]);
    expect(runsAfter(schedule, '2026-01-01T12:13Z', 1)).toEqual(['2026-01-01T12:23Z']);
    expect(runsAfter(schedule, '2026-06-01T00:00Z', 1)).toEqual(['2026-06-01T00:03Z']);
  });

  test('without startOn is counted from the saving, which is not a due time', () => {
    const schedule = simple('2 hours', null);
    expect(runsAfter(schedule, '2025-12-31T23:59Z', 2)).toEqual(['2026-01-01T02:00Z', '2026-01-01T04:00Z']);
    const missed = (to: string) => missedRun(schedule, new Date('2025-01-01T00:00Z'), new Date(to));
    expect(missed('2026-01-01T01:59Z')).toBeNull();
    expect(missed('2026-01-01T05:00Z')).toEqual(new Date('2026-01-01T04:00Z'));
  });

  test.each([
    ['10 seconds', ['2026-01-31T00:00:10Z', '2026-01-31T00:00:20Z']],
    ['1 minute', ['2026-01-31T00:01Z', '2026-01-31T00:02Z']],
    ['1 Hour', ['2026-01-31T01:00Z', '2026-01-31T02:00Z']],
    ['36 hours', ['2026-02-01T12:00Z', '2026-02-03T00:00Z']],
    ['1 day', ['2026-02-01T00:00Z', '2026-02-02T00:00Z']],
    ['2 weeks', ['2026-02-14T00:00Z', '2026-02-28T00:00Z']],
    ['1 month', ['2026-02-28T00:00Z', '2026-03-31T00:00Z', '2026-04-30T00:00Z', '2026-05-31T00:00Z']],
    ['25 months', ['2028-02-29T00:00Z', '2030-03-31T00:00Z']],
    [' 120   months ', ['2036-01-31T00:00Z']],
    ['3660 days', ['2036-02-08T00:00Z']],
  ])('of %s', (interval, runs) => {
    expect(runsAfter(simple(interval, '2026-01-31T00:00Z'), '2026-01-31T00:00Z', runs.length)).toEqual(runs);
  });

  test('of hours is elapsed time, of days, weeks and months the time of day in the zone', () => {
    const start = '2026-03-27T08:00Z'; // 09:00 in Berlin, two days before the clock jumps forward
    const runs = (interval: string) => runsAfter(simple(interval, start, 'Europe/Berlin'), start, 3);
    expect(runs('24 hours')).toEqual(['2026-03-28T08:00Z', '2026-03-29T08:00Z', '2026-03-30T08:00Z']);
    expect(runs('1440 minutes')).toEqual(['2026-03-28T08:00Z', '2026-03-29T08:00Z', '2026-03-30T08:00Z']);
    expect(runs('1 day')).toEqual(['2026-03-28T08:00Z', '2026-03-29T07:00Z', '2026-03-30T07:00Z']);
    expect(runs('1 week')).toEqual(['2026-04-03T07:00Z', '2026-04-10T07:00Z', '2026-04-17T07:00Z']);
    expect(runs('4 months')).toEqual(['2026-07-27T07:00Z', '2026-11-27T08:00Z', '2027-03-27T08:00Z']);
  });

  test('of days is due at the end of a gap, and once for a repeated time', () => {
    const daily = (startOn: string) => runsAfter(simple('1 day', startOn, 'Europe/Berlin'), startOn, 2);
    expect(daily('2026-03-28T01:30Z')).toEqual(['2026-03-29T01:00Z', '2026-03-30T00:30Z']);
    expect(daily('2026-10-24T00:30Z')).toEqual(['2026-10-25T00:30Z', '2026-10-26T01:30Z']);
    // From the second 02:30 of that day.
    expect(runsAfter(simple('1 day', '2026-10-25T01:30Z', 'Europe/Berlin'), '2026-10-25T00:45Z', 2)).toEqual([
      '2026-10-25T01:30Z',
      '2026-10-26T01:30Z',
    ]);
    // 30 December 2011, which Samoa did not have, and the next day begin at the same instant.
    expect(runsAfter(simple('1 day', '2011-12-29T10:00Z', 'Pacific/Apia'), '2011-12-29T10:00Z', 2)).toEqual([
      '2011-12-30T10:00Z',
      '2011-12-31T10:00Z',
    ]);
  });

  test('of months and days in a zone equals a naive calculation', () => {
    const startArbitrary = fc.integer({ min: Date.UTC(2005, 0, 1) / MINUTE, max: Date.UTC(2034, 0, 1) / MINUTE });
    const unitArbitrary = fc.constantFrom('day', 'week', 'month');
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        startArbitrary,
        fc.integer({ min: 1, max: 40 }),
        unitArbitrary,
        fc.integer({ min: 1, max: 30 }),
        (zone, startMinute, count, unit, index) => {
          const start = startMinute * MINUTE;
          const schedule = simple(`${count} ${unit}s`, new Date(start).toISOString(), zone);
          const [run, following] = [index, index + 1].map((i) =>
            naiveInstant(zone, naiveAdd(naiveLocal(zone, start), i * count, unit)),
          );
          expect(nextRun(schedule, new Date(run! - 1))).toEqual(new Date(run!));
          expect(missedRun(schedule, new Date(start), new Date(run!))).toEqual(new Date(run!));
          expect(missedRun(schedule, new Date(run!), new Date(following! - 1))).toBeNull();
          if (following! > run!) expect(nextRun(schedule, new Date(run!))).toEqual(new Date(following!));
        },
      ),
      { numRuns: 300, seed: 17 },
    );
  });

  test('of elapsed time is due at each multiple and at no other instant', () => {
    const start = Date.UTC(2026, 0, 1);
    const stepArbitrary = fc.oneof(
      fc.integer({ min: 10, max: 100_000 }).map((count) => ({ interval: `${count} seconds`, step: count * 1000 })),
      fc.integer({ min: 1, max: 10_000 }).map((count) => ({ interval: `${count} minutes`, step: count * MINUTE })),
      fc.integer({ min: 1, max: 1000 }).map((count) => ({ interval: `${count} hours`, step: count * HOUR })),
    );
    fc.assert(
      fc.property(stepArbitrary, fc.integer({ min: 0, max: 3650 * DAY }), ({ interval, step }, elapsed) => {
        const schedule = simple(interval, new Date(start).toISOString());
        const next = nextRun(schedule, new Date(start + elapsed))!.getTime() - start;
        expect(next % step).toBe(0);
        expect(next - elapsed).toBeGreaterThan(0);
        expect(next - elapsed).toBeLessThanOrEqual(step);
        const missed = missedRun(schedule, new Date(start - 1), new Date(start + elapsed))!.getTime() - start;
        expect(missed).toBe(next - step);
      }),
      { seed: 17 },
    );
  });

  test('may have milliseconds', () => {
    expect(
      print(nextRun(simple('10 seconds', '2026-01-01T00:00:00.123Z'), new Date('2026-01-01T00:00:10.123Z'))!),
    ).toBe('2026-01-01T00:00:20.123Z');
  });
});

describe('an invalid simple interval is 400 and names the interval', () => {
  const FORM = 'interval must be a number of seconds, minutes, hours, days, weeks or months: 10 minutes';
  test.each([
    ['9 seconds', 'interval must be at least 10 seconds'],
    ['0 months', 'interval must be at least 10 seconds'],
    ['3661 days', 'interval must be at most 10 years'],
    ['121 months', 'interval must be at most 10 years'],
    ['999999999 months', 'interval must be at most 10 years'],
    ['9999999999 seconds', FORM],
    ['-5 minutes', FORM],
    ['1.5 hours', FORM],
    ['minutes', FORM],
    ['10', FORM],
    ['10 years', FORM],
    ['10 minutes 5 seconds', FORM],
    ['*/5 * * * *', FORM],
    ['', 'interval must not be empty'],
    [null, 'interval is required'],
  ])('%j', (interval, message) => {
    const error = errorOf(() => scheduleOf({ intervalType: 'simple', interval })) as ApiError;
    expect(error.status).toBe(400);
    expect(error.message).toContain(message);
    expect(error.validation).toEqual([expect.objectContaining({ path: ['interval'] })]);
  });
});

/** Adds to a local time with dates as text, the way a person counts. */
function naiveAdd(local: number, count: number, unit: string): number {
  if (unit !== 'month') return local + count * (unit === 'week' ? 7 * DAY : DAY);
  const [date, time] = new Date(local).toISOString().split('T') as [string, string];
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const months = year * 12 + month - 1 + count;
  for (let last = day; ; last--) {
    const text = [Math.floor(months / 12), (months % 12) + 1, last].map((n) => String(n).padStart(2, '0')).join('-');
    const instant = Date.parse(`${text}T${time}`);
    if (new Date(instant).toISOString().startsWith(text)) return instant;
  }
}

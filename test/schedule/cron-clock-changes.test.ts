import { describe, expect, test } from 'vitest';
import { missedRun } from '../../src/core/schedule/schedule.ts';
import { print, runsAfter, scheduleOf } from './schedule-fixture.ts';

/** Zone, expression, an instant, and the due times after it. See docs/contract/jobs.md#schedules. */
type Case = readonly [zone: string, interval: string, after: string, runs: readonly string[]];

const expectRuns = (...[zone, interval, after, runs]: Case) =>
  expect(runsAfter(scheduleOf({ interval, timezone: zone }), after, runs.length)).toEqual(runs);

describe('a skipped local time is due at the end of the gap', () => {
  test.each<Case>([
    // 29 March 2026 has no 02:00 to 02:59 in Europe. At 01:00Z it is 03:00.
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2026-03-28T00:00Z',
      ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'],
    ],
    [
      'Europe/Berlin',
      '*/15 * * * *',
      '2026-03-29T00:31Z',
      ['2026-03-29T00:45Z', '2026-03-29T01:00Z', '2026-03-29T01:15Z'],
    ],
    [
      'Europe/Berlin',
      '30 2,3 * * *',
      '2026-03-28T12:00Z',
      ['2026-03-29T01:00Z', '2026-03-29T01:30Z', '2026-03-30T00:30Z'],
    ],
    [
      'Europe/Berlin',
      '0 2,3 * * *',
      '2026-03-28T12:00Z',
      ['2026-03-29T01:00Z', '2026-03-30T00:00Z', '2026-03-30T01:00Z'],
    ],
    ['Europe/Berlin', '10-50/20 2 29 3 *', '2026-01-01T00:00Z', ['2026-03-29T01:00Z', '2027-03-29T00:10Z']],
    // 8 March 2026 has no 02:00 to 02:59 in New York. At 07:00Z it is 03:00.
    ['America/New_York', '30 2 * * *', '2026-03-07T12:00Z', ['2026-03-08T07:00Z', '2026-03-09T06:30Z']],
    [
      'America/New_York',
      '59 1,2 * * SUN',
      '2026-03-07T12:00Z',
      ['2026-03-08T06:59Z', '2026-03-08T07:00Z', '2026-03-15T05:59Z'],
    ],
    // 4 October 2026 has no 02:00 to 02:29 on Lord Howe Island. At 15:30Z of the day before it is 02:30.
    [
      'Australia/Lord_Howe',
      '15,30,45 2 * * *',
      '2026-10-03T00:00Z',
      ['2026-10-03T15:30Z', '2026-10-03T15:45Z', '2026-10-04T15:15Z'],
    ],
    // 4 November 2018 begins at 01:00 in São Paulo, 24 April 2026 in Cairo.
    ['America/Sao_Paulo', '0 0 * * *', '2018-11-03T12:00Z', ['2018-11-04T03:00Z', '2018-11-05T02:00Z']],
    ['Africa/Cairo', '30 0 24 * *', '2026-04-01T00:00Z', ['2026-04-23T22:00Z', '2026-05-23T21:30Z']],
    // Samoa has no 30 December 2011.
    ['Pacific/Apia', '0 12 30 * *', '2011-12-01T00:00Z', ['2011-12-30T10:00Z', '2012-01-29T22:00Z']],
    ['Pacific/Apia', '0 0 * * *', '2011-12-29T00:00Z', ['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z']],
  ])('%s: %s', (...row) => expectRuns(...row));

  test('and stands for the gap when it was missed', () => {
    const schedule = scheduleOf({ interval: '*/20 2 * * *', timezone: 'Europe/Berlin' });
    const missed = (to: string) => missedRun(schedule, new Date('2026-03-28T12:00Z'), new Date(to));
    expect(missed('2026-03-29T00:59Z')).toBeNull();
    expect(print(missed('2026-03-29T01:00Z')!)).toBe('2026-03-29T01:00Z');
    expect(print(missed('2026-03-30T00:10Z')!)).toBe('2026-03-30T00:00Z');
  });
});

describe('a repeated local time is due once, the first time', () => {
  test.each<Case>([
    // 25 October 2026 has 02:00 to 02:59 twice in Europe, from 00:00Z and from 01:00Z.
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
    [
      'Europe/Berlin',
      '*/30 * * * *',
      '2026-10-24T23:29Z',
      ['2026-10-24T23:30Z', '2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T02:00Z', '2026-10-25T02:30Z'],
    ],
    ['Europe/Berlin', '*/30 * * * *', '2026-10-25T01:15Z', ['2026-10-25T02:00Z']],
    ['Europe/Berlin', '59 * * * *', '2026-10-25T01:00Z', ['2026-10-25T02:59Z']],
    // 1 November 2026 has 01:00 to 01:59 twice in New York, from 05:00Z and from 06:00Z.
    ['America/New_York', '30 1 * * *', '2026-10-31T12:00Z', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
    [
      'America/New_York',
      '0 * 1 11 *',
      '2026-11-01T03:30Z',
      ['2026-11-01T04:00Z', '2026-11-01T05:00Z', '2026-11-01T07:00Z'],
    ],
    // 5 April 2026 has 01:30 to 01:59 twice on Lord Howe Island, from 14:30Z of the day before and from 15:00Z.
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T00:00Z', ['2026-04-04T14:45Z', '2026-04-05T15:15Z']],
    // The last hour of 17 February 2018 in São Paulo, and of 29 October 2026 in Cairo.
    ['America/Sao_Paulo', '30 23 * * *', '2018-02-17T12:00Z', ['2018-02-18T01:30Z', '2018-02-19T02:30Z']],
    [
      'Africa/Cairo',
      '0 0,23 * * *',
      '2026-10-29T12:00Z',
      ['2026-10-29T20:00Z', '2026-10-29T22:00Z', '2026-10-30T21:00Z'],
    ],
  ])('%s: %s', (...row) => expectRuns(...row));

  test('even if it was missed', () => {
    const schedule = scheduleOf({ interval: '*/10 * * * *', timezone: 'Europe/Berlin' });
    const missed = (from: string, to: string) => missedRun(schedule, new Date(from), new Date(to));
    expect(missed('2026-10-25T00:50Z', '2026-10-25T01:59Z')).toBeNull();
    expect(print(missed('2026-10-25T00:49Z', '2026-10-25T01:59Z')!)).toBe('2026-10-25T00:50Z');
    expect(print(missed('2026-10-25T00:50Z', '2026-10-25T02:00Z')!)).toBe('2026-10-25T02:00Z');
  });
});

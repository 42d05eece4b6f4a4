import { describe, expect, test } from 'vitest';
import type { ApiError } from '../../src/core/errors.ts';
import { checkOnceAhead, missedRun, nextRun, type ScheduleInput } from '../../src/core/schedule/schedule.ts';
import { errorOf, runsAfter, scheduleOf } from './schedule-fixture.ts';

const JULY = new Date('2026-07-01T12:00:00Z');
const once = (more: Partial<ScheduleInput> = {}) =>
  scheduleOf({ intervalType: 'once', interval: null, startOn: JULY, ...more });

describe('bounds', () => {
  test('are due times themselves', () => {
    const schedule = scheduleOf({
      interval: '0 12 * * *',
      startOn: new Date('2026-07-01T12:00:00Z'),
      endOn: new Date('2026-07-03T12:00:00Z'),
    });
    expect(runsAfter(schedule, '2026-01-01T00:00Z', 9)).toEqual([
      '2026-07-01T12:00Z',
      '2026-07-02T12:00Z',
      '2026-07-03T12:00Z',
    ]);
  });

  test('exclude the due times before and after them', () => {
    const schedule = scheduleOf({
      interval: '0 12 * * *',
      startOn: new Date('2026-07-01T12:00:00.001Z'),
      endOn: new Date('2026-07-03T11:59:59.999Z'),
    });
    expect(runsAfter(schedule, '2026-01-01T00:00Z', 9)).toEqual(['2026-07-02T12:00Z']);
    const missed = (from: string, to: string) => missedRun(schedule, new Date(from), new Date(to));
    expect(missed('2026-01-01T00:00Z', '2026-07-02T11:59Z')).toBeNull();
    expect(missed('2026-01-01T00:00Z', '2026-08-01T00:00Z')).toEqual(new Date('2026-07-02T12:00Z'));
    expect(missed('2026-07-02T12:00Z', '2026-08-01T00:00Z')).toBeNull();
  });

  test('apply to simple intervals', () => {
    const schedule = scheduleOf({
      intervalType: 'simple',
      interval: '1 day',
      startOn: JULY,
      endOn: new Date('2026-07-02T12:00:00Z'),
    });
    expect(runsAfter(schedule, '2026-01-01T00:00Z', 9)).toEqual(['2026-07-01T12:00Z', '2026-07-02T12:00Z']);
    expect(missedRun(schedule, JULY, new Date('2026-08-01T00:00Z'))).toEqual(new Date('2026-07-02T12:00Z'));
  });

  test('may be the same instant', () => {
    expect(
      runsAfter(scheduleOf({ startOn: JULY, endOn: JULY, interval: '0 12 * * *' }), '2026-01-01T00:00Z', 9),
    ).toEqual(['2026-07-01T12:00Z']);
  });
});

describe('once', () => {
  test('is due at startOn, whatever the interval', () => {
    expect(runsAfter(once(), '2026-01-01T00:00Z', 9)).toEqual(['2026-07-01T12:00Z']);
    expect(runsAfter(once({ interval: 'not read' }), '2026-01-01T00:00Z', 9)).toEqual(['2026-07-01T12:00Z']);
    expect(nextRun(once(), JULY)).toBeNull();
  });

  test('is missed once', () => {
    expect(missedRun(once(), new Date('2026-01-01T00:00Z'), JULY)).toEqual(JULY);
    expect(missedRun(once(), new Date('2026-01-01T00:00Z'), new Date('2026-07-01T11:59Z'))).toBeNull();
    expect(missedRun(once(), JULY, new Date('2027-01-01T00:00Z'))).toBeNull();
  });

  test('in the past is 400 for an enabled job', () => {
    const error = errorOf(() => checkOnceAhead(once(), JULY)) as ApiError;
    expect(error).toMatchObject({
      status: 400,
      message: 'startOn must be in the future for an enabled job that runs once',
      validation: [{ path: ['startOn'] }],
    });
    expect(checkOnceAhead(once(), new Date(JULY.getTime() - 1))).toBeUndefined();
    expect(checkOnceAhead(scheduleOf({ startOn: JULY }), new Date('2027-01-01T00:00Z'))).toBeUndefined();
  });
});

describe('an invalid schedule is 400 and names', () => {
  test.each<[key: string, input: Partial<ScheduleInput>, message: string]>([
    ['intervalType', { intervalType: 'yearly' }, 'intervalType must be one of cron, simple, once'],
    ['timezone', { timezone: 'Mars/Olympus' }, 'timezone must be an IANA time zone'],
    ['timezone', { timezone: '' }, 'timezone must be an IANA time zone'],
    ['timezone', { timezone: '+02:00' }, 'timezone must be an IANA time zone'],
    ['timezone', { intervalType: 'once', startOn: JULY, timezone: '+02:00' }, 'timezone must be an IANA time zone'],
    ['startOn', { intervalType: 'once' }, 'startOn is required by the interval type once'],
    ['endOn', { startOn: JULY, endOn: new Date(JULY.getTime() - 1) }, 'endOn must not be before startOn'],
    ['interval', { interval: 'noon' }, 'interval must have five fields'],
  ])('%s: %j', (key, input, message) => {
    const error = errorOf(() => scheduleOf(input)) as ApiError;
    expect(error.status).toBe(400);
    expect(error.message).toContain(message);
    expect(error.validation).toEqual([expect.objectContaining({ path: [key] })]);
  });

  test('no key of a schedule with an alias or another case of a zone', () => {
    expect(runsAfter(scheduleOf({ timezone: 'europe/berlin' }), '2026-07-01T00:00Z', 1)).toEqual(['2026-07-01T22:00Z']);
    expect(runsAfter(scheduleOf({ timezone: 'Asia/Calcutta' }), '2026-07-01T00:00Z', 1)).toEqual(['2026-07-01T18:30Z']);
  });
});

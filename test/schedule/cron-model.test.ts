import fc from 'fast-check';
import { expect, test } from 'vitest';
import { missedRun, nextRun } from '../../src/core/schedule/schedule.ts';
import { cronArbitrary } from './cron-arbitrary.ts';
import { DAY, daysOfChange, HOUR, MINUTE, naiveRuns, ZONES } from './naive-clock.ts';
import { runsBetween, scheduleOf } from './schedule-fixture.ts';

const START = Date.UTC(2005, 0, 1);
const END = Date.UTC(2035, 0, 1);
const CHANGES = new Map(ZONES.map((zone) => [zone, daysOfChange(zone, 2005, 2034)]));

const zoneArbitrary = fc.constantFrom(...ZONES);
const instantArbitrary = fc.integer({ min: START, max: END });
/** A zone and a day, most often the day before a change of the zone's clock. */
const dayArbitrary = zoneArbitrary.chain((zone) => {
  const changes = CHANGES.get(zone)!;
  const anyDay = instantArbitrary.map((instant) => Math.floor(instant / DAY) * DAY);
  const day = changes.length > 0 ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...changes) }, anyDay) : anyDay;
  return fc.record({ zone: fc.constant(zone), day });
});

test('due times and missed runs equal a walk through the minutes of the local clock', () => {
  fc.assert(
    fc.property(dayArbitrary, cronArbitrary, fc.array(fc.integer({ min: 0, max: 28 * HOUR })), (span, cron, delays) => {
      const [from, to] = [span.day - 2 * HOUR, span.day + 26 * HOUR];
      const schedule = scheduleOf({ interval: cron.text, timezone: span.zone });
      const expected = naiveRuns(span.zone, cron.matches, from + MINUTE, to);
      expect(runsBetween(schedule, from, to)).toEqual(expected);
      for (const delay of delays) {
        const latest = expected.findLast((run) => run <= from + delay);
        expect(missedRun(schedule, new Date(from), new Date(from + delay))?.getTime()).toBe(latest);
      }
    }),
    { numRuns: 150, seed: 17 },
  );
});

test('no instant before the next run is due', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
  fc.assert(
    fc.property(zoneArbitrary, cronArbitrary, instantArbitrary, share, (timezone, { text }, after, part) => {
      const schedule = scheduleOf({ interval: text, timezone });
      const next = nextRun(schedule, new Date(after))!;
      expect(next.getTime()).toBeGreaterThan(after);
      const between = new Date(after + Math.floor((next.getTime() - after) * part));
      expect(nextRun(schedule, between)).toEqual(next);
      expect(missedRun(schedule, new Date(after), new Date(next.getTime() - 1))).toBeNull();
      expect(missedRun(schedule, new Date(after), next)).toEqual(next);
      expect(nextRun(schedule, next)!.getTime()).toBeGreaterThan(next.getTime());
    }),
    { numRuns: 1000, seed: 17 },
  );
});

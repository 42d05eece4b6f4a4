import { nextRun, parseSchedule, type Schedule, type ScheduleInput } from '../../src/core/schedule/schedule.ts';

/** Parses a schedule in UTC without bounds, saved at the beginning of 2026, with other values where given. */
export const scheduleOf = (input: Partial<ScheduleInput>): Schedule =>
  parseSchedule({
    intervalType: 'cron',
    interval: '0 0 * * *',
    timezone: 'UTC',
    startOn: null,
    endOn: null,
    savedAt: new Date('2026-01-01T00:00:00Z'),
    ...input,
  });

/** The first due times after an instant, as in `2026-03-29T01:00Z`, with seconds where there are any. */
export function runsAfter(schedule: Schedule, after: string, count: number): string[] {
  const runs: string[] = [];
  let last: Date | null = new Date(after);
  while (runs.length < count && (last = nextRun(schedule, last))) runs.push(print(last));
  return runs;
}

/** All due times after `from`, up to and including `to`. */
export function runsBetween(schedule: Schedule, from: number, to: number): number[] {
  const runs: number[] = [];
  let run = nextRun(schedule, new Date(from));
  while (run && run.getTime() <= to) {
    runs.push(run.getTime());
    run = nextRun(schedule, run);
  }
  return runs;
}

/** Prints an instant without the seconds and milliseconds that are zero. */
export const print = (instant: Date): string => instant.toISOString().replace(/(:00)?\.000Z$/, 'Z');

/** Returns what a function throws. */
export function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown');
}

import type { Platform } from '../core/platform.ts';
import { DUE_BATCH, startDueJobs } from '../services/job/job-due.ts';
import { rescheduleJobs } from '../services/job/job-recovery.ts';
import { repeatPass } from './repeated-pass.ts';

/** Difference between the clock and the time that has passed, from which the clock counts as set back. */
const CLOCK_STEP_MS = 5_000;

/** Options of the scheduler, in milliseconds. */
export interface SchedulerOptions {
  /** Pause between two searches for due jobs. */
  interval: number;
}

/**
 * Starts due jobs of all tenants, in every worker process. The times are in the rows of the jobs alone, so that a crash
 * loses none of them. See docs/contract/jobs.md#runs-of-jobs.
 */
export function startJobScheduler(platform: Platform, { interval }: SchedulerOptions): { stop(): Promise<void> } {
  const clock = new ClockWatch();
  return repeatPass(platform, { interval, failureMessage: 'Could not start the due jobs' }, async (signal) => {
    // One statement while nothing is due, which is most of the time.
    const [state] = await platform.system.query<{ now: Date; isDue: boolean }>({
      text: `select now() as now, exists (select from dws.job where next_run_at <= now()) as "isDue"`,
    });
    const { now, isDue } = state!;
    const isSetBack = clock.isSetBack(now);
    if (isSetBack) await rescheduleJobs(platform, now);
    clock.note(now);
    if (isDue || isSetBack) while (!signal.aborted && (await startDueJobs(platform)) === DUE_BATCH);
  });
}

/** Compares the clock of Postgres, by which jobs are due, with the time that has passed. */
class ClockWatch {
  #last: { clock: number; passed: number } | undefined;

  /** Returns whether the clock was set back since the last `note`. */
  isSetBack(now: Date): boolean {
    if (!this.#last) return false;
    return now.getTime() - this.#last.clock - (performance.now() - this.#last.passed) < -CLOCK_STEP_MS;
  }

  note(now: Date): void {
    this.#last = { clock: now.getTime(), passed: performance.now() };
  }
}

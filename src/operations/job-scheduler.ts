import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../core/platform.ts';
import { DUE_BATCH, startDueJobs } from '../services/job/job-due.ts';
import { rescheduleJobs } from '../services/job/job-recovery.ts';

/** Difference between the clock and the time that has passed, from which the clock counts as set back. */
const CLOCK_STEP_MS = 5_000;

/** Options of the scheduler, in milliseconds. */
export interface SchedulerOptions {
  /** Pause between two searches for due jobs. */
  interval: number;
}

/**
 * Starts due jobs of all tenants, in every worker process. The times are in the rows of the jobs alone, so that a crash
 * loses none of them. See docs/contract.md#runs-of-jobs.
 */
export function startJobScheduler(platform: Platform, { interval }: SchedulerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const clock = new ClockWatch();

  const pass = async (): Promise<void> => {
    // One statement while nothing is due, which is most of the time.
    const [state] = await platform.system.query<{ now: Date; isDue: boolean }>({
      text: `select now() as now, exists (select from dws.job where next_run_at <= now()) as "isDue"`,
    });
    const { now, isDue } = state!;
    const isSetBack = clock.isSetBack(now);
    if (isSetBack) await rescheduleJobs(platform, now);
    clock.note(now);
    if (isDue || isSetBack) while (!stopping.signal.aborted && (await startDueJobs(platform)) === DUE_BATCH);
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pass().catch((error: unknown) => platform.log.warn({ err: error }, 'Could not start the due jobs'));
      await sleep(interval, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
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

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
    await clock.check(platform);
    while (!stopping.signal.aborted && (await startDueJobs(platform)) === DUE_BATCH);
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

  /** Schedules all jobs again if the clock was set back since the last call, with each call until it succeeds. */
  async check(platform: Platform): Promise<void> {
    const [row] = await platform.system.query<{ now: Date }>({ text: 'select now() as now' });
    const { now } = row!;
    const current = { clock: now.getTime(), passed: performance.now() };
    const step = this.#last && current.clock - this.#last.clock - (current.passed - this.#last.passed);
    if (step !== undefined && step < -CLOCK_STEP_MS) await rescheduleJobs(platform, now);
    this.#last = current;
  }
}

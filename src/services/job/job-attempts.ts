import { setTimeout as sleep } from 'node:timers/promises';
import { abortable } from '../../core/abortable.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { JobData } from '../../core/job-drivers.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { failureOf } from '../operation/operation-repository.ts';

/** Settings that the actions of every type have. */
interface AttemptSettings {
  retry?: { times: number; delay?: number };
  timeout?: number;
}

/** Time for an aborted attempt to end its work, in milliseconds. */
const CLEANUP_MS = 10_000;
const DEFAULT_DELAY_MS = 1000;

/** The outcome of an attempt. */
export interface AttemptOutcome {
  /** Number of attempts so far. */
  attempts: number;
  /** Null for a success. */
  failure: unknown;
  /** Milliseconds until the next attempt. Absent after the last. */
  retryInMs?: number;
}

/**
 * Runs work once, for at most `data.timeout` and `limit` milliseconds. `former` is the number of attempts before. A
 * failure is followed by further attempts as configured in `data.retry`, but by none after `deadline`. `log` gets the
 * failures before the last. Throws the reason of `signal`.
 */
export async function runAttempt(
  data: JobData,
  { limit, deadline, former }: { limit: number; deadline: number; former: number },
  signal: AbortSignal,
  log: (line: string) => void,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<AttemptOutcome> {
  const { retry, timeout = limit } = data as AttemptSettings;
  const milliseconds = Math.min(timeout, limit);
  const attempts = former + 1;
  try {
    await withTimeout(
      milliseconds,
      () => upstreamFailed(`It took longer than ${milliseconds} ms`),
      [signal],
      (limited) => endInTime(work(limited), limited),
    );
    return { attempts, failure: null };
  } catch (failure) {
    signal.throwIfAborted();
    const retryInMs = (retry?.delay ?? DEFAULT_DELAY_MS) * 2 ** former;
    if (attempts > (retry?.times ?? 0) || Date.now() + retryInMs > deadline) return { attempts, failure };
    log(`Attempt ${attempts} failed: ${failureOf(failure).message}. The next one is in ${retryInMs} ms.`);
    return { attempts, failure, retryInMs };
  }
}

/** Waits for work, but not much longer than until the signal aborts. */
async function endInTime(work: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await abortable(work, signal);
  } catch (error) {
    if (signal.aborted) await Promise.race([work.catch(() => undefined), sleep(CLEANUP_MS, undefined, { ref: false })]);
    throw error;
  }
}

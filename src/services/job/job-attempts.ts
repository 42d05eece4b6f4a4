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

/** Time for an aborted attempt to end what it has started, in milliseconds. */
const CLEANUP_MS = 10_000;
const DEFAULT_DELAY_MS = 1000;

/**
 * Runs work, and again after a failure as often as `data.retry` says, each attempt for at most `data.timeout` and `limit`
 * milliseconds. After `deadline` none begins. `log` gets the failures before the last. Returns the number of attempts and
 * the last failure, null for a success. Throws the reason of `signal`.
 */
export async function runAttempts(
  data: JobData,
  { limit, deadline }: { limit: number; deadline: number },
  signal: AbortSignal,
  log: (line: string) => void,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<{ attempts: number; failure: unknown }> {
  const { retry, timeout = limit } = data as AttemptSettings;
  const milliseconds = Math.min(timeout, limit);
  for (let attempts = 1; ; attempts++) {
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
      const delay = (retry?.delay ?? DEFAULT_DELAY_MS) * 2 ** (attempts - 1);
      if (attempts > (retry?.times ?? 0) || Date.now() + delay > deadline) return { attempts, failure };
      log(`Attempt ${attempts} failed: ${failureOf(failure).message}. The next one is in ${delay} ms.`);
      await sleep(delay, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
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

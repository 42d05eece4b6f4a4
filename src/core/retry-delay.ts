import { setTimeout as delay } from 'node:timers/promises';

/** Number of tries of a call that a host is too busy for. */
const MAX_TRIES = 5;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 5 * 60_000;

/**
 * Returns the milliseconds to wait after a number of tries. They are the value of `Retry-After`, else twice as many
 * each time; up to half of them are random. Null for a wait that is too long.
 */
export function retryDelay(tries: number, retryAfter: string | null, now: number): number | null {
  if (retryAfter === null) return FIRST_WAIT_MS * 2 ** (tries - 1) * (1 - Math.random() / 2);
  const seconds = /^\d{1,9}$/.test(retryAfter.trim()) ? Number(retryAfter) : null;
  const waitMs = seconds === null ? Date.parse(retryAfter) - now : seconds * 1000;
  if (Number.isNaN(waitMs)) return retryDelay(tries, null, now);
  return waitMs > MAX_WAIT_MS ? null : Math.max(waitMs, 0);
}

/** The response of a busy host: the value of `Retry-After`, or null. */
export interface Busy {
  retryAfter: string | null;
}

/**
 * Runs `work` up to five times, while `toBusy` returns that its error comes from a busy host. Throws the last error,
 * even if the host asks for a longer wait, and the reason of the signal once it aborts.
 */
export async function repeatWhileBusy<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  toBusy: (error: unknown) => Busy | null,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const busy = tries < MAX_TRIES ? toBusy(error) : null;
      const waitMs = busy && retryDelay(tries, busy.retryAfter, Date.now());
      if (waitMs === null) throw error;
      await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** Number of tries of a call that a host is too busy for. */
export const MAX_TRIES = 5;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 5 * 60_000;

/**
 * Returns the milliseconds to wait after a number of tries: those of `Retry-After`, else twice as many each time, of which
 * up to a half is left to chance. Null for a wait that is too long.
 */
export function retryDelay(tries: number, retryAfter: string | null, now: number): number | null {
  if (retryAfter === null) return FIRST_WAIT_MS * 2 ** (tries - 1) * (1 - Math.random() / 2);
  const seconds = /^\d{1,9}$/.test(retryAfter.trim()) ? Number(retryAfter) : null;
  const waitMs = seconds === null ? Date.parse(retryAfter) - now : seconds * 1000;
  if (Number.isNaN(waitMs)) return retryDelay(tries, null, now);
  return waitMs > MAX_WAIT_MS ? null : Math.max(waitMs, 0);
}

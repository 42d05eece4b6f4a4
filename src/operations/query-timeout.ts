import { upstreamFailed } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import { withTimeout } from '../core/with-timeout.ts';
import type { RunningClaim } from './handler.ts';

/**
 * Runs the queries of a job for at most `REFRESH_TIMEOUT_MS`. The signal aborts with the job, or with UPSTREAM_FAILED
 * when the time is over.
 */
export function withQueryTimeout<T>(
  { config }: Platform,
  job: Pick<RunningClaim, 'signal'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { REFRESH_TIMEOUT_MS: timeoutMs } = config;
  return withTimeout(timeoutMs, () => upstreamFailed(`query timeout after ${timeoutMs} ms`), [job.signal], work);
}

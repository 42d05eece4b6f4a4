import { upstreamFailed } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import type { Job } from './handler.ts';

/**
 * Runs the queries of a job for at most `REFRESH_TIMEOUT_MS`. The signal aborts with the job, or with UPSTREAM_FAILED
 * when the time is over.
 */
export async function withQueryTimeout<T>(
  { config }: Platform,
  job: Pick<Job, 'signal'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { REFRESH_TIMEOUT_MS: timeoutMs } = config;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(upstreamFailed(`query timeout after ${timeoutMs} ms`)), timeoutMs);
  try {
    return await work(AbortSignal.any([job.signal, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}

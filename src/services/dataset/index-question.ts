import type { Context } from '../../core/context.ts';
import type { DatasetIndex } from '../../core/dataset-index.ts';
import { unavailable } from '../../core/errors.ts';

/** How long an interactive question to the index may take, the wait for a place included. */
const QUESTION_TIMEOUT_MS = 30_000;

/**
 * Asks the dataset index an interactive question. It ends when the request ends. Throws UNAVAILABLE after 30 seconds.
 */
export async function askIndex<T>(
  { platform, request }: Pick<Context, 'platform' | 'request'>,
  ask: (index: DatasetIndex, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(
    () =>
      timeout.abort(
        unavailable(`The question to the dataset index took longer than ${QUESTION_TIMEOUT_MS / 1000} s`, {
          headers: { 'retry-after': '10' },
        }),
      ),
    QUESTION_TIMEOUT_MS,
  );
  try {
    return await ask(platform.index, AbortSignal.any([request.signal, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}

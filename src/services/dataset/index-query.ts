import type { Context } from '../../core/context.ts';
import type { DatasetIndex } from '../../core/dataset-index.ts';
import { unavailable } from '../../core/errors.ts';
import { withTimeout } from '../../core/with-timeout.ts';

/** How long an interactive query of the index may take, the wait for a place included. */
const INDEX_TIMEOUT_MS = 30_000;

/** Runs an interactive query of the dataset index. It ends with the request. Throws UNAVAILABLE after 30 seconds. */
export const queryIndex = <T>(
  { platform, request }: Pick<Context, 'platform' | 'request'>,
  run: (index: DatasetIndex, signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  withTimeout(
    INDEX_TIMEOUT_MS,
    () =>
      unavailable(`The query of the dataset index took longer than ${INDEX_TIMEOUT_MS / 1000} s`, {
        headers: { 'retry-after': '10' },
      }),
    [request.signal],
    (signal) => run(platform.index, signal),
  );

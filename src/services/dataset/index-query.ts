import type { Context, RequestInfo } from '../../core/context.ts';
import type { DatasetIndex } from '../../core/dataset-index.ts';
import { unavailable } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { withTimeout } from '../../core/with-timeout.ts';

/** Maximum time of an interactive query of the index, including the wait for a place. */
const INDEX_TIMEOUT_MS = 30_000;

/**
 * The HTTP requests that have rows of the index in memory. Until a response is complete, they take several times its size. All
 * queries of a request share its place.
 */
const RESULT_GATE = FairGate.shared({ places: 8, maxWaiting: 1000, taskNoun: 'results of the index' });
/** How long a request keeps its place at most: it may wait for something else, too. */
const MAX_PLACE_MS = 5000;
const places = new WeakMap<RequestInfo, Promise<void>>();

/** The part of the context that a query requires. */
type QueryContext = Pick<Context, 'platform' | 'request' | 'viewer'>;

/** Runs an interactive query of the dataset index. It ends with the request. Throws UNAVAILABLE after 30 seconds. */
export const queryIndex = <T>(
  ctx: QueryContext,
  run: (index: DatasetIndex, signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  withTimeout(
    INDEX_TIMEOUT_MS,
    () =>
      unavailable(`The query of the dataset index took longer than ${INDEX_TIMEOUT_MS / 1000} s`, {
        headers: { 'retry-after': '10' },
      }),
    [ctx.request.signal],
    async (signal) => {
      await takePlace(ctx, signal);
      return run(ctx.platform.index, signal);
    },
  );

/** Waits until the request has a place, which it keeps until its response is complete. */
function takePlace({ request, viewer }: QueryContext, signal: AbortSignal): Promise<void> | undefined {
  if (!request.onComplete) return undefined;
  const taking =
    places.get(request) ??
    RESULT_GATE.enter(viewer, signal).then((leave) => {
      const timer = setTimeout(leave, MAX_PLACE_MS).unref();
      request.onComplete!(() => {
        clearTimeout(timer);
        leave();
      });
    });
  places.set(request, taking);
  return taking;
}

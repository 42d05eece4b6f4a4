import { abortable } from '../../../core/abortable.ts';
import type { Segment } from '../../../core/row-source.ts';

/**
 * Yields the segments and requests the next one before the current one is processed, so that source and index work at
 * the same time. Ends with the signal's reason when it aborts, even if the source does not respond.
 */
export async function* segmentsAhead(segments: AsyncIterable<Segment>, signal: AbortSignal): AsyncGenerator<Segment> {
  signal.throwIfAborted();
  const iterator = segments[Symbol.asyncIterator]();
  const ask = () => {
    const asked = iterator.next();
    // Awaited later. Until then its failure must not count as unhandled.
    asked.catch(() => {});
    return asked;
  };
  try {
    let ahead = ask();
    for (;;) {
      const { done, value } = await abortable(ahead, signal);
      if (done) return;
      ahead = ask();
      yield value;
    }
  } finally {
    // A source that hangs is not awaited: it has the same signal.
    iterator.return?.()?.catch(() => {});
  }
}

import type { Segment } from '../../../core/row-source.ts';

/**
 * The segments, with the next one asked for before the current is worked on, so that source and index work at the same time.
 * Ends with the signal's reason when it aborts, even if the source does not answer.
 */
export async function* segmentsAhead(segments: AsyncIterable<Segment>, signal: AbortSignal): AsyncGenerator<Segment> {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', abort, { once: true });
  const iterator = segments[Symbol.asyncIterator]();
  const ask = () => {
    const asked = iterator.next();
    // It is awaited later: until then its failure is nobody's.
    asked.catch(() => {});
    return asked;
  };
  try {
    let ahead = ask();
    for (;;) {
      const { done, value } = await Promise.race([ahead, aborted.promise]);
      if (done) return;
      ahead = ask();
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // A source that hangs is not waited for: it has the same signal.
    iterator.return?.()?.catch(() => {});
  }
}

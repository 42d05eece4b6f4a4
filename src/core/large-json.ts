import { FairGate, callerAt } from './fair-gate.ts';
import { runInTurns } from './long-turns.ts';

/** Longer JSON texts are parsed in turns of their own: 10 MiB can take half a second. */
const MIN_LARGE_BYTES = 1 << 16;

/** One large text at a time, shared among addresses: the caller may not be known yet. */
const GATE = FairGate.shared({ places: 1, maxWaiting: 1000, taskNoun: 'large bodies' });
const { signal: NEVER } = new AbortController();

/**
 * Parses a JSON text in steps, and passes the value to `finish`, or the error of a step. Steps of a large text run for a few
 * milliseconds in a turn of the event loop, and a pause follows, so that other requests do not wait for all the large
 * bodies that arrived at the same time. The error is UNAVAILABLE when too many wait.
 */
export function parseInTurns(
  { bytes, address }: { bytes: Buffer; address: string },
  parse: (bytes: Buffer) => Iterator<void, unknown>,
  finish: (error: Error | null, value?: unknown) => void,
): void {
  const steps = parse(bytes);
  if (bytes.length > MIN_LARGE_BYTES)
    GATE.run(callerAt(address), NEVER, () => runInTurns(steps, (value) => finish(null, value))).catch(finish);
  else parseNow(steps, finish);
}

function parseNow(steps: Iterator<void, unknown>, finish: (error: Error | null, value?: unknown) => void): void {
  let step: IteratorResult<void, unknown>;
  try {
    do step = steps.next();
    while (!step.done);
  } catch (error) {
    return finish(error as Error);
  }
  finish(null, step.value);
}

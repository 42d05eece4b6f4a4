import { FairGate, callerAt } from './fair-gate.ts';
import { runInTurn } from './long-turns.ts';

/** Longer JSON texts are parsed in turns of their own: 10 MiB can take a tenth of a second. */
const MIN_LARGE_CHARACTERS = 1 << 16;

/** One large text a turn of the event loop, shared among addresses: the caller may not be known yet. */
const GATE = FairGate.shared({ places: 1, maxWaiting: 1000, taskNoun: 'large bodies' });
const { signal: NEVER } = new AbortController();

/**
 * Parses a JSON text. Only one large text is parsed in a turn of the event loop, and the next one after a pause, so
 * that other requests do not wait for all the large bodies that arrived at the same time. Calls `fail` with the error
 * of `parse`, and when too many wait.
 */
export function parseInOwnTurn(
  { text, address }: { text: string; address: string },
  parse: () => void,
  fail: (error: Error) => void,
): void {
  if (text.length < MIN_LARGE_CHARACTERS) return parse();
  GATE.run(callerAt(address), NEVER, () => runInTurn(parse)).catch(fail);
}

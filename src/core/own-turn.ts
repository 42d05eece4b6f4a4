import { setImmediate } from 'node:timers/promises';

/** Longer JSON texts are parsed in turns of their own: 10 MiB can take a tenth of a second. */
const LARGE_TEXT = 1 << 16;

let turn: Promise<unknown> = Promise.resolve();

/**
 * Parses a JSON text. Of large ones, only one a turn of the event loop is parsed: other requests do not wait for all
 * the large bodies that arrived at the same time.
 */
export function parseInOwnTurn(text: string, parse: () => void): void {
  if (text.length < LARGE_TEXT) return parse();
  turn = turn.then(() => setImmediate());
  // Not part of the chain: an error of one must not stop the next.
  void turn.then(parse);
}

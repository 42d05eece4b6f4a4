import { setImmediate, setTimeout } from 'node:timers/promises';

/** A pause lasts this many times as long as the turn before it, so that turns of up to 100 ms use a third of the event loop. */
const PAUSE = 2;
const MAX_PAUSE_MS = 200;
/** A turn of work in steps ends after this time. */
const MAX_TURN_MS = 2;
/** A request that began or ended in this time shows that others use the process. */
const RECENT_MS = 100;

let lastRequestAt = -Infinity;

/** Notes that a request begins or ends in this process. */
export const noteRequest = (): void => {
  lastRequestAt = performance.now();
};

/**
 * Runs a long calculation in a turn of the event loop of its own. Resolves after a pause: a request of others needs
 * several turns, so it would wait for as many calculations that follow one another without a pause.
 */
export async function runInTurn(calculate: () => void): Promise<void> {
  await setImmediate();
  const start = performance.now();
  calculate();
  await pauseAfter(performance.now() - start);
}

/**
 * Runs work in steps, in as many turns of the event loop as it needs, and passes its result to `end` in a turn of its
 * own. Resolves after a pause.
 */
export async function runInTurns<T>(steps: Iterator<void, T>, end: (result: T) => void): Promise<void> {
  await setImmediate();
  for (;;) {
    const start = performance.now();
    let step = steps.next();
    while (!step.done && performance.now() - start < MAX_TURN_MS) step = steps.next();
    await pauseAfter(performance.now() - start);
    if (!step.done) continue;
    const { value } = step;
    return runInTurn(() => end(value));
  }
}

/**
 * Calls `begin` in a turn of the event loop of its own. The calculation is what follows in the same turn, e.g. in code
 * that awaits a promise. Resolves after a pause, like `runInTurn`.
 */
export async function letBeginInTurn(begin: () => void): Promise<void> {
  await setImmediate();
  const start = performance.now();
  begin();
  await setImmediate();
  await pauseAfter(performance.now() - start);
}

/**
 * Ends a turn of long work that took `turnMs`: with a pause while requests are served in this process, otherwise with the
 * next turn of the event loop.
 */
export async function endTurn(turnMs: number): Promise<void> {
  if (performance.now() - lastRequestAt > RECENT_MS) await setImmediate();
  else await pauseAfter(turnMs);
}

async function pauseAfter(turnMs: number): Promise<void> {
  const pause = Math.min(MAX_PAUSE_MS, Math.floor(turnMs * PAUSE));
  await (pause > 0 ? setTimeout(pause) : setImmediate());
}

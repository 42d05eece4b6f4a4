import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../../../core/errors.ts';
import { engineError, isTemporary } from './engine-errors.ts';

const INITIAL_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5000;
/** Maximum time that a load waits for an engine that is unavailable or busy. A restart takes less. */
const MAX_WAIT_MS = 90_000;

/** Waits between attempts, longer each time, up to a total. */
export class RetryDelay {
  readonly #signal: AbortSignal;
  #pause = 0;
  #since = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.restart();
  }

  /** Restarts the total after progress. */
  restart(): void {
    this.#pause = INITIAL_PAUSE_MS;
    this.#since = performance.now();
  }

  /** Throws UNAVAILABLE when the total is reached, and the signal's reason when it aborts. */
  async wait(): Promise<void> {
    if (performance.now() - this.#since > MAX_WAIT_MS) throw unavailable('The dataset index is overloaded');
    await delay(this.#pause * (0.5 + Math.random() / 2), undefined, { signal: this.#signal }).catch(() => {
      throw this.#signal.reason;
    });
    this.#pause = Math.min(2 * this.#pause, MAX_PAUSE_MS);
  }

  /** Waits after a temporary failure. Throws any other error as callers receive it. */
  async afterFailure(error: unknown): Promise<void> {
    if (this.#signal.aborted || !isTemporary(error) || performance.now() - this.#since > MAX_WAIT_MS)
      throw engineError(error, this.#signal);
    await this.wait();
  }
}

/** Repeats a step of a load while the engine is unavailable. The step must be idempotent. */
export async function withRetry<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  const retryDelay = new RetryDelay(signal);
  for (;;) {
    signal.throwIfAborted();
    try {
      return await step();
    } catch (error) {
      await retryDelay.afterFailure(error);
    }
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../../../core/errors.ts';
import { engineError, isPassing } from './engine-errors.ts';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5000;
/** How long a load waits for an engine that is away or has too much to do: a restart takes less. */
const WHOLE_MS = 90_000;

/** Waits for a better moment, longer each time, and not for ever. */
export class RetryDelay {
  readonly #signal: AbortSignal;
  #pause = 0;
  #since = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.renew();
  }

  /** Something has been achieved: there is a reason to hope. */
  renew(): void {
    this.#pause = FIRST_PAUSE_MS;
    this.#since = performance.now();
  }

  /** @throws unavailable when it is over, the signal's reason when that aborts. */
  async wait(): Promise<void> {
    if (performance.now() - this.#since > WHOLE_MS) throw unavailable('The dataset index has too much to do');
    await delay(this.#pause * (0.5 + Math.random() / 2), undefined, { signal: this.#signal }).catch(() => {
      throw this.#signal.reason;
    });
    this.#pause = Math.min(2 * this.#pause, MAX_PAUSE_MS);
  }

  /** Waits after a failure that may pass; throws any other as callers are to see it. */
  async afterFailure(error: unknown): Promise<void> {
    if (this.#signal.aborted || !isPassing(error) || performance.now() - this.#since > WHOLE_MS)
      throw engineError(error, this.#signal);
    await this.wait();
  }
}

/** Takes a step of a load, again and again while the engine is away. The step must do no harm when it is taken twice. */
export async function withRetry<T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  const patience = new RetryDelay(signal);
  for (;;) {
    signal.throwIfAborted();
    try {
      return await step();
    } catch (error) {
      await patience.afterFailure(error);
    }
  }
}

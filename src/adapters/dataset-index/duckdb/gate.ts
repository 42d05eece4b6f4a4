import { unavailable } from '../../../core/errors.ts';

/** Lets a bounded number of tasks run and a bounded number wait, first come, first served. */
export class Gate {
  readonly #limit: number;
  readonly #waitingLimit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number, waitingLimit: number) {
    this.#limit = limit;
    this.#waitingLimit = waitingLimit;
  }

  /**
   * Waits for a place; whoever got one calls `leave`.
   * @throws unavailable when too many wait already, the signal's reason when it aborts meanwhile.
   */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#limit) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= this.#waitingLimit) throw unavailable('Too many queries are waiting for the index', { headers: { 'Retry-After': '1' } });
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(enter);
    });
  }

  /** Gives the place to whoever has waited longest. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

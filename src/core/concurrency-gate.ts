import { unavailable } from './errors.ts';

/** Lets a bounded number of tasks run and a bounded number wait, first come, first served. */
export class ConcurrencyGate {
  readonly #limit: number;
  readonly #waitingLimit: number;
  readonly #full: string;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `full` is the sentence for whoever finds too many waiting. */
  constructor(limit: number, waitingLimit: number, full: string) {
    this.#limit = limit;
    this.#waitingLimit = waitingLimit;
    this.#full = full;
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
    if (this.#waiting.length >= this.#waitingLimit) throw unavailable(this.#full, { headers: { 'retry-after': '1' } });
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

  /** Runs a task when there is a place for it. */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.enter(signal);
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  /** Gives the place to whoever has waited longest. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

import { unavailable } from './errors.ts';

/** Limits the number of tasks that run at once and of those that wait. Waiting tasks run in order of arrival. */
export class ConcurrencyGate {
  readonly #limit: number;
  readonly #waitingLimit: number;
  readonly #fullMessage: string;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `fullMessage` is the message of the error when too many tasks wait. */
  constructor(limit: number, waitingLimit: number, fullMessage: string) {
    this.#limit = limit;
    this.#waitingLimit = waitingLimit;
    this.#fullMessage = fullMessage;
  }

  /**
   * Waits until a task may run. After it, the caller calls `leave` once. Throws UNAVAILABLE when too many tasks wait,
   * and the signal's reason when it aborts.
   */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#limit) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= this.#waitingLimit)
      throw unavailable(this.#fullMessage, { headers: { 'retry-after': '1' } });
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

  /** Runs a task as soon as the limits allow. Throws like `enter`. */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.enter(signal);
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  /** Ends a task. The task that has waited longest runs next. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

const MAX_TIMERS = 1000;
/** Longest delay of a timer of Node. No program runs longer. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/** The timers of one program, on the side of the sandbox process. */
export class ProgramTimers {
  readonly #pending = new Set<NodeJS.Timeout>();
  readonly #exceed: (message: string) => void;

  constructor(exceed: (message: string) => void) {
    this.#exceed = exceed;
  }

  /** Resolves after a time, unless the timers are cleared before. */
  sleep(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (!(milliseconds >= 0) || this.#pending.size >= MAX_TIMERS) this.#exceed(`More than ${MAX_TIMERS} timers`);
    else {
      const wake = () => {
        this.#pending.delete(timer);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(milliseconds, MAX_SLEEP_MS));
      this.#pending.add(timer);
    }
    return promise;
  }

  /** Clears the timers when the program has ended. */
  clear(): void {
    for (const timer of this.#pending) clearTimeout(timer);
    this.#pending.clear();
  }
}

import type { QueuedWork } from '../../core/operations.ts';

/** Milliseconds after which the queue is looked at although nobody told: for notifications that were lost. */
const MAX_QUIET_MS = 2_000;

export interface WorkerOptions {
  /** Pieces of work at once. */
  concurrency: number;
  /** Pieces of work at once for one tenant. */
  perTenant: number;
}

export interface DispatcherOptions<W extends QueuedWork> extends WorkerOptions {
  /** Takes one waiting piece of work from the queue, of none of these tenants. */
  fetch(without: string[]): Promise<W | null>;
  /** Does it. Never throws. */
  run(work: W): Promise<void>;
  /** Hears of a queue that could not be looked at. */
  onError(error: unknown): void;
}

/** Takes work from the queue, one piece after the other, and does several side by side. Whatever ends makes room for the next at once. */
export class Dispatcher<W extends QueuedWork> {
  readonly #options: DispatcherOptions<W>;
  readonly #busy = new Map<string, number>();
  #running = 0;
  #stopped = false;
  #told = false;
  #wake: (() => void) | null = null;

  constructor(options: DispatcherOptions<W>) {
    this.#options = options;
    void this.#loop();
  }

  /** Says that there may be work. */
  tell(): void {
    this.#told = true;
    this.#wake?.();
  }

  /** Takes no more work; what runs goes on. */
  stop(): void {
    this.#stopped = true;
    this.tell();
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      this.#told = false;
      const work = this.#running < this.#options.concurrency ? await this.#fetch() : null;
      if (work) this.#begin(work);
      else await this.#quiet();
    }
  }

  async #fetch(): Promise<W | null> {
    const full = [...this.#busy].filter(([, count]) => count >= this.#options.perTenant).map(([tenantId]) => tenantId);
    return this.#options.fetch(full).catch((error: unknown) => {
      this.#options.onError(error);
      return null;
    });
  }

  #begin(work: W): void {
    this.#count(work.tenantId, 1);
    void this.#options.run(work).finally(() => {
      this.#count(work.tenantId, -1);
      this.tell();
    });
  }

  #count(tenantId: string, change: 1 | -1): void {
    this.#running += change;
    const count = (this.#busy.get(tenantId) ?? 0) + change;
    if (count > 0) this.#busy.set(tenantId, count);
    else this.#busy.delete(tenantId);
  }

  /** Waits until somebody tells, but not too long. What was told while the queue was being looked at counts. */
  async #quiet(): Promise<void> {
    if (this.#told) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MAX_QUIET_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}

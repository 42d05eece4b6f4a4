import type { QueuedWork } from '../../core/operations.ts';

/** Pause after which the queue is read without a notification, as notifications may be lost. */
const MAX_PAUSE_MS = 2_000;

/** Limits of the work items that run at once. */
export interface TenantLimits {
  concurrency: number;
  /** Limit for one tenant. */
  perTenant: number;
}

/** Tenants and users at a limit, whose work waits. */
export interface AtLimit {
  tenantIds: string[];
  userIds: string[];
}

interface DispatcherOptions<W extends QueuedWork> extends TenantLimits {
  /** Limit for one user. Default: no limit. */
  perUser?: number;
  /** Takes a work item from the queue whose tenant and user are not excluded. Null when there is none. */
  fetch(excluded: AtLimit): Promise<W | null>;
  /** Runs a work item. Never throws. */
  run(work: W): Promise<void>;
  /** Receives the errors of `fetch`. */
  onError(error: unknown): void;
}

/** Takes work items from the queue and runs several at once. When one ends, the next starts at once. */
export class Dispatcher<W extends QueuedWork> {
  readonly #options: DispatcherOptions<W>;
  readonly #runningOf = { tenant: new Map<string, number>(), user: new Map<string, number>() };
  #running = 0;
  #isStopped = false;
  #isWoken = false;
  #resume: (() => void) | null = null;

  constructor(options: DispatcherOptions<W>) {
    this.#options = options;
    void this.#loop();
  }

  /** Reads the queue again, at once. */
  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  /** Takes no more work items. Running ones continue. */
  stop(): void {
    this.#isStopped = true;
    this.wake();
  }

  async #loop(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      const work = this.#running < this.#options.concurrency ? await this.#fetch() : null;
      if (work) this.#run(work);
      else await this.#pause();
    }
  }

  async #fetch(): Promise<W | null> {
    const { perTenant, perUser = Infinity, fetch, onError } = this.#options;
    const { tenant, user } = this.#runningOf;
    return fetch({ tenantIds: atLimit(tenant, perTenant), userIds: atLimit(user, perUser) }).catch((error: unknown) => {
      onError(error);
      return null;
    });
  }

  #run(work: W): void {
    this.#count(work, 1);
    void this.#options.run(work).finally(() => {
      this.#count(work, -1);
      this.wake();
    });
  }

  #count({ tenantId, userId }: W, change: 1 | -1): void {
    this.#running += change;
    const { tenant, user } = this.#runningOf;
    addTo(tenant, tenantId, change);
    addTo(user, userId, change);
  }

  /** Waits for `wake`, at most `MAX_PAUSE_MS`. Returns at once if it was called while the queue was read. */
  async #pause(): Promise<void> {
    if (this.#isWoken) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MAX_PAUSE_MS);
      this.#resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#resume = null;
  }
}

const atLimit = (counts: ReadonlyMap<string, number>, limit: number): string[] =>
  [...counts].filter(([, count]) => count >= limit).map(([id]) => id);

/** Adds to the count of an id. A count of 0 is removed. */
function addTo(counts: Map<string, number>, id: string, change: 1 | -1): void {
  const count = (counts.get(id) ?? 0) + change;
  if (count > 0) counts.set(id, count);
  else counts.delete(id);
}

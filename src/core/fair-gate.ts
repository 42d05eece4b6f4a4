import { unavailable } from './errors.ts';

/** A user of a tenant, who shares bounded resources with others. */
export interface Caller {
  readonly tenantId: string;
  readonly userId: string;
}

/** The tasks of one caller, or of all callers of one tenant. */
interface Share {
  running: number;
  waiting: number;
  /** Number of the turn in which the last task started; 0 before the first. */
  lastTurn: number;
}

interface WaitingTask {
  start(): void;
  refuse(error: Error): void;
}

type CallerShare = Share & { tasks: WaitingTask[] };
type TenantShare = Share & { callers: Map<string, CallerShare> };

/** The weight of the latest task in the mean duration. */
const MEAN_WEIGHT = 0.2;

/**
 * Shares a number of places among tenants and callers. A caller occupies at most half of the places, and at least one.
 * A free place goes to the waiting tenant that occupies the fewest, then to the one whose last turn is the longest ago;
 * likewise among the callers of a tenant. The tasks of a caller start in the order of their arrival. When too many
 * tasks wait, the last task of the caller with the most waiting tasks, in the tenant with the most, is refused. So a
 * caller cannot exclude another one. See docs/contract.md#fairness.
 */
export class FairGate {
  readonly #places: number;
  readonly #maxPerCaller: number;
  readonly #maxWaiting: number;
  readonly #tasks: string;
  readonly #tenants = new Map<string, TenantShare>();
  #running = 0;
  #waiting = 0;
  #turn = 0;
  #meanDuration = 0;

  /** `tasks` names the tasks in the error for too many of them, e.g. `exports`. */
  constructor({ places, maxWaiting, tasks }: { places: number; maxWaiting: number; tasks: string }) {
    this.#places = places;
    this.#maxPerCaller = Math.max(1, Math.floor(places / 2));
    this.#maxWaiting = maxWaiting;
    this.#tasks = tasks;
  }

  /** Runs a task in a place. Throws like `enter`. */
  async run<T>(caller: Caller, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const leave = await this.enter(caller, signal);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /**
   * Waits for a place. Returns the function that frees it, to be called once. Throws UNAVAILABLE with `Retry-After`
   * when too many tasks wait, and the signal's reason when it aborts.
   */
  async enter(caller: Caller, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const tenant = this.#tenants.get(caller.tenantId) ?? { ...emptyShare(), callers: new Map() };
    this.#tenants.set(caller.tenantId, tenant);
    const share = tenant.callers.get(caller.userId) ?? { ...emptyShare(), tasks: [] };
    tenant.callers.set(caller.userId, share);
    await this.#wait(caller, tenant, share, signal).catch((error: unknown) => {
      this.#forgetIdle(caller, tenant, share);
      throw error;
    });
    const startedAt = performance.now();
    return () => {
      this.#meanDuration += MEAN_WEIGHT * (performance.now() - startedAt - this.#meanDuration);
      this.#count('running', -1, tenant, share);
      this.#forgetIdle(caller, tenant, share);
      this.#startWaiting();
    };
  }

  /** Adds a task to the queue. Resolves when it has a place. */
  async #wait(caller: Caller, tenant: TenantShare, share: CallerShare, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const task: WaitingTask = { start: resolve, refuse: reject };
    const abort = () => {
      if (!share.tasks.includes(task)) return;
      this.#remove(tenant, share, task);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    share.tasks.push(task);
    this.#count('waiting', 1, tenant, share);
    this.#startWaiting();
    if (this.#waiting > this.#maxWaiting) this.#refuseLast(caller);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Starts waiting tasks while places are free. */
  #startWaiting(): void {
    while (this.#running < this.#places) {
      const next = this.#next();
      if (!next) return;
      const { tenant, share } = next;
      const task = share.tasks[0]!;
      this.#remove(tenant, share, task);
      this.#count('running', 1, tenant, share);
      tenant.lastTurn = share.lastTurn = ++this.#turn;
      task.start();
    }
  }

  /** Returns the caller whose task starts next. */
  #next(): { tenant: TenantShare; share: CallerShare } | undefined {
    let next: { tenant: TenantShare; share: CallerShare } | undefined;
    for (const tenant of this.#tenants.values()) {
      if (tenant.waiting === 0 || (next && !precedes(tenant, next.tenant))) continue;
      let first: CallerShare | undefined;
      for (const share of tenant.callers.values()) {
        const mayStart = share.waiting > 0 && share.running < this.#maxPerCaller;
        if (mayStart && (!first || precedes(share, first))) first = share;
      }
      if (first) next = { tenant, share: first };
    }
    return next;
  }

  /** Refuses a task of the caller with the most waiting tasks; in a tie, of the caller that came last. */
  #refuseLast({ tenantId, userId }: Caller): void {
    const tenant = mostWaiting(this.#tenants, tenantId);
    const share = mostWaiting(tenant.callers, userId);
    const task = share.tasks.at(-1)!;
    const seconds = Math.max(1, Math.ceil((this.#meanDuration * share.waiting) / this.#maxPerCaller / 1000));
    this.#remove(tenant, share, task);
    task.refuse(
      unavailable(`Too many ${this.#tasks} are waiting. Try again in ${seconds} s`, {
        headers: { 'retry-after': String(seconds) },
      }),
    );
  }

  #remove(tenant: TenantShare, share: CallerShare, task: WaitingTask): void {
    share.tasks.splice(share.tasks.indexOf(task), 1);
    this.#count('waiting', -1, tenant, share);
  }

  #count(what: 'running' | 'waiting', change: 1 | -1, tenant: TenantShare, share: CallerShare): void {
    tenant[what] += change;
    share[what] += change;
    if (what === 'running') this.#running += change;
    else this.#waiting += change;
  }

  #forgetIdle({ tenantId, userId }: Caller, tenant: TenantShare, share: CallerShare): void {
    if (share.running + share.waiting === 0) tenant.callers.delete(userId);
    if (tenant.running + tenant.waiting === 0) this.#tenants.delete(tenantId);
  }
}

const emptyShare = (): Share => ({ running: 0, waiting: 0, lastTurn: 0 });

const precedes = (one: Share, other: Share): boolean =>
  one.running < other.running || (one.running === other.running && one.lastTurn < other.lastTurn);

/** Returns the share with the most waiting tasks; in a tie the preferred one. */
function mostWaiting<S extends Share>(shares: ReadonlyMap<string, S>, preferred: string): S {
  const [first] = shares.values();
  let most = shares.get(preferred) ?? first!;
  for (const share of shares.values()) if (share.waiting > most.waiting) most = share;
  return most;
}

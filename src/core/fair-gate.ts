import { unavailable } from './errors.ts';
import { reportPlaces } from './metrics.ts';
import { LastTurns, precedes, type Occupancy } from './turns.ts';

/** A user or an app of a tenant, who shares bounded resources with others. Without a user, an address stands for the tenant. */
export interface Caller {
  readonly tenantId: string;
  readonly userId: string;
  /** Part of the places of a caller that it may occupy, rounded up. Default: all of them. */
  readonly share?: number;
}

/** Returns the caller that stands for the unknown users of an address. */
export const callerAt = (address: string): Caller => ({ tenantId: address, userId: '' });

/** The tasks of one caller, or of all callers of one tenant. */
interface Usage extends Occupancy {
  waiting: number;
}

interface WaitingTask {
  start(): void;
  refuse(error: Error): void;
}

type CallerUsage = Usage & { caller: Caller; queue: WaitingTask[]; max: number };
type TenantUsage = Usage & { callers: Map<string, CallerUsage> };

interface GateOptions {
  /** Number of tasks that run at once. */
  places: number;
  /** Default: half of the places, and at least one. At most half of `maxPerTenant`, if that is given. */
  maxPerCaller?: number;
  /** Default: all places. */
  maxPerTenant?: number;
  maxWaiting: number;
  /** The plural of a task in the error for too many of them, e.g. `exports`. */
  taskNoun: string;
}

/** The weight of the latest task in the mean duration. */
const MEAN_WEIGHT = 0.2;

/**
 * Shares a number of places among tenants and callers. A caller occupies at most half of the places, and at least one; a
 * tenant may have a limit, too, so that the callers of one tenant leave places to the others; then a caller occupies at
 * most half of that.
 * A free place goes to the waiting tenant that occupies the fewest, then to the one whose last turn is the longest ago;
 * likewise among the callers of a tenant. So a caller without a place waits for at most one turn of each other caller of
 * the tenant, also of those that leave and return. The tasks of a caller start in the order of their arrival. When too
 * many tasks wait, the last task of the caller with the most waiting tasks, in the tenant with the most, is refused. So a
 * caller cannot exclude another one. See docs/contract.md#fairness.
 */
export class FairGate {
  readonly #places: number;
  readonly #maxPerCaller: number;
  readonly #maxPerTenant: number;
  readonly #maxWaiting: number;
  readonly #taskNoun: string;
  readonly #tenants = new Map<string, TenantUsage>();
  readonly #lastTurns = new LastTurns();
  #running = 0;
  #waiting = 0;
  #meanDuration = 0;

  constructor({ places, maxPerCaller, maxPerTenant, maxWaiting, taskNoun }: GateOptions) {
    this.#places = places;
    const halfOfTenant = maxPerTenant === undefined ? Infinity : halfOf(maxPerTenant);
    this.#maxPerCaller = Math.min(maxPerCaller ?? halfOf(places), halfOfTenant);
    this.#maxPerTenant = maxPerTenant ?? places;
    this.#maxWaiting = maxWaiting;
    this.#taskNoun = taskNoun;
  }

  /** Creates a gate of this process, with metrics by `taskNoun`. */
  static shared(options: GateOptions): FairGate {
    const gate = new FairGate(options);
    reportPlaces(options.taskNoun, () => ({ places: gate.#places, running: gate.#running, waiting: gate.#waiting }));
    return gate;
  }

  /** Runs a task in a place. Throws like `enter`. */
  async run<T>(caller: Caller, signal: AbortSignal, task: () => Promise<T>, maxWaitMs?: number): Promise<T> {
    const leave = await this.enter(caller, signal, maxWaitMs);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /**
   * Waits for a place. Returns the function that frees it, however often it is called. Throws UNAVAILABLE with
   * `Retry-After` when too many tasks wait or after `maxWaitMs`, and the signal's reason when it aborts.
   */
  async enter(caller: Caller, signal: AbortSignal, maxWaitMs?: number): Promise<() => void> {
    signal.throwIfAborted();
    const tenant = this.#tenants.get(caller.tenantId) ?? { ...this.#emptyUsage(caller.tenantId), callers: new Map() };
    this.#tenants.set(caller.tenantId, tenant);
    const usage = tenant.callers.get(caller.userId) ?? {
      ...this.#emptyUsage(idOf(caller)),
      caller,
      queue: [],
      max: Math.ceil(this.#maxPerCaller * (caller.share ?? 1)),
    };
    tenant.callers.set(caller.userId, usage);
    await this.#wait(caller, tenant, usage, signal, maxWaitMs).catch((error: unknown) => {
      this.#forgetIdle(caller, tenant, usage);
      throw error;
    });
    const startedAt = performance.now();
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#meanDuration += MEAN_WEIGHT * (performance.now() - startedAt - this.#meanDuration);
      this.#count('running', -1, tenant, usage);
      this.#forgetIdle(caller, tenant, usage);
      this.#startWaiting();
    };
  }

  #emptyUsage(id: string): Usage {
    return { running: 0, waiting: 0, lastTurn: this.#lastTurns.get(id) };
  }

  /** Adds a task to the queue. Resolves when it has a place. */
  async #wait(
    caller: Caller,
    tenant: TenantUsage,
    usage: CallerUsage,
    signal: AbortSignal,
    maxWaitMs: number | undefined,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const task: WaitingTask = { start: resolve, refuse: reject };
    const abort = () => {
      if (!usage.queue.includes(task)) return;
      this.#remove(tenant, usage, task);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    usage.queue.push(task);
    this.#count('waiting', 1, tenant, usage);
    this.#startWaiting();
    if (this.#waiting > this.#maxWaiting) this.#refuseLast(caller);
    const late = () => this.#refuse(tenant, usage, task);
    const timer = maxWaitMs !== undefined && usage.queue.includes(task) ? setTimeout(late, maxWaitMs) : undefined;
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Starts waiting tasks while places are free. */
  #startWaiting(): void {
    while (this.#running < this.#places) {
      const next = this.#next();
      if (!next) return;
      const { tenant, usage } = next;
      const task = usage.queue[0]!;
      this.#remove(tenant, usage, task);
      this.#count('running', 1, tenant, usage);
      tenant.lastTurn = usage.lastTurn = this.#lastTurns.next(usage.caller.tenantId, idOf(usage.caller));
      task.start();
    }
  }

  /** Returns the caller whose task starts next. */
  #next(): { tenant: TenantUsage; usage: CallerUsage } | undefined {
    let next: { tenant: TenantUsage; usage: CallerUsage } | undefined;
    for (const tenant of this.#tenants.values()) {
      const mayStart = tenant.waiting > 0 && tenant.running < this.#maxPerTenant;
      if (!mayStart || (next && !precedes(tenant, next.tenant))) continue;
      let first: CallerUsage | undefined;
      for (const usage of tenant.callers.values()) {
        const isNext = usage.waiting > 0 && usage.running < usage.max;
        if (isNext && (!first || precedes(usage, first))) first = usage;
      }
      if (first) next = { tenant, usage: first };
    }
    return next;
  }

  /** Refuses a task of the caller with the most waiting tasks; in a tie, of the caller that came last. */
  #refuseLast({ tenantId, userId }: Caller): void {
    const tenant = mostWaiting(this.#tenants, tenantId);
    const usage = mostWaiting(tenant.callers, userId);
    this.#refuse(tenant, usage, usage.queue.at(-1)!);
  }

  /** Refuses a waiting task. */
  #refuse(tenant: TenantUsage, usage: CallerUsage, task: WaitingTask): void {
    const seconds = Math.max(1, Math.ceil((this.#meanDuration * usage.waiting) / usage.max / 1000));
    this.#remove(tenant, usage, task);
    task.refuse(
      unavailable(`Too many ${this.#taskNoun} are waiting. Try again in ${seconds} s`, {
        headers: { 'retry-after': String(seconds) },
      }),
    );
  }

  #remove(tenant: TenantUsage, usage: CallerUsage, task: WaitingTask): void {
    usage.queue.splice(usage.queue.indexOf(task), 1);
    this.#count('waiting', -1, tenant, usage);
  }

  #count(what: 'running' | 'waiting', change: 1 | -1, tenant: TenantUsage, usage: CallerUsage): void {
    tenant[what] += change;
    usage[what] += change;
    if (what === 'running') this.#running += change;
    else this.#waiting += change;
  }

  #forgetIdle({ tenantId, userId }: Caller, tenant: TenantUsage, usage: CallerUsage): void {
    const isIdle = ({ running, waiting }: Usage) => running + waiting === 0;
    if (isIdle(usage) && tenant.callers.get(userId) === usage) tenant.callers.delete(userId);
    if (isIdle(tenant) && this.#tenants.get(tenantId) === tenant) this.#tenants.delete(tenantId);
  }
}

/** Returns the share of a user in what a tenant shares, or in all places: half of them, and at least one. */
export const halfOf = (places: number): number => Math.max(1, Math.floor(places / 2));

/** Returns the share of a tenant that leaves a quarter of the places to others: at least one place to each. */
export const threeQuartersOf = (places: number): number => Math.max(1, places - Math.max(1, Math.floor(places / 4)));

/** Returns the id of a caller. That of a tenant has no blank. */
const idOf = ({ tenantId, userId }: Caller): string => `${tenantId} ${userId}`;

/** Returns the usage with the most waiting tasks; in a tie the preferred one. */
function mostWaiting<S extends Usage>(usages: ReadonlyMap<string, S>, preferred: string): S {
  const [first] = usages.values();
  let most = usages.get(preferred) ?? first!;
  for (const usage of usages.values()) if (usage.waiting > most.waiting) most = usage;
  return most;
}

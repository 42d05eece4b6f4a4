import { unavailable } from './errors.ts';
import { reportPlaces } from './metrics.ts';
import { LastTurns, precedes, type Occupancy } from './turns.ts';

/** A user or an app of a tenant, who shares bounded resources with others. Without a user, an address stands for the tenant. */
export interface Caller {
  readonly tenantId: string;
  readonly userId: string;
  /** Part of the places of a caller that it may occupy, rounded up. Default: all of them. */
  readonly share?: number;
  /** Who shares the places of the caller with others, e.g. a visitor of the apps of an owner. Default: no one shares them. */
  readonly visitorId?: string | undefined;
}

/** Returns the caller that stands for the unknown users of an address. */
export const callerAt = (address: string): Caller => ({ tenantId: address, userId: '' });

/** The tasks of a visitor, of all visitors of a caller, of all callers of a tenant, or of all tenants. */
interface Usage extends Occupancy {
  /** Key in the usage that it is a part of, and in the last turns. */
  readonly id: string;
  readonly max: number;
  waiting: number;
  readonly parts: Map<string, Usage>;
  /** Those of a visitor, in the order of their arrival. */
  readonly queue: WaitingTask[];
}

/** The usage of all tenants, of a tenant, of a caller and of a visitor. */
type Path = readonly Usage[];

interface WaitingTask {
  start(): void;
  refuse(error: Error): void;
}

interface GateOptions {
  /** Number of tasks that run at once. */
  places: number;
  /** Default: half of the places, and at least one. At most half of `maxPerTenant`, if that is given. */
  maxPerCaller?: number;
  /** Default: all places. */
  maxPerTenant?: number;
  /** Returns the places of one visitor of those of a caller. Default: half of them, and at least one. */
  ofVisitor?: (places: number) => number;
  maxWaiting: number;
  /** The plural of a task in the error for too many of them, e.g. `exports`. */
  taskNoun: string;
}

/** The weight of the latest task in the mean duration. */
const MEAN_WEIGHT = 0.2;

/**
 * Shares a number of places among tenants and callers. A caller occupies at most half of the places, and at least one; a
 * tenant may have a limit, too, so that the callers of one tenant leave places to the others; then a caller occupies at
 * most half of that. Of the places of a caller, each of its visitors occupies at most half, and at least one.
 * A free place goes to the waiting tenant that occupies the fewest, then to the one whose last turn is the longest ago;
 * likewise among the callers of a tenant, and among the visitors of a caller. So a caller without a place waits for at most
 * one turn of each other caller of the tenant, also of those that leave and return. The tasks of a visitor start in the
 * order of their arrival. When too many tasks wait, the last task of the visitor with the most waiting tasks, of the caller
 * and in the tenant with the most, is refused. So no one can exclude another one. See docs/contract.md#fairness.
 */
export class FairGate {
  readonly #maxPerCaller: number;
  readonly #maxPerTenant: number;
  readonly #ofVisitor: (places: number) => number;
  readonly #maxWaiting: number;
  readonly #taskNoun: string;
  readonly #lastTurns = new LastTurns();
  readonly #all: Usage;
  #meanDuration = 0;

  constructor({ places, maxPerCaller, maxPerTenant, ofVisitor = halfOf, maxWaiting, taskNoun }: GateOptions) {
    const halfOfTenant = maxPerTenant === undefined ? Infinity : halfOf(maxPerTenant);
    this.#maxPerCaller = Math.min(maxPerCaller ?? halfOf(places), halfOfTenant);
    this.#maxPerTenant = maxPerTenant ?? places;
    this.#ofVisitor = ofVisitor;
    this.#maxWaiting = maxWaiting;
    this.#taskNoun = taskNoun;
    this.#all = this.#emptyUsage('', places);
  }

  /** Creates a gate of this process, with metrics by `taskNoun`. */
  static shared(options: GateOptions): FairGate {
    const gate = new FairGate(options);
    const { max: places } = gate.#all;
    reportPlaces(options.taskNoun, () => ({ places, running: gate.#all.running, waiting: gate.#all.waiting }));
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
    const path = this.#pathOf(caller);
    await this.#wait(path, signal, maxWaitMs).catch((error: unknown) => {
      forgetIdle(path);
      throw error;
    });
    const startedAt = performance.now();
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#meanDuration += MEAN_WEIGHT * (performance.now() - startedAt - this.#meanDuration);
      count('running', -1, path);
      forgetIdle(path);
      this.#startWaiting();
    };
  }

  #pathOf({ tenantId, userId, share = 1, visitorId }: Caller): Path {
    const ofCaller = Math.ceil(this.#maxPerCaller * share);
    const tenant = this.#partOf(this.#all, tenantId, this.#maxPerTenant);
    // The id of a tenant has no blank.
    const caller = this.#partOf(tenant, `${tenantId} ${userId}`, ofCaller);
    const visitor =
      visitorId === undefined
        ? this.#partOf(caller, caller.id, ofCaller)
        : this.#partOf(caller, `${caller.id}\n${visitorId}`, this.#ofVisitor(ofCaller));
    return [this.#all, tenant, caller, visitor];
  }

  #partOf({ parts }: Usage, id: string, max: number): Usage {
    const part = parts.get(id) ?? this.#emptyUsage(id, max);
    parts.set(id, part);
    return part;
  }

  #emptyUsage(id: string, max: number): Usage {
    return { id, max, running: 0, waiting: 0, lastTurn: this.#lastTurns.get(id), parts: new Map(), queue: [] };
  }

  /** Adds a task to the queue. Resolves when it has a place. */
  async #wait(path: Path, signal: AbortSignal, maxWaitMs: number | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const task: WaitingTask = { start: resolve, refuse: reject };
    const { queue } = visitorOf(path);
    const abort = () => {
      if (!queue.includes(task)) return;
      remove(path, task);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    queue.push(task);
    count('waiting', 1, path);
    this.#startWaiting();
    if (this.#all.waiting > this.#maxWaiting) this.#refuseLast(path);
    const late = () => this.#refuse(path, task);
    const timer = maxWaitMs !== undefined && queue.includes(task) ? setTimeout(late, maxWaitMs) : undefined;
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Starts waiting tasks while places are free. */
  #startWaiting(): void {
    for (let path = nextOf(this.#all); path; path = nextOf(this.#all)) {
      const [, ...parts] = path;
      const task = visitorOf(path).queue[0]!;
      remove(path, task);
      count('running', 1, path);
      const turn = this.#lastTurns.next(...parts.map(({ id }) => id));
      for (const part of parts) part.lastTurn = turn;
      task.start();
    }
  }

  /** Refuses a task of the visitor with the most waiting tasks; in a tie, of the one that came last. */
  #refuseLast([all, ...preferred]: Path): void {
    const path = [all!];
    for (const part of preferred) path.push(mostWaiting(path.at(-1)!, part));
    this.#refuse(path, visitorOf(path).queue.at(-1)!);
  }

  /** Refuses a waiting task. */
  #refuse(path: Path, task: WaitingTask): void {
    const { waiting, max } = visitorOf(path);
    const seconds = Math.max(1, Math.ceil((this.#meanDuration * waiting) / max / 1000));
    remove(path, task);
    task.refuse(
      unavailable(`Too many ${this.#taskNoun} are waiting. Try again in ${seconds} s`, {
        headers: { 'retry-after': String(seconds) },
      }),
    );
  }
}

/** Returns the share of a user in what a tenant shares, or in all places: half of them, and at least one. */
export const halfOf = (places: number): number => Math.max(1, Math.floor(places / 2));

/** Returns the share of a tenant that leaves a quarter of the places to others: at least one place to each. */
export const threeQuartersOf = (places: number): number => Math.max(1, places - Math.max(1, Math.floor(places / 4)));

const visitorOf = (path: Path): Usage => path.at(-1)!;

/** Returns the path from a usage to the visitor whose task starts next. */
function nextOf(usage: Usage): Path | undefined {
  if (usage.waiting === 0 || usage.running >= usage.max) return undefined;
  if (usage.queue.length > 0) return [usage];
  let next: Path | undefined;
  for (const part of usage.parts.values()) if (!next || precedes(part, next[0]!)) next = nextOf(part) ?? next;
  return next && [usage, ...next];
}

function remove(path: Path, task: WaitingTask): void {
  const { queue } = visitorOf(path);
  queue.splice(queue.indexOf(task), 1);
  count('waiting', -1, path);
}

function count(what: 'running' | 'waiting', change: 1 | -1, path: Path): void {
  for (const usage of path) usage[what] += change;
}

/** Forgets the parts of a path that have no tasks. */
function forgetIdle(path: Path): void {
  path.slice(1).forEach((part, i) => {
    const { parts } = path[i]!;
    if (part.running + part.waiting === 0 && parts.get(part.id) === part) parts.delete(part.id);
  });
}

/** Returns the part with the most waiting tasks; in a tie the preferred one. */
function mostWaiting({ parts }: Usage, preferred: Usage): Usage {
  const [first] = parts.values();
  let most = parts.get(preferred.id) ?? first!;
  for (const part of parts.values()) if (part.waiting > most.waiting) most = part;
  return most;
}

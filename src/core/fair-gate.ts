import { addressRange } from './address-range.ts';
import { unavailable } from './errors.ts';
import {
  callerOf,
  count,
  forgetIdle,
  mostWaiting,
  nextOf,
  remove,
  visitorOf,
  type Path,
  type Usage,
  type WaitingTask,
} from './fair-gate-usage.ts';
import { reportPlaces } from './reported-resources.ts';
import { LastTurns } from './turns.ts';
import { limitKeyOf } from './viewer.ts';

/** A user or an app of a tenant, who shares bounded resources with others. Without a user, an address stands for the tenant. */
export interface Caller {
  readonly tenantId: string;
  readonly userId: string;
  /** Part of the places of a caller that it may occupy, rounded up. Default: all of them. */
  readonly share?: number;
  /** The visitor who shares the places of the caller with others, e.g. a visitor of an owner's apps. Default: none. */
  readonly visitorId?: string | undefined;
  /** Whether a private run of the user is the caller. It shares nothing with the user's other work. */
  readonly ofPrivateRun?: boolean;
}

/** Returns the caller that stands for the unknown users of an address. */
export const callerAt = (address: string): Caller => ({ tenantId: addressRange(address), userId: '' });

interface GateOptions {
  /** Number of concurrent tasks. */
  places: number;
  /** Default: half of the places, and at least one. At most half of `maxPerTenant`, if that is given. */
  maxPerCaller?: number;
  /** Default: all places. */
  maxPerTenant?: number;
  /** Returns the places of one visitor out of the places of a caller. Default: half of them, and at least one. */
  ofVisitor?: (places: number) => number;
  maxWaiting: number;
  /** Default: as many as wait in all. */
  maxWaitingPerCaller?: number;
  /** The plural of a task in the error for too many of them, e.g. `exports`. */
  taskNoun: string;
}

/** The weight of the latest task in the mean duration. */
const MEAN_WEIGHT = 0.2;

/**
 * Shares a number of places among tenants and callers. A caller occupies at most half of the places, and at least one.
 * A tenant may have a limit, too, so that the callers of one tenant leave places to the others; a caller then occupies
 * at most half of that limit. Of the places of a caller, each of its visitors occupies at most half, and at least one.
 *
 * A free place goes to the waiting tenant that occupies the fewest, then to the one whose last turn is the longest ago;
 * likewise among the callers of a tenant, and among the visitors of a caller. So a caller without a place waits for at
 * most one turn of each other caller of the tenant, including callers that leave and return. The tasks of a visitor
 * start in the order of their arrival.
 *
 * When too many tasks wait, the last task of the visitor with the most waiting tasks, of the caller and in the tenant
 * with the most, is refused; if too many tasks of one caller wait, the last task of this caller. So no one can exclude
 * another one. See docs/contract/operations.md#fairness.
 */
export class FairGate {
  readonly #maxPerCaller: number;
  readonly #maxPerTenant: number;
  readonly #ofVisitor: (places: number) => number;
  readonly #maxWaiting: number;
  readonly #maxWaitingPerCaller: number;
  readonly #taskNoun: string;
  readonly #lastTurns = new LastTurns();
  readonly #all: Usage;

  constructor(options: GateOptions) {
    const { places, maxPerCaller, maxPerTenant, ofVisitor = halfOf, maxWaiting, taskNoun } = options;
    const halfOfTenant = maxPerTenant === undefined ? Infinity : halfOf(maxPerTenant);
    this.#maxPerCaller = Math.min(maxPerCaller ?? halfOf(places), halfOfTenant);
    this.#maxPerTenant = maxPerTenant ?? places;
    this.#ofVisitor = ofVisitor;
    this.#maxWaiting = maxWaiting;
    this.#maxWaitingPerCaller = options.maxWaitingPerCaller ?? maxWaiting;
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
      const visitor = visitorOf(path);
      visitor.meanDuration += MEAN_WEIGHT * (performance.now() - startedAt - visitor.meanDuration);
      count('running', -1, path);
      forgetIdle(path);
      this.#startWaiting();
    };
  }

  #pathOf(caller: Caller): Path {
    const { tenantId, share = 1, visitorId } = caller;
    const ofCaller = Math.ceil(this.#maxPerCaller * share);
    const tenant = this.#partOf(this.#all, tenantId, this.#maxPerTenant);
    // The id of a tenant has no blank.
    const ofUser = this.#partOf(tenant, `${tenantId} ${limitKeyOf(caller)}`, ofCaller);
    const visitor =
      visitorId === undefined
        ? this.#partOf(ofUser, ofUser.id, ofCaller)
        : this.#partOf(ofUser, `${ofUser.id}\n${visitorId}`, this.#ofVisitor(ofCaller));
    return [this.#all, tenant, ofUser, visitor];
  }

  #partOf({ parts }: Usage, id: string, max: number): Usage {
    const part = parts.get(id) ?? this.#emptyUsage(id, max);
    parts.set(id, part);
    return part;
  }

  #emptyUsage(id: string, max: number): Usage {
    const lastTurn = this.#lastTurns.get(id);
    return { id, max, running: 0, waiting: 0, meanDuration: 0, lastTurn, parts: new Map(), queue: [] };
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
    if (callerOf(path).waiting > this.#maxWaitingPerCaller) this.#refuseLast(path.slice(0, -1), path.slice(-1));
    else if (this.#all.waiting > this.#maxWaiting) this.#refuseLast(path.slice(0, 1), path.slice(1));
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

  /** Refuses a task of the visitor with the most waiting tasks within a usage; in a tie, of the preferred one. */
  #refuseLast(within: Path, preferred: Path): void {
    const path = [...within];
    for (const part of preferred) path.push(mostWaiting(path.at(-1)!, part));
    this.#refuse(path, visitorOf(path).queue.at(-1)!);
  }

  /** Refuses a waiting task. */
  #refuse(path: Path, task: WaitingTask): void {
    const { waiting, max, meanDuration } = visitorOf(path);
    const seconds = Math.max(1, Math.ceil((meanDuration * waiting) / max / 1000));
    remove(path, task);
    task.refuse(
      unavailable(`Too many ${this.#taskNoun} are waiting. Try again in ${seconds} s`, {
        headers: { 'retry-after': String(seconds) },
      }),
    );
  }
}

/** Returns the share of a user in the places of a tenant, or in all places: half of them, and at least one. */
export const halfOf = (places: number): number => Math.max(1, Math.floor(places / 2));

/** Returns the share of a tenant that leaves a quarter of the places to others: at least one place to each. */
export const threeQuartersOf = (places: number): number => Math.max(1, places - Math.max(1, Math.floor(places / 4)));

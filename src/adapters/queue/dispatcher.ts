import { halfOf } from '../../core/fair-gate.ts';
import type { QueuedWork } from '../../core/operations.ts';
import { LastTurns, precedes, type Occupancy } from '../../core/turns.ts';

/** Pause after which the queue is read without a notification, as notifications may be lost. */
const MAX_PAUSE_MS = 2_000;

/** Limits of the work items that run concurrently. A user runs at most half of the limit of a tenant, and at least one. */
export interface TenantLimits {
  concurrency: number;
  /** Limit for one tenant. */
  perTenant: number;
}

/** A user of a tenant whose work waits. For scheduled work of a team, the team. */
export type WaitingUser = Pick<QueuedWork, 'tenantId' | 'userId'>;

/** The waiting work of the queue. */
export interface Waiting<U extends WaitingUser> {
  /** Users whose work may start now, first the one whose oldest work has waited longest. */
  users: U[];
  /** Milliseconds until work may start that waits for its time. Null for no such work. */
  nextInMs: number | null;
}

interface DispatcherOptions<W extends WaitingUser, U extends WaitingUser> extends TenantLimits {
  /** Reads the waiting work of the queue. */
  list(): Promise<Waiting<U>>;
  /**
   * Takes the oldest work item of a user from the queue; `users` are the users that `list` returned. Null if the user
   * has none. With `giveBack` it may be an item of another user, whose work has arrived since.
   */
  fetch(user: U, users: readonly U[]): Promise<W | null>;
  /** Returns a work item to the queue that was fetched and must not run yet. */
  giveBack?(work: W): Promise<void>;
  /** Runs a work item. Never throws. */
  run(work: W): Promise<void>;
  /** Receives the errors of the queue. */
  onError(error: unknown): void;
}

/**
 * Takes work items from the queue and runs several concurrently. When one ends, the next starts immediately: one of the
 * tenant that runs the fewest, then of the one whose last turn is the longest ago; likewise among the users of a
 * tenant. So a user without a place waits for at most one turn of each other user of the tenant. See
 * docs/contract/operations.md#fairness.
 */
export class Dispatcher<W extends WaitingUser, U extends WaitingUser = WaitingUser> {
  readonly #options: DispatcherOptions<W, U>;
  /** Number of work items that run in this process, by users and tenants. */
  readonly #runningOf = new Map<string, number>();
  readonly #lastTurns = new LastTurns();
  /** The waiting work at the last reading of the queue, without users who were found to have none left. */
  #waiting: Waiting<U> = { users: [], nextInMs: null };
  /** Whether the queue must be read again. */
  #isStale = true;
  #running = 0;
  #isStopped = false;
  #isWoken = false;
  #resume: (() => void) | null = null;
  readonly #ended: Promise<void>;

  constructor(options: DispatcherOptions<W, U>) {
    this.#options = options;
    this.#ended = this.#loop();
  }

  /** Reads the queue again immediately. */
  wake(): void {
    this.#isStale = true;
    this.#continue();
  }

  /** Stops taking work items. Running ones continue. Resolves when no further one starts. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.wake();
    return this.#ended;
  }

  #continue(): void {
    this.#isWoken = true;
    this.#resume?.();
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
    try {
      return await this.#fetchNext();
    } catch (error) {
      this.#options.onError(error);
      return null;
    }
  }

  /** Takes the work item that starts next. Null when none may start. */
  async #fetchNext(): Promise<W | null> {
    for (;;) {
      if (this.#isStale) await this.#list();
      const next = this.#nextOf();
      if (!next) return null;
      const work = await this.#options.fetch(next, this.#waiting.users);
      if (work && this.#mayRun(work) && !this.#precedes(next, work)) return work;
      // The user's work is exhausted, or another process has taken it.
      if (!work) this.#waiting.users = this.#waiting.users.filter((user) => user !== next);
      else {
        this.#isStale = true;
        await this.#options.giveBack?.(work);
      }
    }
  }

  async #list(): Promise<void> {
    this.#isStale = false;
    this.#waiting = await this.#options.list();
  }

  /** Returns the user whose work starts next. Undefined when all are at a limit. */
  #nextOf(): U | undefined {
    let next: U | undefined;
    for (const user of this.#waiting.users)
      if (this.#mayRun(user) && (!next || this.#precedes(user, next))) next = user;
    return next;
  }

  #mayRun({ tenantId, userId }: WaitingUser): boolean {
    const { perTenant } = this.#options;
    return this.#occupancyOf(tenantId).running < perTenant && this.#occupancyOf(userId).running < halfOf(perTenant);
  }

  #precedes(one: WaitingUser, other: WaitingUser): boolean {
    const id = one.tenantId === other.tenantId ? 'userId' : 'tenantId';
    return precedes(this.#occupancyOf(one[id]), this.#occupancyOf(other[id]));
  }

  #occupancyOf(id: string): Occupancy {
    return { running: this.#runningOf.get(id) ?? 0, lastTurn: this.#lastTurns.get(id) };
  }

  #run(work: W): void {
    this.#lastTurns.next(work.tenantId, work.userId);
    this.#count(work, 1);
    void this.#options.run(work).finally(() => {
      this.#count(work, -1);
      this.#continue();
    });
  }

  #count({ tenantId, userId }: W, change: 1 | -1): void {
    this.#running += change;
    for (const id of [tenantId, userId]) {
      const running = (this.#runningOf.get(id) ?? 0) + change;
      if (running > 0) this.#runningOf.set(id, running);
      else this.#runningOf.delete(id);
    }
  }

  /**
   * Waits until work ends or `wake` is called, or until work may start that waits for its time; at most `MAX_PAUSE_MS`,
   * after which the queue is read again. Returns immediately if `wake` was called while the queue was read.
   */
  async #pause(): Promise<void> {
    if (this.#isWoken) return;
    // While all places are taken, the queue is not read again, so that the time of the next work would stay in the past.
    const isFull = this.#running >= this.#options.concurrency;
    const pauseMs = Math.min(MAX_PAUSE_MS, (isFull ? null : this.#waiting.nextInMs) ?? MAX_PAUSE_MS);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#isStale = true;
        resolve();
      }, pauseMs);
      this.#resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#resume = null;
  }
}

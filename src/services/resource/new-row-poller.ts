import { ApiError } from '../../core/errors.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';

/** The rows that a poll looks for. */
export interface RowWindow {
  /** The time after which they were created. */
  since: Date;
  /** The horizon of the poll before; null for all rows since that time. */
  horizon: string | null;
}

/** The result of a poll. */
interface FoundRows {
  /** Ids of the rows in the window, oldest first. They may include rows that were found before. */
  ids: string[];
  horizon: string;
  /** Returns the reason why a user may not, or may no longer, read the rows. Without this function these users may. */
  refusalOf?(userId: string): Error | undefined;
}

/** The rows that subscriptions follow. */
export interface NewRowSource {
  /**
   * The channel that announces new rows, and the payload that concerns these rows. Equal channels and payloads mean the
   * same source.
   */
  channel: string;
  payload: string;
  /** Returns the rows in a window, and which of these users may not read them. It serves all subscribers. */
  find(window: RowWindow, userIds: string[]): Promise<FoundRows>;
}

/** A new row, as the subscriptions of one user read it. */
export interface NewRow {
  id: string;
  /** Reads by their selection. Subscriptions with the same selection share one. */
  reads: Map<string, Promise<unknown>>;
}

interface Subscriber {
  userId: string;
  /** Whether a poll began after it was added. It gets the rows that later polls find. */
  hasBegun: boolean;
  publish(rows: NewRow[]): void;
  end(error: unknown): void;
}

/**
 * The horizon of a statement: the oldest transaction that had not ended when it began. The statement sees everything
 * that an earlier transaction wrote. Transactions have numbers of 32 bits here, as in `xmin`.
 */
export const HORIZON = `(pg_snapshot_xmin(pg_current_snapshot())::text::bigint & 4294967295)::text`;

/** Condition for the rows of a window, whose values are in these parameters. A number after 4294967295 is 0 again. */
export const inWindow = (since: string, horizon: string): string =>
  `created_at > ${since} and (
    ${horizon}::bigint is null or ((xmin::text::bigint - ${horizon}::bigint) & 4294967295) < 2147483648
  )`;

/**
 * How far each poll looks back, for rows created before the last poll and committed after it. Longer than any
 * transaction that creates one, and than clocks differ.
 */
const LOOKBACK_MS = 600_000;

/** Delay before the next poll after Postgres was unavailable. */
const RETRY_AFTER_MS = 1000;

/**
 * Finds new rows for all subscribers of a process that follow them, from the first subscriber to the last. A poll reads the
 * ids of rows that the one before did not see, and checks the access of all subscribers in the same statement.
 */
export class NewRowPoller {
  readonly #source: NewRowSource;
  readonly #subscribers = new Set<Subscriber>();
  readonly #unsubscribers: (() => void)[];
  /** The rows that were found, and when. An update of one puts it into the window again. */
  readonly #known = new Map<string, number>();
  #since = Date.now() - LOOKBACK_MS;
  #horizon: string | null = null;
  /** Whether the next poll ignores the horizon, because it is the first, or Postgres may be another server. */
  #readsAll = true;
  #isPending = false;
  #isPolling = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(notifications: Platform['notifications'], source: NewRowSource) {
    this.#source = source;
    this.#unsubscribers = [
      notifications.on(source.channel, (payload) => {
        if (payload === source.payload) void this.#pollUntilIdle();
      }),
      notifications.on(CHANNELS.credential, (userId) => {
        if (this.#userIds().includes(userId)) void this.#pollUntilIdle();
      }),
      // Rows may have been created while the connection was lost.
      notifications.onResync(() => {
        this.#readsAll = true;
        void this.#pollUntilIdle();
      }),
    ];
  }

  /** Adds a subscriber. It gets the rows that are committed from now on. */
  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    void this.#pollUntilIdle();
  }

  /** Removes a subscriber. Returns whether it was the last: the poller has then ended. */
  remove(subscriber: Subscriber): boolean {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size > 0) return false;
    clearTimeout(this.#retry);
    for (const unsubscribe of this.#unsubscribers) unsubscribe();
    return true;
  }

  readonly #userIds = (): string[] => [...new Set([...this.#subscribers].map(({ userId }) => userId))];

  async #pollUntilIdle(): Promise<void> {
    this.#isPending = true;
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      while (this.#isPending && this.#subscribers.size > 0) {
        this.#isPending = false;
        await this.#poll();
      }
    } catch (error) {
      this.#endOrRetry(error);
    } finally {
      this.#isPolling = false;
    }
  }

  async #poll(): Promise<void> {
    const startedAt = Date.now();
    const subscribers = [...this.#subscribers];
    const window = { since: new Date(this.#since), horizon: this.#readsAll ? null : this.#horizon };
    this.#readsAll = false;
    const { ids, horizon, refusalOf } = await this.#source.find(window, this.#userIds());
    const newIds = ids.filter((id) => !this.#known.has(id));
    for (const id of newIds) this.#known.set(id, startedAt);
    this.#since = startedAt - LOOKBACK_MS;
    this.#horizon = horizon;
    this.#forgetBefore(this.#since - LOOKBACK_MS);
    const rowsOf = new Map<string, NewRow[]>();
    for (const subscriber of subscribers) {
      const { userId } = subscriber;
      const refusal = refusalOf?.(userId);
      const rows = rowsOf.get(userId) ?? newIds.map((id) => ({ id, reads: new Map() }));
      rowsOf.set(userId, rows);
      if (refusal) subscriber.end(refusal);
      else if (subscriber.hasBegun) subscriber.publish(rows);
      subscriber.hasBegun = true;
    }
  }

  /** Forgets rows that are no longer in any window: rows that were found before a time, oldest first. */
  #forgetBefore(time: number): void {
    for (const [id, foundAt] of this.#known) {
      if (foundAt >= time) return;
      this.#known.delete(id);
    }
  }

  /** Ends the subscriptions with an error. A restart of Postgres ends only subscriptions that have not begun. */
  #endOrRetry(error: unknown): void {
    const isTemporary = error instanceof ApiError && error.status === 503;
    this.#readsAll = true;
    for (const subscriber of this.#subscribers) if (!isTemporary || !subscriber.hasBegun) subscriber.end(error);
    clearTimeout(this.#retry);
    if (isTemporary && this.#subscribers.size > 0)
      this.#retry = setTimeout(() => void this.#pollUntilIdle(), RETRY_AFTER_MS);
  }
}

import { rateLimited } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';

const WINDOW_MS = 60_000;

/** A kind of calls and its limit in calls per minute; 0: unlimited. */
interface RatePolicy {
  name: 'api' | 'webhook' | 'refused';
  limit: number;
}

/**
 * Limits the calls of a caller per minute (`RATE_LIMIT_API`, see docs/contract/running.md#running-it), and the accepted
 * and the refused ones of the webhooks of an app (docs/contract/handlers.md#webhooks-of-apps). Calls are counted in the
 * process, and shared with other processes through Postgres every second, so that no request waits for a query. Before
 * that, each process accepts as many calls as the limit. See docs/contract/operations.md#fairness.
 */
export class RateLimiter {
  readonly #policy: string;
  readonly #limit: number;
  readonly #platform: Pick<Platform, 'system' | 'log'>;
  #window = 0;
  /** Calls of this window by caller: `seen` by all processes at the last exchange, and `unshared` since then. */
  #calls = new Map<string, { seen: number; unshared: number }>();
  readonly #timer: NodeJS.Timeout | undefined;
  #isExchanging = false;

  constructor(platform: Pick<Platform, 'system' | 'log'>, { name, limit }: RatePolicy) {
    this.#platform = platform;
    this.#policy = name;
    this.#limit = limit;
    if (this.#limit > 0) this.#timer = setInterval(() => void this.#exchange(), 1000).unref();
  }

  /** Counts a call. Throws 429 above `share` of the limit. */
  count(caller: string, share = 1): void {
    this.check(caller, share);
    this.add(caller);
  }

  /** Counts a call, even above the limit. */
  add(caller: string): void {
    if (this.#limit === 0) return;
    this.#startWindow(Date.now());
    const calls = this.#calls.get(caller);
    if (calls) calls.unshared++;
    else this.#calls.set(caller, { seen: 0, unshared: 1 });
  }

  /** Throws 429 when the caller has reached a `share` of the limit, at least one call. Does not count the call. */
  check(caller: string, share = 1): void {
    if (this.#limit === 0) return;
    const limit = Math.max(1, Math.floor(this.#limit * share));
    const now = Date.now();
    this.#startWindow(now);
    if (this.#callsOf(caller) < limit) return;
    const seconds = this.#secondsLeft(now);
    throw rateLimited(undefined, {
      headers: { 'retry-after': String(seconds), ...this.#headers(limit, 0, seconds) },
    });
  }

  /** Returns headers with the limit of a caller, the calls that are left, and the seconds until the next minute begins. */
  headersOf(caller: string): Record<string, string> {
    if (this.#limit === 0) return {};
    const now = Date.now();
    this.#startWindow(now);
    const left = Math.max(0, this.#limit - this.#callsOf(caller));
    return this.#headers(this.#limit, left, this.#secondsLeft(now));
  }

  #callsOf(caller: string): number {
    const calls = this.#calls.get(caller);
    return calls ? calls.seen + calls.unshared : 0;
  }

  #secondsLeft(now: number): number {
    return Math.max(1, Math.ceil((this.#window + WINDOW_MS - now) / 1000));
  }

  #headers(limit: number, left: number, seconds: number): Record<string, string> {
    return {
      'ratelimit-policy': `"${this.#policy}";q=${limit};w=60`,
      ratelimit: `"${this.#policy}";r=${left};t=${seconds}`,
    };
  }

  /** Forgets the counts of the former window when another one has begun. */
  #startWindow(now: number): void {
    const window = now - (now % WINDOW_MS);
    if (window === this.#window) return;
    this.#window = window;
    this.#calls = new Map();
  }

  /** Exchanges the counts, unless the former exchange has not ended: it would count its calls twice. */
  async #exchange(): Promise<void> {
    if (this.#isExchanging) return;
    this.#isExchanging = true;
    await this.#reconcile();
    this.#isExchanging = false;
  }

  /** Adds the calls of this process to the shared counts, and reads the counts of all processes. */
  async #reconcile(): Promise<void> {
    const window = this.#window;
    const pending = [...this.#calls]
      .filter(([, { unshared }]) => unshared > 0)
      .map(([caller, calls]) => ({ caller, calls, unshared: calls.unshared }));
    if (!pending.length) return;
    try {
      const rows = await this.#platform.system.query<{ caller: string; count: number }>({
        text: `
          insert into dws.rate_count as r (caller, at, count)
          select u.caller, $1, u.count
          from unnest($2::text[], $3::int[]) as u (caller, count)
          on conflict (caller) do update set
            count = case when r.at = excluded.at then r.count + excluded.count else excluded.count end,
            at = excluded.at
          returning caller, count`,
        values: [new Date(window), pending.map(({ caller }) => caller), pending.map(({ unshared }) => unshared)],
      });
      const counts = new Map(rows.map(({ caller, count }) => [caller, count]));
      for (const { caller, calls, unshared } of pending) {
        calls.unshared -= unshared;
        calls.seen = counts.get(caller) ?? calls.seen + unshared;
      }
    } catch (error) {
      this.#platform.log.warn({ err: error }, 'Exchanging rate limits failed');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

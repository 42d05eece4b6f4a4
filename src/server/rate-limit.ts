import { rateLimited } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';

const WINDOW_MS = 60_000;

/**
 * Calls a minute per caller (contract 1, `RATE_LIMIT_API`): counted in the process, reconciled with the other processes every second through Postgres,
 * so that a request waits for nothing.
 */
export class RateLimiter {
  readonly #limit: number;
  readonly #platform: Pick<Platform, 'system' | 'log'>;
  #window = 0;
  /** Calls of this window: everybody's as last heard, and ours not yet told. */
  #calls = new Map<string, { seen: number; ours: number }>();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(platform: Pick<Platform, 'config' | 'system' | 'log'>) {
    this.#platform = platform;
    this.#limit = platform.config.RATE_LIMIT_API;
    if (this.#limit > 0) this.#timer = setInterval(() => void this.#reconcile(), 1000).unref();
  }

  /** Counts a call; throws 429 past the limit. */
  count(caller: string): void {
    if (this.#limit === 0) return;
    this.check(caller);
    const calls = this.#calls.get(caller);
    if (calls) calls.ours++;
    else this.#calls.set(caller, { seen: 0, ours: 1 });
  }

  /** Throws 429 when the caller has used the limit up, without counting. */
  check(caller: string): void {
    if (this.#limit === 0) return;
    const now = Date.now();
    const window = now - (now % WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#calls = new Map();
    }
    const calls = this.#calls.get(caller);
    if (!calls || calls.seen + calls.ours < this.#limit) return;
    const seconds = Math.max(1, Math.ceil((window + WINDOW_MS - now) / 1000));
    throw rateLimited(undefined, {
      headers: {
        'retry-after': String(seconds),
        'ratelimit-policy': `"api";q=${this.#limit};w=60`,
        ratelimit: `"api";r=0;t=${seconds}`,
      },
    });
  }

  async #reconcile(): Promise<void> {
    const window = this.#window;
    const told = [...this.#calls]
      .filter(([, { ours }]) => ours > 0)
      .map(([caller, calls]) => ({ caller, calls, ours: calls.ours }));
    if (!told.length) return;
    try {
      const rows = await this.#platform.system.query<{ caller: string; count: number }>({
        name: 'rate_count',
        text: `insert into dws.rate_count as r (caller, at, count) select u.caller, $1, u.count from unnest($2::text[], $3::int[]) as u (caller, count)
          on conflict (caller) do update set count = case when r.at = excluded.at then r.count + excluded.count else excluded.count end, at = excluded.at returning caller, count`,
        values: [new Date(window), told.map(({ caller }) => caller), told.map(({ ours }) => ours)],
      });
      const counts = new Map(rows.map(({ caller, count }) => [caller, count]));
      for (const { caller, calls, ours } of told) {
        calls.ours -= ours;
        calls.seen = counts.get(caller) ?? calls.seen + ours;
      }
    } catch (error) {
      this.#platform.log.warn({ err: error }, 'Rate limits were not reconciled');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

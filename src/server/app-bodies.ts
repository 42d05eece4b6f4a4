import { CLOSE_MS } from '../../rest-bridge/closing-connections.ts';
import type { BodyReceipt, Entrance } from '../core/app-run.ts';
import { defineError, unavailable, type ApiError } from '../core/errors.ts';

/**
 * A group of bodies that share memory: bodies of apps that come in the same way, or all bodies of callers without
 * credentials.
 */
type BodyPool = Entrance | 'public';

/** Bounds of the bodies in the memory of a process, and of the time in which they arrive. */
export interface BodyLimits {
  /** Bytes of the bodies of a pool. */
  poolBytes: Readonly<Record<BodyPool, number>>;
  /** Part of a pool that the bodies of one caller have. A single body is always within it. */
  callerShare: number;
  /** How long a body may pause. */
  idleMs: number;
  /** How long a body may be slower than `minBytesPerSecond` on average. */
  graceMs: number;
  minBytesPerSecond: number;
  /** Interval of the checks of time. */
  checkMs: number;
  /** How long the connection of a body that was stopped stays open. */
  closeMs: number;
}

export const BODY_LIMITS: BodyLimits = {
  poolBytes: { view: 32 << 20, proven: 32 << 20, open: 32 << 20, public: 32 << 20 },
  callerShare: 1 / 4,
  idleMs: 10_000,
  graceMs: 10_000,
  minBytesPerSecond: 16_000,
  checkMs: 1000,
  closeMs: CLOSE_MS,
};

const tooSlow = defineError(408, 'BAD_USER_INPUT', () => 'The body took too long to arrive');
const RETRY = { headers: { 'retry-after': '1' } };
const poolFull = ({ receiver }: Pool) => unavailable(`The ${receiver} is receiving too many calls`, RETRY);
const callerFull = () => unavailable('Too many bodies of this caller are in memory', RETRY);

/** The bodies that share memory. */
interface Pool {
  /** The receiver of the bodies. */
  readonly receiver: 'app' | 'service';
  readonly maxBytes: number;
  bytes: number;
  /** Bytes by caller. */
  readonly callers: Map<string | null, number>;
  readonly bodies: Set<Body>;
}

/** Where a body is counted. */
interface BodyPlace {
  pool: BodyPool;
  /** The receiver of the bodies: an app, or its caller in a private run. Null for callers without credentials. */
  owner: string | null;
  /** Names the caller. Null for one that proved who sent it: its bodies have no part, and are not stopped for others. */
  caller: string | null;
}

/** A body that arrives, or stays in memory until its call ends. */
class Body implements BodyReceipt {
  readonly closeMs: number;
  caller: string | null;
  bytes = 0;
  isArriving = true;
  #lastAt: number;
  readonly startedAt: number;
  readonly #count: (bytes: number) => void;
  #stop: ((error: ApiError) => void) | null = null;

  constructor(caller: string | null, closeMs: number, count: (body: Body, bytes: number) => void) {
    this.caller = caller;
    this.closeMs = closeMs;
    this.startedAt = this.#lastAt = performance.now();
    this.#count = (bytes) => count(this, bytes);
  }

  onStop(stop: (error: ApiError) => void): void {
    this.#stop = stop;
  }

  received(bytes: number): void {
    this.#lastAt = performance.now();
    this.#count(bytes);
  }

  complete(): void {
    this.isArriving = false;
  }

  stop(error: ApiError): void {
    this.isArriving = false;
    this.#stop?.(error);
  }

  /** Bytes a second since it began. */
  speed(now: number): number {
    return this.bytes / Math.max(1, now - this.startedAt);
  }

  isTooSlow(now: number, { idleMs, graceMs, minBytesPerSecond }: BodyLimits): boolean {
    if (now - this.#lastAt >= idleMs) return true;
    return now - this.startedAt >= graceMs && this.speed(now) * 1000 < minBytesPerSecond;
  }
}

/**
 * Counts the bytes of bodies as they arrive, until their calls end, and stops bodies that are too slow (408). An app has a
 * pool for each entrance; bodies of callers without credentials to the service itself share one pool. A caller has at most
 * a part of a pool. When a pool is full, the slowest arriving body of the
 * caller with the most bytes ends (503), but none of a caller who has proved who sent it.
 */
export class AppBodies {
  readonly #limits: BodyLimits;
  readonly #pools = new Map<string, Pool>();
  readonly #arriving = new Set<Body>();
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: BodyLimits = BODY_LIMITS) {
    this.#limits = limits;
  }

  /** Starts to count a body. `close` ends it, however often it is called. */
  open({ pool: name, owner, caller }: BodyPlace): OpenBody {
    const key = `${name} ${owner}`;
    const pool: Pool = this.#pools.get(key) ?? {
      receiver: owner === null ? 'service' : 'app',
      maxBytes: this.#limits.poolBytes[name],
      bytes: 0,
      callers: new Map(),
      bodies: new Set(),
    };
    this.#pools.set(key, pool);
    const body = new Body(caller, this.#limits.closeMs, (one, bytes) => this.#add(pool, one, bytes));
    pool.bodies.add(body);
    this.#arriving.add(body);
    this.#timer ??= setInterval(() => this.#check(), this.#limits.checkMs).unref();
    return {
      receipt: body,
      prove: () => {
        const isCounted = pool.bodies.has(body);
        if (isCounted) count(pool, body, -body.bytes);
        body.caller = null;
        if (isCounted) count(pool, body, body.bytes);
      },
      close: () => {
        if (!pool.bodies.has(body)) return;
        this.#free(pool, body);
        body.complete();
        this.#arriving.delete(body);
        if (pool.bodies.size === 0) this.#pools.delete(key);
      },
    };
  }

  #add(pool: Pool, body: Body, bytes: number): void {
    // A body that was stopped is not counted again.
    if (!pool.bodies.has(body)) throw poolFull(pool);
    const used = pool.callers.get(body.caller) ?? 0;
    const share = pool.maxBytes * this.#limits.callerShare;
    if (body.caller !== null && used > body.bytes && used + bytes > share) throw callerFull();
    while (pool.bytes + bytes > pool.maxBytes) {
      const victim = chooseVictim(pool, performance.now());
      if (!victim || victim === body) throw poolFull(pool);
      this.#free(pool, victim);
      victim.stop(poolFull(pool));
    }
    body.bytes += bytes;
    count(pool, body, bytes);
  }

  #free(pool: Pool, body: Body): void {
    count(pool, body, -body.bytes);
    pool.bodies.delete(body);
  }

  #check(): void {
    const now = performance.now();
    for (const body of this.#arriving) {
      if (!body.isArriving) this.#arriving.delete(body);
      else if (body.isTooSlow(now, this.#limits)) body.stop(tooSlow());
    }
    if (this.#arriving.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** Adds bytes of a body to its pool and its caller. */
function count(pool: Pool, { caller }: Body, bytes: number): void {
  const used = (pool.callers.get(caller) ?? 0) + bytes;
  pool.bytes += bytes;
  if (used > 0) pool.callers.set(caller, used);
  else pool.callers.delete(caller);
}

/** A body that is counted. */
export interface OpenBody {
  receipt: BodyReceipt;
  /** Counts it no longer to its caller, who has proved who sent it. */
  prove(): void;
  close(): void;
}

/** Returns the slowest body that arrives of the caller with the most bytes. Proven bodies are not stopped for others. */
function chooseVictim({ bodies }: Pool, now: number): Body | undefined {
  const arriving = [...bodies].filter((body) => body.isArriving && body.caller !== null);
  const bytes = Map.groupBy(arriving, ({ caller }) => caller);
  const sizeOf = (list: readonly Body[]) => list.reduce((sum, body) => sum + body.bytes, 0);
  const [most] = [...bytes.values()].toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return most?.toSorted((a, b) => a.speed(now) - b.speed(now))[0];
}

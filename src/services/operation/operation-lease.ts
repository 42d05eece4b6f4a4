import { cancelled } from '../../core/errors.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';
import {
  heartbeat,
  readLeaseState,
  reportProgress,
  Superseded,
  type Claim,
  type Progress,
  type LeaseState,
} from './operation-repository.ts';

/** Progress is written at most this often, in milliseconds. */
const WRITE_EVERY = 100;

/** One worker's hand on one piece of work: its heartbeat, its progress, and the signal to stop. */
export interface Lease {
  /** Aborts with the `cancelled` fault, or with `Superseded` after a takeover. */
  signal: AbortSignal;
  /** Tells how far the work is. Cheap: what comes faster than ten times a second is merged. */
  progress(update: Progress): void;
  /** Stops the work with a reason of the holder's own. */
  abort(reason: Error): void;
  /** Lets go. No write of this hold follows. */
  release(): Promise<void>;
}

/** Holds a claimed piece of work until `release`, with a heartbeat every `intervalMs` milliseconds. */
export function acquireLease(platform: Platform, claim: Claim, intervalMs: number): Lease {
  const controller = new AbortController();
  const obey = (standing: LeaseState) => {
    if (standing === 'cancelled') controller.abort(cancelled());
    if (standing === 'lost') controller.abort(new Superseded());
  };
  // A database that is away for a moment stops nothing: the next beat finds out whose the work is.
  const attempt = (ask: () => Promise<LeaseState>) =>
    ask().then(
      (standing) => {
        if (!released) obey(standing);
      },
      (error) => platform.log.warn({ err: error, operation: claim.workId }, 'A heartbeat failed'),
    );
  let released = false;
  const writer = new ProgressWriter((update) => attempt(() => reportProgress(platform, claim, update)));
  const listening = [
    platform.notifications.on(CHANNELS.cancel, (workId) => {
      if (workId === claim.workId) void attempt(() => readLeaseState(platform, claim));
    }),
    platform.notifications.onResync(() => void attempt(() => readLeaseState(platform, claim))),
  ];
  const timer = setInterval(() => void attempt(() => heartbeat(platform, claim)), intervalMs);
  // A cancellation may have been told before anybody listened here.
  void attempt(() => readLeaseState(platform, claim));

  return {
    signal: controller.signal,
    progress: (update) => writer.tell(update),
    abort: (reason) => controller.abort(reason),
    async release() {
      released = true;
      clearInterval(timer);
      for (const off of listening) off();
      await writer.close();
    },
  };
}

/** Merges what is told and writes it one at a time, at most ten times a second. */
class ProgressWriter {
  readonly #write: (update: Progress) => Promise<void>;
  #told: Progress | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #last = 0;
  #closed = false;

  constructor(write: (update: Progress) => Promise<void>) {
    this.#write = write;
  }

  tell(update: Progress): void {
    this.#told = { ...this.#told, ...update };
    this.#schedule();
  }

  #schedule(): void {
    if (this.#closed || this.#timer || this.#writing || !this.#told) return;
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, this.#last + WRITE_EVERY - Date.now()));
  }

  #flush(): void {
    this.#timer = null;
    const update = this.#told!;
    this.#told = null;
    this.#last = Date.now();
    this.#writing = this.#write(update).finally(() => {
      this.#writing = null;
      this.#schedule();
    });
  }

  /** Writes what is still untold, without waiting for its turn. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#writing;
    if (this.#told) this.#flush();
    await this.#writing;
  }
}

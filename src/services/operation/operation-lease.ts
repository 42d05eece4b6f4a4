import { isDeepStrictEqual } from 'node:util';
import { cancelled } from '../../core/errors.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';
import {
  sendHeartbeat,
  readLeaseState,
  reportProgress,
  Superseded,
  type Attempt,
  type Progress,
  type LeaseState,
} from './operation-repository.ts';

/** Minimum time between two writes of progress. */
const PROGRESS_INTERVAL_MS = 100;

/** One worker's lease on one attempt: its heartbeat, its progress, and the signal to stop. */
export interface Lease {
  /** Aborts with CANCELLED, or with `Superseded` after a takeover. */
  signal: AbortSignal;
  /** Reports progress. Updates that come faster than ten times a second are merged. */
  progress(update: Progress): void;
  /** Aborts the signal with another reason. */
  abort(reason: Error): void;
  /** Ends the heartbeat. After it, the lease writes nothing more. */
  release(): Promise<void>;
}

/** Holds the lease on an attempt until `release`, with a heartbeat every `intervalMs` milliseconds. */
export function acquireLease(platform: Platform, attempt: Attempt, intervalMs: number): Lease {
  const controller = new AbortController();
  const { workId } = attempt;
  let isReleased = false;
  const applyState = (state: LeaseState) => {
    if (isReleased) return;
    if (state === 'cancelled') controller.abort(cancelled());
    if (state === 'lost') controller.abort(new Superseded());
  };
  // A database that is briefly unavailable stops nothing: the next heartbeat reads the state again.
  const check = (readState: () => Promise<LeaseState>) =>
    readState().then(applyState, (error) => platform.log.warn({ err: error, operation: workId }, 'A heartbeat failed'));
  const checkState = () => void check(() => readLeaseState(platform, attempt));

  const writer = new ProgressWriter((update) => check(() => reportProgress(platform, attempt, update)));
  const unsubscribes = [
    platform.notifications.on(CHANNELS.cancel, (id) => {
      if (id === workId) checkState();
    }),
    platform.notifications.onResync(checkState),
  ];
  const timer = setInterval(() => void check(() => sendHeartbeat(platform, attempt)), intervalMs);
  // The operation may have been cancelled before the subscription.
  checkState();

  return {
    signal: controller.signal,
    progress: (update) => writer.add(update),
    abort: (reason) => controller.abort(reason),
    async release() {
      isReleased = true;
      clearInterval(timer);
      for (const unsubscribe of unsubscribes) unsubscribe();
      await writer.close();
    },
  };
}

/** Merges updates and writes one at a time, at most every `PROGRESS_INTERVAL_MS`. */
class ProgressWriter {
  readonly #write: (update: Progress) => Promise<void>;
  #pending: Progress | null = null;
  /** The last written progress, so that an update without a change sends no event. */
  #written: Progress = {};
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #lastWriteAt = 0;
  #isClosed = false;

  constructor(write: (update: Progress) => Promise<void>) {
    this.#write = write;
  }

  add(update: Progress): void {
    const next = { ...this.#pending, ...update };
    if (isDeepStrictEqual({ ...this.#written, ...next }, this.#written)) return;
    this.#pending = next;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer || this.#writing || !this.#pending) return;
    const delay = Math.max(0, this.#lastWriteAt + PROGRESS_INTERVAL_MS - Date.now());
    this.#timer = setTimeout(() => this.#flush(), delay);
  }

  #flush(): void {
    this.#timer = null;
    const update = this.#pending!;
    this.#pending = null;
    this.#written = { ...this.#written, ...update };
    this.#lastWriteAt = Date.now();
    this.#writing = this.#write(update).finally(() => {
      this.#writing = null;
      this.#schedule();
    });
  }

  /** Writes pending progress immediately. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#writing;
    if (this.#pending) this.#flush();
    await this.#writing;
  }
}

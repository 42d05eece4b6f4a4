import { ApiError } from '../../core/errors.ts';
import { CHANNELS, isFinal } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { readRecord, type OperationRecord } from './operation-record.ts';

/** Notifications may get lost on the way; nobody waits longer than this for the next look, in milliseconds. */
const SAFETY_NET = 15_000;

/**
 * Follows an operation of the caller: its current state, then every change of its state and percentages as they are written (at most ten a second),
 * the final state last. It does not matter which process does the work: notifications carry the id, the row is read again, also after a reconnect.
 * Ends early, without an error, when `signal` aborts.
 */
export function events(
  platform: Platform,
  viewer: Caller,
  idOrAlias: string,
  signal?: AbortSignal,
): AsyncGenerator<OperationRecord, void, undefined> {
  const left = new AbortController();
  const told = follow(platform, viewer, idOrAlias, signal ? AbortSignal.any([signal, left.signal]) : left.signal);
  // A generator that waits would only leave after the next change.
  const leave = told.return.bind(told);
  told.return = (value) => {
    left.abort();
    return leave(value);
  };
  return told;
}

type Caller = Pick<Viewer, 'tenantId' | 'userId'>;

async function* follow(
  platform: Platform,
  viewer: Caller,
  idOrAlias: string,
  signal: AbortSignal,
): AsyncGenerator<OperationRecord, void, undefined> {
  const query = <R extends Record<string, unknown>>(statement: Parameters<typeof platform.system.query>[0]) =>
    platform.database.query<R>(viewer.tenantId, statement);
  let last = await readRecord(query, viewer, idOrAlias);
  const bell = new Bell();
  const stop = [
    platform.notifications.on(CHANNELS.operation, (id) => {
      if (id === last.id) bell.ring();
    }),
    platform.notifications.onResync(() => bell.ring()),
  ];
  const abort = () => bell.ring();
  signal.addEventListener('abort', abort);
  try {
    yield last;
    // It may have changed between the first look and the listening, so the second look is at once.
    bell.ring();
    while (!isFinal(last.status)) {
      await bell.rung(SAFETY_NET);
      if (signal.aborted) return;
      const next = await readRecord(query, viewer, last.id).catch(unlessAway);
      if (!next || next.sequence === last.sequence) continue;
      if (last.status === 'queued' && next.startedAt && isFinal(next.status)) yield running(next);
      yield (last = next);
    }
  } finally {
    signal.removeEventListener('abort', abort);
    for (const off of stop) off();
  }
}

/** Postgres that restarts ends no subscription: after the reconnect the row is read again. */
function unlessAway(error: unknown): null {
  if (error instanceof ApiError && error.status === 503) return null;
  throw error;
}

/** The state that a quick operation had between two looks. */
const running = (final: OperationRecord): OperationRecord => ({
  ...final,
  status: 'running',
  percent: null,
  result: null,
  error: null,
  finishedAt: null,
  sequence: final.sequence - 1,
});

/** Remembers that it was rung until somebody looked. */
class Bell {
  #rung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  async rung(longest: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, longest);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = null;
    this.#rung = false;
  }
}

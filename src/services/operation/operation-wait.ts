import type { Context } from '../../core/context.ts';
import { cancelled, ApiError, type ErrorCode } from '../../core/errors.ts';
import { isFinal, type OperationFailure, CHANNELS, type OperationStatus } from '../../core/operations.ts';
import type { Transaction, Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { type OperationRecord, readRecord } from './operation-record.ts';
import { get } from './operation.ts';

/**
 * Waits for an operation of the caller and returns its finished record. Throws the operation's failure with its own
 * status, code and message, unless it has a result; for a cancelled one CANCELLED or the refusal of its callers. A
 * caller who disconnects stops waiting; the operation continues. `onChange` gets every state.
 */
export async function wait(
  { platform, viewer, request }: Pick<Context, 'platform' | 'viewer' | 'request'>,
  id: string,
  onChange?: (record: OperationRecord) => void,
): Promise<OperationRecord> {
  let last: OperationRecord | undefined;
  for await (const record of followOperation(platform, viewer, id, request.signal)) {
    last = record;
    onChange?.(record);
  }
  if (!last || !isFinal(last.status)) throw request.signal.reason;
  if (last.status === 'cancelled') throw last.error ? toError(last.error) : cancelled();
  if (last.status === 'failed' && last.result === null) throw toError(last.error!);
  return last;
}

const toError = ({ statusCode, code, message, validation }: OperationFailure): ApiError =>
  new ApiError(statusCode, code as ErrorCode, message, validation && { validation });

/** Starts an operation in a transaction of its own; `start` returns its id. Returns its record, finished if `waits`. */
export async function startInTransaction(
  ctx: Context,
  waits: boolean,
  start: (tx: Transaction) => Promise<string>,
): Promise<OperationRecord> {
  const id = await ctx.transaction(start);
  return waits ? wait(ctx, id) : get(ctx, id);
}

/** Time after which the record is read again without a notification, as notifications may be lost. */
const MAX_SILENCE_MS = 15_000;

type OperationCaller = Pick<Viewer, 'tenantId' | 'userId'>;

/**
 * Follows an operation of the caller: yields its current state, then every change of state and progress as it is
 * written (at most ten a second), and the final state last. It works for operations that run in any process, and across
 * reconnects to Postgres. Ends early, without an error, when `signal` aborts. Throws NOT_FOUND for operations of other
 * users. See docs/contract/operations.md#progress.
 */
export function followOperation(
  platform: Platform,
  viewer: OperationCaller,
  idOrAlias: string,
  signal?: AbortSignal,
): AsyncGenerator<OperationRecord, void, undefined> {
  const query = <R extends Record<string, unknown>>(statement: Parameters<typeof platform.system.query>[0]) =>
    platform.database.query<R>(viewer.tenantId, statement);
  const followed: Followed<OperationRecord> = {
    read: (last) => readRecord(query, viewer, last?.id ?? idOrAlias),
    operationOf: ({ id }) => id,
    between: (last, next) =>
      last.status === 'queued' && next.startedAt && isFinal(next.status) ? runningStateOf(next) : null,
  };
  return followChanges(platform, followed, signal);
}

/** A record that changes with an operation. */
interface Followed<R extends { sequence: number; status: OperationStatus }> {
  /** Reads the record; `last` is what the last read returned. `sequence` increases with every change. */
  read(last?: R): Promise<R>;
  /** Returns the id of the operation. */
  operationOf(record: R): string | null;
  /** Returns a state that was missed between two reads, null for none. */
  between?(last: R, next: R): R | null;
}

/**
 * Yields a record that changes with an operation, then what it is after every change, up to the final state. Ends early,
 * without an error, when `signal` aborts.
 */
export function followChanges<R extends { sequence: number; status: OperationStatus }>(
  platform: Platform,
  followed: Followed<R>,
  signal?: AbortSignal,
): AsyncGenerator<R, void, undefined> {
  const ended = new AbortController();
  const stopSignal = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
  const records = readChanges(platform, followed, stopSignal);
  // A generator that waits would return only after the next change.
  const end = records.return.bind(records);
  records.return = (value) => {
    ended.abort();
    return end(value);
  };
  return records;
}

async function* readChanges<R extends { sequence: number; status: OperationStatus }>(
  platform: Platform,
  followed: Followed<R>,
  signal: AbortSignal,
): AsyncGenerator<R, void, undefined> {
  let last = await followed.read();
  const wakeup = new Wakeup();
  const unsubscribes = [
    platform.notifications.on(CHANNELS.operation, (id) => {
      if (id === followed.operationOf(last)) wakeup.wake();
    }),
    platform.notifications.onResync(() => wakeup.wake()),
  ];
  const onAbort = () => wakeup.wake();
  signal.addEventListener('abort', onAbort);
  try {
    yield last;
    // The record may have changed before the subscription, so it is read again immediately.
    wakeup.wake();
    while (!isFinal(last.status)) {
      await wakeup.wait(MAX_SILENCE_MS);
      if (signal.aborted) return;
      const next = await followed.read(last).catch(ignoreUnavailable);
      if (!next) continue;
      const former = last;
      last = next;
      if (next.sequence === former.sequence) continue;
      const missed = followed.between?.(former, next);
      if (missed) yield missed;
      yield next;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const unsubscribe of unsubscribes) unsubscribe();
  }
}

/** Returns null for 503, as the record is read again after the reconnect. Throws all other errors. */
function ignoreUnavailable(error: unknown): null {
  if (error instanceof ApiError && error.status === 503) return null;
  throw error;
}

/** Returns the running state that a quick operation had between two reads. */
const runningStateOf = (final: OperationRecord): OperationRecord => ({
  ...final,
  status: 'running',
  percent: null,
  result: null,
  error: null,
  finishedAt: null,
  sequence: final.sequence - 1,
});

/** A signal that is remembered until the next wait. */
class Wakeup {
  #isWoken = false;
  #resume: (() => void) | null = null;

  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  /**
   * Waits until `wake` is called, but at most `timeoutMs`. Returns immediately if it was called since the last wait.
   */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#resume = null;
    this.#isWoken = false;
  }
}

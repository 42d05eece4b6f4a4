import type { ApiError } from '../core/errors.ts';
import type { OperationFailure, OperationName } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import type { Postponement } from '../services/operation/operation-postpone.ts';
import type { Claim, Progress } from '../services/operation/operation-repository.ts';
import type { CheckedCallers } from './caller-check.ts';
import type { OperationResults } from './operation-results.ts';

/** A claimed work item while its handler runs. */
export interface RunningClaim<N extends OperationName = OperationName> extends Claim<N> {
  /** Aborts when the caller cancels, another worker takes over or this worker shuts down. */
  signal: AbortSignal;
  progress(update: Progress): void;
}

/** The prepared result of a handler. Nothing of it is visible before `publish`. */
export interface Prepared<N extends OperationName = OperationName> {
  /**
   * Publishes the result and returns it, in the transaction that records the operation as succeeded. It runs only while
   * this attempt is the current one, which stays so until the commit.
   */
  publish(tx: Transaction): Promise<OperationResults[N]>;
  /** Why the operation is recorded as failed although it has a result, e.g. a run of a job with a failed action. */
  failure?: OperationFailure;
  /** Warnings for the caller, e.g. of changed values. They become the `message` of the finished operation. */
  warnings?: string[];
  /** Releases locks, processes and files, whether published or not. Never throws. */
  release?(): Promise<void>;
}

/** Runs one kind of operation. */
export interface Handler<N extends OperationName = OperationName> {
  /**
   * Whether the operation is retried when its worker dies; `once` if its input may crash workers; `resumes` if it
   * continues where the last attempt ended. Otherwise it is recorded as failed.
   */
  takeover: boolean | 'once' | 'resumes';
  /** Prepares the result. Throws an `ApiError`, which the caller gets, or `Interrupted`. */
  run(job: RunningClaim<N>, platform: Platform): Promise<Prepared<N>>;
  /** Checks the callers before an attempt and before its outcome is recorded. Default: all are accepted. */
  checkCallers?(platform: Platform, claim: Claim): Promise<CheckedCallers>;
  /** Records a failure where users see it, in the transaction that records it. Not called for cancellations (`OperationEnd`). */
  onFailure?(claim: Claim<N>, failure: OperationFailure, tx: Transaction): Promise<void>;
}

export type Handlers = { [N in OperationName]?: Handler<N> };

/**
 * Thrown by a handler, or set as the abort reason of its signal, when something other than the operation itself
 * interrupted it. The operation is retried where `takeover` allows.
 */
export class Interrupted extends Error {}

/** The callers no longer have the right to the operation. It is recorded as cancelled, with this error. */
export class CallersRefused extends Error {
  readonly error: ApiError;

  constructor(error: ApiError) {
    super(error.message);
    this.error = error;
  }
}

/**
 * Thrown by a handler whose next attempt begins later. Until then the operation is queued and takes no place. It does not
 * count to the attempts of a takeover.
 */
export class Postponed extends Error {
  readonly postponement: Postponement;

  constructor(postponement: Postponement) {
    super('The operation continues later');
    this.postponement = postponement;
  }
}

/** Limit that ends the retries of an operation whose worker dies each time. */
const MAX_ATTEMPTS = 3;

/** Limit for an operation whose attempts each do a part. Its handler ends it sooner if attempts do not progress. */
const MAX_RESUMING_ATTEMPTS = 100;

/** Returns how often an operation is tried if its worker dies each time. */
export function maxAttemptsOf(takeover: Handler['takeover'] = false): number {
  if (takeover === 'once') return 2;
  if (takeover === 'resumes') return MAX_RESUMING_ATTEMPTS;
  return takeover ? MAX_ATTEMPTS : 1;
}

/** The failure of an operation whose worker died and that is not retried. */
export const WORKER_DIED: OperationFailure = {
  statusCode: 500,
  code: 'INTERNAL',
  message: 'The worker process ended before the operation was done',
};

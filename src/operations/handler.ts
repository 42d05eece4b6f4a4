import type { OperationFailure, OperationName } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import type { Claim, Progress } from '../services/operation/operation-repository.ts';

/** A piece of work on its way through a handler. */
export interface Job extends Claim {
  /** Aborts when the caller cancelled, another worker took over or this one shuts down. */
  signal: AbortSignal;
  progress(update: Progress): void;
}

/** What a handler prepared. Nothing of it is visible before `publish`. */
export interface Prepared {
  /**
   * Makes it visible and answers the operation's result, in the transaction that also records the operation as succeeded. It is called only while this
   * attempt is the current one, and keeps that until the commit.
   */
  publish(tx: Transaction): Promise<unknown>;
  /** Lets go of what the handler held, whether published or not. Never throws. */
  release?(): Promise<void>;
}

/** Carries out one kind of operation. */
export interface Handler {
  /** Whether it starts again elsewhere when its worker dies; otherwise it is recorded failed. */
  takeover: boolean;
  run(job: Job, platform: Platform): Promise<Prepared>;
  /** Notes a failure where people look for it, in the transaction that records it. Not called for cancellations. */
  failed?(claim: Claim, failure: OperationFailure, tx: Transaction): Promise<void>;
  /** Cleans up after work that was cancelled while it ran, in the transaction that records it. */
  cancelled?(claim: Claim, tx: Transaction): Promise<void>;
}

export type Handlers = Partial<Record<OperationName, Handler>>;

/** Thrown by a handler, or given to it as a reason to stop, when it was interrupted by no fault of the work: it starts again where `takeover` allows. */
export class Interrupted extends Error {}

/** How often work is begun at most: work that ends its worker each time must not do so for ever. */
export const MAX_ATTEMPTS = 3;

/** The failure of work whose worker died and that does not start again. */
export const DIED: OperationFailure = {
  statusCode: 500,
  code: 'INTERNAL',
  message: 'The process that did the work ended before it was done',
};

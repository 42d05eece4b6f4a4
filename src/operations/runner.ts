import { setTimeout } from 'node:timers/promises';
import type { PgBossQueue } from '../adapters/queue/pg-boss.ts';
import { DatabaseUnavailable, retryWhileUnavailable } from '../core/database-unavailable.ts';
import { cancelled, ApiError } from '../core/errors.ts';
import { observeOperation } from '../core/metrics.ts';
import { CHANNELS, type OperationName, type QueuedWork } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { failCurrentSpan, spanCode, traced } from '../core/tracing.ts';
import { acquireLease, type Lease } from '../services/operation/operation-lease.ts';
import {
  claimWork,
  failureOf,
  finish,
  lockLease,
  Superseded,
  type Claim,
  type Outcome,
} from '../services/operation/operation-repository.ts';
import { checkStorage } from '../services/resource/storage-limit.ts';
import { CallersRefused, Interrupted, Postponed, type Handlers, type RunningClaim, type Prepared } from './handler.ts';
import { queueLimitsOf } from './queue-limits.ts';
import { endCancelledWaits, postponeOrCancel, recordOutcome, retryOrFail } from './record-outcome.ts';

/** Operations that start although the storage of their tenant is used up: migrations may delete. All others store more. */
const WORKS_WHEN_FULL: ReadonlySet<OperationName> = new Set(['app.migrate']);

/** Times in milliseconds. */
export interface RunnerOptions {
  /** Pause between two heartbeats. */
  heartbeat: number;
  /** Time for which a shutdown waits for running operations before it requeues them. */
  shutdownTimeout: number;
}

/** Runs queued operations in this process. */
interface Runner {
  /** Stops claiming work, waits for running operations, and requeues those that do not end in time. */
  stop(): Promise<void>;
}

/**
 * Starts to run operations from the queue: at most `WORKER_CONCURRENCY` concurrently, and half of them for one tenant.
 * Runs of jobs, renderings, syncs, images and runs of agents have limits of their own. See `queueLimitsOf`.
 */
export async function startRunner(
  platform: Platform,
  queue: PgBossQueue,
  handlers: Handlers,
  options: RunnerOptions,
): Promise<Runner> {
  const running = new Map<Promise<void>, Lease>();
  let isStopping = false;

  const runQueued = async (work: QueuedWork) => {
    if (isStopping) return platform.database.transaction(work.tenantId, (tx) => queue.send([work], tx));
    const claim = await claimWork(platform, work);
    if (!claim) return;
    const lease = acquireLease(platform, claim, options.heartbeat);
    const attempt = runAttempt(platform, handlers, claim, lease, () => isStopping).finally(() =>
      running.delete(attempt),
    );
    running.set(attempt, lease);
    await attempt;
  };

  const unsubscribe = platform.notifications.on(CHANNELS.cancel, () => {
    if (isStopping) return;
    endCancelledWaits(platform, handlers).catch((error: unknown) =>
      platform.log.warn({ err: error }, 'Could not end a cancelled operation; the reconciler does'),
    );
  });

  await queue.consume(
    // Work that could not be claimed stays queued; the reconciler sends it again.
    (work) =>
      runQueued(work).catch((error: unknown) =>
        platform.log.warn({ err: error, id: work.workId }, 'Could not take a queued operation'),
      ),
    queueLimitsOf(platform.config.WORKER_CONCURRENCY),
  );

  return {
    async stop() {
      isStopping = true;
      unsubscribe();
      queue.stopConsuming();
      await Promise.race([Promise.all(running.keys()), setTimeout(options.shutdownTimeout, undefined, { ref: false })]);
      for (const lease of running.values()) lease.abort(new Interrupted('The worker shuts down'));
      await Promise.all(running.keys());
    },
  };
}

/** Runs one attempt in a span of its request's trace. Never throws: the reconciler finds what could not be recorded. */
const runAttempt: typeof runClaim = (platform, handlers, claim, lease, isStopping) =>
  traced(
    {
      name: claim.operation,
      kind: 'consumer',
      parent: claim.traceparent,
      attributes: { 'dws.operation.id': claim.workId, 'dws.operation.attempt': claim.attempt },
    },
    () => runClaim(platform, handlers, claim, lease, isStopping),
  );

/** Runs one attempt and records its outcome. */
async function runClaim(
  platform: Platform,
  handlers: Handlers,
  claim: Claim,
  lease: Lease,
  isStopping: () => boolean,
): Promise<void> {
  const log = platform.log.child({ operation: claim.operation, id: claim.workId, attempt: claim.attempt });
  let prepared: Prepared | undefined;
  try {
    prepared = await runHandler(handlers, { ...claim, signal: lease.signal, progress: lease.progress }, platform);
    await lease.release();
    const refusal = await publish(platform, handlers, claim, prepared);
    const failure = prepared.failure ?? (refusal && failureOf(refusal));
    observeOperation(claim.operation, failure ? 'failed' : 'succeeded', claim.startedAt);
    const duration = Date.now() - claim.startedAt.getTime();
    if (failure) log.info({ duration, code: failure.code }, 'An operation failed');
    else log.info({ duration }, 'An operation succeeded');
  } catch (error) {
    await lease.release();
    const reason: unknown = lease.signal.aborted ? lease.signal.reason : error;
    if (!(reason instanceof Postponed)) failCurrentSpan(spanCode(reason));
    const record = recorderOf(platform, handlers, claim, reason, log);
    // Callers that wait get the outcome sooner than from the reconciler.
    await retryWhileUnavailable(record, isStopping).catch((failure) =>
      log.error({ err: failure }, 'Could not record the outcome of an operation'),
    );
  } finally {
    await prepared?.release?.();
  }
}

async function runHandler<N extends OperationName>(
  handlers: Handlers,
  job: RunningClaim<N>,
  platform: Platform,
): Promise<Prepared<N>> {
  const handler = handlers[job.operation];
  if (!handler) throw new Error(`No handler is registered for ${job.operation}`);
  const refusal = (await handler.checkCallers?.(platform, job))?.refusal;
  if (refusal) throw new CallersRefused(refusal);
  // Only once: an operation that has begun ends. Schedules, events and retries start operations without a mutation.
  if (job.attempt === 1 && !WORKS_WHEN_FULL.has(job.operation)) await checkStorage(platform, job.tenantId);
  return handler.run(job, platform);
}

/**
 * Publishes the result and records the outcome in one transaction. Throws unless the attempt is the current one. Returns
 * the refusal of its callers if none of them may see the outcome.
 */
async function publish(
  platform: Platform,
  handlers: Handlers,
  claim: Claim,
  prepared: Prepared,
): Promise<ApiError | undefined> {
  const callers = await handlers[claim.operation]?.checkCallers?.(platform, claim);
  await platform.database.transaction(claim.tenantId, async (tx) => {
    const leaseState = await lockLease(tx, claim);
    if (leaseState === 'lost') throw new Superseded();
    if (leaseState === 'cancelled') throw cancelled();
    const result = await prepared.publish(tx);
    const outcome: Outcome = prepared.failure
      ? { status: 'failed', error: prepared.failure, result }
      : { status: 'succeeded', result, message: prepared.warnings?.join('; ') || null };
    await finish(platform, tx, claim, outcome, callers?.refusals);
  });
  return callers?.refusal;
}

/** Logs why an attempt did not succeed. Returns the function that records the outcome. */
function recorderOf(
  platform: Platform,
  handlers: Handlers,
  claim: Claim,
  reason: unknown,
  log: Platform['log'],
): () => Promise<void> {
  if (reason instanceof Superseded) {
    log.warn('Another attempt took over an operation');
    return async () => {};
  }
  if (reason instanceof ApiError && reason.code === 'CANCELLED')
    return () => recordOutcome(platform, handlers, claim, { status: 'cancelled', error: failureOf(reason) });
  if (reason instanceof CallersRefused) {
    log.info({ code: reason.error.code }, 'The callers of an operation may not have it done any more');
    return () => recordOutcome(platform, handlers, claim, { status: 'cancelled', error: failureOf(reason.error) });
  }
  if (reason instanceof Postponed) return () => postponeOrCancel(platform, handlers, claim, reason);
  if (reason instanceof Interrupted || reason instanceof DatabaseUnavailable) {
    log.warn({ err: reason }, 'An operation was interrupted');
    return () => retryOrFail(platform, handlers, claim);
  }
  if (reason instanceof ApiError) log.info({ code: reason.code }, 'An operation failed');
  else log.error({ err: reason }, 'An operation failed');
  return () => recordOutcome(platform, handlers, claim, { status: 'failed', error: failureOf(reason) });
}

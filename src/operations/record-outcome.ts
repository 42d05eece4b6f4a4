import { cancelled } from '../core/errors.ts';
import { observeOperation } from '../core/metrics.ts';
import { endCancelled } from '../core/operation-ends.ts';
import type { OperationName } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { postpone } from '../services/operation/operation-postpone.ts';
import {
  claimWork,
  failureOf,
  finish,
  requeue,
  lockLease,
  type Claim,
  type Outcome,
} from '../services/operation/operation-repository.ts';
import { maxAttemptsOf, WORKER_DIED, type Handlers, type Postponed } from './handler.ts';

const CANCELLED = { status: 'cancelled', error: failureOf(cancelled()) } as const;

/**
 * Records the failure or cancellation of an attempt. Does nothing when another attempt has taken over. A cancelled
 * operation is recorded as cancelled even if it also failed.
 */
export async function recordOutcome<N extends OperationName>(
  platform: Platform,
  handlers: Handlers,
  claim: Claim<N>,
  outcome: Exclude<Outcome, { status: 'succeeded' }>,
): Promise<void> {
  const handler = handlers[claim.operation];
  const callers = outcome.status === 'failed' ? await handler?.checkCallers?.(platform, claim) : undefined;
  const recordedStatus = await platform.database.transaction(claim.tenantId, async (tx) => {
    const leaseState = await lockLease(tx, claim);
    if (leaseState === 'lost') return null;
    const recorded = leaseState === 'cancelled' ? CANCELLED : outcome;
    if (recorded.status === 'failed') await handler?.onFailure?.(claim, recorded.error, tx);
    else await endCancelled(platform, tx, claim);
    await finish(platform, tx, claim, recorded, callers?.refusals);
    return recorded.status;
  });
  if (recordedStatus) observeOperation(claim.operation, recordedStatus, claim.startedAt);
}

/** Ends an attempt whose operation continues later, or records the operation as cancelled if it was. */
export async function postponeOrCancel(
  platform: Platform,
  handlers: Handlers,
  claim: Claim,
  { postponement }: Postponed,
): Promise<void> {
  if ((await postpone(platform, claim, postponement)) === 'cancelled')
    await recordOutcome(platform, handlers, claim, CANCELLED);
}

/**
 * Ends the operations that were cancelled while they waited for their next attempt, because their resource changed hands.
 * No worker has them, and the queue delivers them only at the time of that attempt.
 */
export async function endCancelledWaits(platform: Platform, handlers: Handlers): Promise<void> {
  const waits = await platform.system.query<Pick<Claim, 'workId' | 'tenantId'> & Record<string, unknown>>({
    text: `
      select distinct work_id as "workId", tenant_id as "tenantId"
      from dws.operation
      where finished_at is null and status = 'queued' and cancelled_at is not null and next_attempt_at is not null`,
  });
  for (const wait of waits) {
    const claim = await claimWork(platform, wait);
    if (claim) await recordOutcome(platform, handlers, claim, CANCELLED);
  }
}

/** Queues an operation without a worker again where its handler allows it, else records it as failed. */
export async function retryOrFail(platform: Platform, handlers: Handlers, claim: Claim): Promise<void> {
  const canRetry = claim.attempt < maxAttemptsOf(handlers[claim.operation]?.takeover);
  if (canRetry && (await requeue(platform, claim)) !== 'cancelled') return;
  await recordOutcome(platform, handlers, claim, { status: 'failed', error: WORKER_DIED });
}

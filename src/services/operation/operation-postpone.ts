import type { Platform, Transaction } from '../../core/platform.ts';
import { lockLease, type Attempt, type LeaseState } from './operation-repository.ts';

/** The time at which an operation continues. */
export interface Postponement {
  /** Milliseconds until then. */
  delayMs: number;
  /** Stores the state that the next attempt needs, in the transaction that ends this one. */
  save(tx: Transaction, nextAttemptAt: Date): Promise<void>;
}

/**
 * Returns the work item to the queue for a later time, if its lease is held: until then it takes no place in a worker.
 * Returns the state of the lease.
 */
export function postpone(platform: Platform, attempt: Attempt, { delayMs, save }: Postponement): Promise<LeaseState> {
  const { tenantId, workId, userId, operation } = attempt;
  return platform.database.transaction(tenantId, async (tx) => {
    const leaseState = await lockLease(tx, attempt);
    if (leaseState !== 'held') return leaseState;
    // Whole milliseconds, as the queue has them, so that it is not delivered before its time.
    const [row] = await tx.query<{ nextAttemptAt: Date }>({
      text: `update dws.operation
        set status = 'queued', heartbeat_at = null, updated_at = now(), sequence = sequence + 1,
          next_attempt_at = date_trunc('milliseconds', now() + $3 * interval '1 ms')
        where tenant_id = $1 and work_id = $2 and finished_at is null
        returning next_attempt_at as "nextAttemptAt"`,
      values: [tenantId, workId, delayMs],
    });
    const { nextAttemptAt } = row!;
    await save(tx, nextAttemptAt);
    await platform.queue.send([{ workId, tenantId, userId, operation, startAfter: nextAttemptAt }], tx);
    return leaseState;
  });
}

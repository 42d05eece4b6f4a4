import type { Query } from '../../core/database.ts';
import { lockKey } from '../../core/locks.ts';
import type { OperationName } from '../../core/operations.ts';
import type { OperationQueue, Transaction } from '../../core/platform.ts';

/**
 * Locks a concurrency key until the transaction ends. Starting, claiming and finishing an operation with a key take
 * this lock before they lock any row of it.
 */
export function lockConcurrencyKey(tx: Pick<Transaction, 'execute'>, concurrencyKey: string): void {
  lockKey(tx, `dws.concurrency_key:${concurrencyKey}`);
}

/**
 * Locks the starts of a user's operations until the transaction ends, after the locks that precede it in the order of
 * `lockKey`.
 */
export function lockUser(tx: Pick<Transaction, 'execute'>, userId: string): void {
  lockKey(tx, `dws.operations_of:${userId}`);
}

/**
 * Sends the oldest waiting operation with a concurrency key to the queue. Call it in the transaction that finishes the
 * operation before it, under the key's lock.
 */
export async function sendNext(
  queue: OperationQueue,
  tx: { query: Query },
  tenantId: string,
  concurrencyKey: string,
): Promise<void> {
  const [next] = await tx.query<{
    workId: string;
    userId: string;
    operation: OperationName;
    status: string;
    startAfter: Date | null;
  }>({
    text: `select work_id as "workId", user_id as "userId", operation, status, next_attempt_at as "startAfter"
      from dws.operation
      where tenant_id = $1 and concurrency_key = $2 and finished_at is null
      order by work_id, id
      limit 1`,
    values: [tenantId, concurrencyKey],
  });
  if (next?.status !== 'queued') return;
  const { workId, userId, operation, startAfter } = next;
  await queue.send([{ workId, tenantId, userId, operation, ...(startAfter && { startAfter }) }], tx);
}

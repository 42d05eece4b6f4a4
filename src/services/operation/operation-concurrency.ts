import type { Query } from '../../core/database.ts';
import type { OperationQueue } from '../../core/platform.ts';

/** Serialises what decides which operation of a concurrency key runs: starting, claiming and ending one. Taken before any of their rows is locked. */
export async function lockConcurrencyKey(tx: { query: Query }, concurrencyKey: string): Promise<void> {
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended('dws.concurrency_key:' || $1, 0))`,
    values: [concurrencyKey],
  });
}

/** Starts the work that has waited longest for a concurrency key. Call it in the transaction that ends the work before it, under the key's lock. */
export async function startNext(
  queue: OperationQueue,
  tx: { query: Query },
  tenantId: string,
  concurrencyKey: string,
): Promise<void> {
  const [next] = await tx.query<{ workId: string; status: string }>({
    text: `select work_id as "workId", status from dws.operation where tenant_id = $1 and concurrency_key = $2 and finished_at is null order by work_id limit 1`,
    values: [tenantId, concurrencyKey],
  });
  if (next?.status === 'queued') await queue.send({ workId: next.workId, tenantId }, tx);
}

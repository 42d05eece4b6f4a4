import type { Query } from '../../core/database.ts';
import type { OperationQueue } from '../../core/platform.ts';

/** Serialises what decides about a lane: starting, claiming and ending its operations. Taken before any row of the lane is locked. */
export async function lockLane(tx: { query: Query }, lane: string): Promise<void> {
  await tx.query({ text: `select pg_advisory_xact_lock(hashtextextended('dws.lane:' || $1, 0))`, values: [lane] });
}

/** Wakes the work that waits longest in a lane, after what was before it ended. Call it in the transaction that ends it, under the lane's lock. */
export async function advance(
  queue: OperationQueue,
  tx: { query: Query },
  tenantId: string,
  lane: string,
): Promise<void> {
  const [next] = await tx.query<{ workId: string; status: string }>({
    text: `select work_id as "workId", status from dws.operation where tenant_id = $1 and lane = $2 and finished_at is null order by work_id limit 1`,
    values: [tenantId, lane],
  });
  if (next?.status === 'queued') await queue.send({ workId: next.workId, tenantId }, tx);
}

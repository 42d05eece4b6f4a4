import type { Context } from '../../core/context.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { Transaction } from '../../core/platform.ts';
import { collectActivityEvents } from './activity-events.ts';
import { storeActivities } from './activity.ts';
import { actorOf, buildAuditStatement, findCreatedId } from './audit.ts';

/**
 * The concurrent transactions of callers, fewer than the pool has connections. So transactions that wait for locks
 * leave connections for reads and for other callers.
 */
const TRANSACTION_GATE = FairGate.shared({ places: 8, maxWaiting: 1000, taskNoun: 'changes' });

/**
 * Runs a unit of work of a viewer in a transaction. Its changes of resources are stored as activities, and its mutation
 * as an audit event, in the same transaction. If a mutation has several units of work, the first one stores the audit
 * event. With an idempotency key, the key is stored in the same transaction, too. Throws like `FairGate`.
 */
export const runUnitOfWork = <T>(
  ctx: Pick<Context, 'platform' | 'viewer' | 'request'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> => {
  const { mutation, keyed } = ctx.request;
  const run = (inner: typeof work): Promise<T> =>
    TRANSACTION_GATE.run(ctx.viewer, ctx.request.signal, () => runTransaction(ctx, inner));
  // The fields below a mutation may have transactions, too.
  return keyed && mutation ? keyed.transaction(run, work) : run(work);
};

async function runTransaction<T>(
  { platform, viewer, request }: Pick<Context, 'platform' | 'viewer' | 'request'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { mutation } = request;
  let recordsMutation = false;
  try {
    return await platform.database.transaction(viewer.tenantId, async (tx) => {
      const result = await work(tx);
      const changes = tx.changes();
      const events = await collectActivityEvents(viewer, tx, changes);
      storeActivities(tx, viewer, events);
      if (mutation && (recordsMutation || !mutation.recorded)) {
        mutation.recorded = recordsMutation = true;
        const resourceId = mutation.resourceId ?? findCreatedId(mutation, changes);
        tx.execute(buildAuditStatement(request, { ...mutation, resourceId }, actorOf(viewer), 'succeeded'));
      }
      return result;
    });
  } catch (error) {
    if (mutation && recordsMutation) mutation.recorded = false;
    throw error;
  }
}

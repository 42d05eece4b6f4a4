import type { ActivityEvent } from '../../core/activity.ts';
import type { Context } from '../../core/context.ts';
import type { Statement } from '../../core/database.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { Transaction } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import { collectActivityEvents } from './activity-events.ts';
import { activityStatement } from './activity.ts';
import { actorOf, AUDIT_PARAMETER_COUNT, buildAuditStatement, findCreatedId } from './audit.ts';

/**
 * The concurrent transactions of callers, fewer than the pool has connections. So those that wait for locks leave
 * connections for reads and for other callers.
 */
const TRANSACTION_GATE = FairGate.shared({ places: 8, maxWaiting: 1000, taskNoun: 'changes' });

/**
 * Runs a unit of work of a viewer in a transaction. Its changes of resources are stored as activities, and its mutation
 * as an audit event, in the same transaction. If a mutation has several units of work, the first one stores the audit
 * event. Throws like `FairGate`.
 */
export const runUnitOfWork = <T>(
  ctx: Pick<Context, 'platform' | 'viewer' | 'request'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> => TRANSACTION_GATE.run(ctx.viewer, ctx.request.signal, () => runTransaction(ctx, work));

async function runTransaction<T>(
  { platform, viewer, request }: Pick<Context, 'platform' | 'viewer' | 'request'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { mutation } = request;
  let recordsMutation = false;
  try {
    return await platform.database.transaction(viewer.tenantId, async (tx) => {
      const result = await work(tx);
      await tx.em.flush();
      const events = await collectActivityEvents(viewer, tx);
      if (mutation && !mutation.recorded) {
        mutation.recorded = recordsMutation = true;
        mutation.resourceId ??= findCreatedId(mutation, tx.changes());
        const audit = buildAuditStatement(request, mutation, actorOf(viewer), 'succeeded');
        await tx.query(events.length > 0 ? withActivities(audit, viewer, events) : audit);
      } else if (events.length > 0) await tx.query(activityStatement(viewer, events));
      return result;
    });
  } catch (error) {
    if (mutation && recordsMutation) mutation.recorded = false;
    throw error;
  }
}

/** Returns one statement that stores both the audit event and the activities. */
function withActivities(audit: Statement, viewer: Viewer, events: readonly ActivityEvent[]): Statement {
  const activities = activityStatement(viewer, events, AUDIT_PARAMETER_COUNT + 1);
  return {
    text: `with activities as (${activities.text}) ${audit.text}`,
    values: [...audit.values!, ...activities.values!],
  };
}

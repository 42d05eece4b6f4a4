import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';
import { activityEventsOf } from './activity-events.ts';
import { activityStatement } from './activity.ts';
import { actorOf, AUDIT_PARAMETER_COUNT, buildAuditStatement, findCreatedId } from './audit.ts';

/**
 * A unit of work of a viewer. What it did to resources becomes activities, and the mutation that asked for it an event of the audit log, in the same
 * transaction: none is there without the other, and nobody's service has to think of it. Of several units of work of a mutation the first takes the event.
 */
export async function unitOfWork<T>(
  { platform, viewer, request }: Pick<Context, 'platform' | 'viewer' | 'request'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { mutation } = request;
  let takes = false;
  try {
    return await platform.database.transaction(viewer.tenantId, async (tx) => {
      const result = await work(tx);
      await tx.em.flush();
      const happenings = await activityEventsOf(viewer, tx);
      if (mutation && !mutation.recorded) {
        mutation.recorded = takes = true;
        mutation.resourceId ??= findCreatedId(mutation, tx.changes());
        const { text, values } = buildAuditStatement(request, mutation, actorOf(viewer), 'succeeded');
        const more = happenings.length > 0 ? activityStatement(viewer, happenings, AUDIT_PARAMETER_COUNT + 1) : null;
        await tx.query({
          text: more ? `with noted as (${more.text}) ${text}` : text,
          values: [...values!, ...(more?.values ?? [])],
        });
      } else if (happenings.length > 0) await tx.query(activityStatement(viewer, happenings));
      return result;
    });
  } catch (error) {
    if (mutation && takes) mutation.recorded = false;
    throw error;
  }
}

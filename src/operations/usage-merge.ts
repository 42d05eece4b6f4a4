import { LOCKS } from '../core/locks.ts';
import type { Platform } from '../core/platform.ts';

/** Deletes the parts of totals that have several, from the day `$1` on, and inserts their sums. */
const MERGE = `
  with divided as (
    select tenant_id, day, actor, entity_type, entity_id, resource_type, payer
    from dws.usage_day
    where day >= $1
    group by 1, 2, 3, 4, 5, 6, 7
    having count(*) > 1
  ), taken as (
    delete from dws.usage_day d
    using divided v
    where (d.tenant_id, d.day, d.actor) = (v.tenant_id, v.day, v.actor)
      and (d.entity_type, d.entity_id, d.resource_type) = (v.entity_type, v.entity_id, v.resource_type)
      and d.payer is not distinct from v.payer
    returning d.*
  )
  insert into dws.usage_day
    (tenant_id, day, actor, entity_type, entity_id, resource_type, payer, quantity, credits, events)
  select tenant_id, day, actor, entity_type, entity_id, resource_type, payer, sum(quantity), sum(credits), sum(events)
  from taken
  group by 1, 2, 3, 4, 5, 6, 7`;

/**
 * Merges the parts of the totals of days from `since` on. The sums stay what they are, at every moment and with any
 * number of processes: a row is counted by whichever deletes it. Of several processes one does so at a time.
 */
export async function mergeUsage({ system }: Pick<Platform, 'system'>, since: Date): Promise<void> {
  await system.transaction(async (query) => {
    const [lock] = await query<{ isLocked: boolean }>({
      text: `select pg_try_advisory_xact_lock($1) as "isLocked"`,
      values: [LOCKS.usageMerge],
    });
    if (lock?.isLocked) await query({ text: MERGE, values: [since.toISOString().slice(0, 10)] });
  });
}

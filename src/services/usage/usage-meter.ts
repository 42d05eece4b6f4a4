import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import { creditsOf, type Usage } from '../../core/usage.ts';

/** Appends the events whose keys are new, and adds these, and only these, to the totals of their days. */
const APPEND = `
  with appended as (
    insert into dws.usage_event
      (tenant_id, id, occurred_at, actor, entity_type, entity_id, resource_type, quantity, credits, metadata, key)
    select $1::uuid, u.*
    from unnest(
      $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::numeric[], $9::numeric[],
      $10::jsonb[], $11::text[]
    ) u (id, occurred_at, actor, entity_type, entity_id, resource_type, quantity, credits, metadata, key)
    order by u.key
    on conflict (tenant_id, key) do nothing
    returning *
  )
  insert into dws.usage_day as d
    (tenant_id, day, actor, entity_type, entity_id, resource_type, quantity, credits, events)
  select tenant_id, (occurred_at at time zone 'UTC')::date, actor, entity_type, entity_id, resource_type,
    sum(quantity), sum(credits), count(*)
  from appended
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict (tenant_id, day, actor, entity_type, entity_id, resource_type) do update
  set quantity = d.quantity + excluded.quantity, credits = d.credits + excluded.credits,
    events = d.events + excluded.events`;

/** The transactions that have metered. */
const metered = new WeakSet<object>();

/**
 * Adds usage to the ledger with the next statement of the transaction or its commit. Usage whose key the ledger of the
 * tenant has already adds nothing. `owner` is the viewer, or the tenant alone for work without one.
 *
 * Call it at most once in a transaction, with everything that is metered: the keys are locked in one order and the
 * totals of the days after them, so that transactions never wait for each other in a circle. A second call throws.
 */
export function meter(
  { tenantId }: { tenantId: string },
  tx: Pick<Transaction, 'execute'>,
  usage: readonly Usage[],
): void {
  if (usage.length === 0) return;
  if (metered.has(tx)) throw new Error('This transaction has metered already: meter everything with one call');
  metered.add(tx);
  const now = new Date();
  tx.execute({
    text: APPEND,
    values: [
      tenantId,
      usage.map(() => newId()),
      usage.map(({ occurredAt = now }) => occurredAt.toISOString()),
      usage.map(({ actor }) => actor),
      usage.map(({ entityType }) => entityType),
      usage.map(({ entityId }) => entityId),
      usage.map(({ resource }) => resource),
      usage.map(({ quantity }) => quantity),
      usage.map(({ resource, quantity }) => creditsOf(resource, quantity)),
      usage.map(({ metadata = {} }) => JSON.stringify(metadata)),
      usage.map(({ key }) => key),
    ],
  });
}

import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import { creditsOf, type Usage } from '../../core/usage.ts';

const EVENT_COLUMNS =
  'tenant_id, id, occurred_at, actor, entity_type, entity_id, resource_type, quantity, credits, metadata, key, payer';
const DAY_COLUMNS = 'tenant_id, day, actor, entity_type, entity_id, resource_type, payer, quantity, credits, events';

/** Appends an event if its key is new, and then a part of the total of its day. */
const APPEND_ONE = `
  with appended as (
    insert into dws.usage_event (${EVENT_COLUMNS})
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    on conflict (tenant_id, key) do nothing
    returning tenant_id, occurred_at, actor, entity_type, entity_id, resource_type, payer, quantity, credits
  )
  insert into dws.usage_day (${DAY_COLUMNS})
  select tenant_id, (occurred_at at time zone 'UTC')::date, actor, entity_type, entity_id, resource_type, payer,
    quantity, credits, 1
  from appended`;

/** Appends the events whose keys are new, and parts of the totals of their days with these, and only these. */
const APPEND = `
  with appended as (
    insert into dws.usage_event (${EVENT_COLUMNS})
    select $1::uuid, u.*
    from unnest(
      $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::numeric[], $9::numeric[],
      $10::jsonb[], $11::text[], $12::uuid[]
    ) u (id, occurred_at, actor, entity_type, entity_id, resource_type, quantity, credits, metadata, key, payer)
    order by u.key
    on conflict (tenant_id, key) do nothing
    returning *
  )
  insert into dws.usage_day (${DAY_COLUMNS})
  select tenant_id, (occurred_at at time zone 'UTC')::date, actor, entity_type, entity_id, resource_type, payer,
    sum(quantity), sum(credits), count(*)
  from appended
  group by 1, 2, 3, 4, 5, 6, 7`;

/** The transactions that have metered. */
const metered = new WeakSet<object>();

/** Returns the values of an event, in the order of the columns after the tenant. */
const valuesOf = (usage: Usage, now: Date): (string | null)[] => [
  newId(),
  (usage.occurredAt ?? now).toISOString(),
  usage.actor,
  usage.entityType,
  usage.entityId,
  usage.resource,
  usage.quantity,
  creditsOf(usage.resource, usage.quantity),
  usage.metadata ? JSON.stringify(usage.metadata) : '{}',
  usage.key,
  usage.payer ?? (usage.actor.startsWith('user:') ? usage.actor.slice('user:'.length) : null),
];

/**
 * Adds usage to the ledger with the next statement of the transaction or its commit. Usage whose key is already in the
 * ledger of the tenant adds nothing.
 *
 * Call it at most once in a transaction, with all metered usage: the keys are locked in one order, so that transactions
 * never wait for each other in a circle. A second call throws.
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
  const events = usage.map((one) => valuesOf(one, now));
  const [first] = events;
  // One event is by far the most frequent, and costs less without arrays.
  if (events.length === 1) tx.execute({ text: APPEND_ONE, values: [tenantId, ...first!] });
  else tx.execute({ text: APPEND, values: [tenantId, ...first!.map((_, i) => events.map((values) => values[i]))] });
}

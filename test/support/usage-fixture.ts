import { newId } from '../../src/core/id.ts';
import type { Usage } from '../../src/core/usage.ts';
import { meter } from '../../src/services/usage/usage-meter.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** An actor and an entity of no tenant in particular: the ledger does not require that they exist. */
const [USER, JOB] = [newId(), newId()];

/** Returns usage: by default one second of a job. */
export const usageOf = (key: string, values: Partial<Usage> = {}): Usage => ({
  key,
  resource: 'job_compute',
  quantity: '1',
  actor: `user:${USER}`,
  entityType: 'job',
  entityId: JOB,
  ...values,
});

/** Returns the id of a tenant. */
export async function tenantOf(service: Service, slug = 'default'): Promise<string> {
  const [tenant] = await systemQuery<{ id: string }>(service, 'select id from dws.tenant where slug = $1', slug);
  return tenant!.id;
}

/** Meters in a transaction of its own, without a viewer. */
export const meterIn = ({ platform }: Pick<Service, 'platform'>, tenantId: string, usage: readonly Usage[]) =>
  platform.database.transaction(tenantId, async (tx) => meter({ tenantId }, tx, usage));

/** An event, with numbers as Postgres prints them. */
export interface StoredEvent extends Record<string, unknown> {
  key: string;
  quantity: string;
  credits: string;
  day: string;
}

/** Returns the events of a tenant by key. */
export const eventsOf = (service: Service, tenantId: string): Promise<StoredEvent[]> =>
  systemQuery<StoredEvent>(
    service,
    `select key, quantity::text, credits::text, (occurred_at at time zone 'UTC')::date::text as day
    from dws.usage_event
    where tenant_id = $1
    order by key collate "C"`,
    tenantId,
  );

/** Returns the totals of a tenant by day and resource type: the sums of their parts. */
export const totalsOf = (service: Service, tenantId: string) =>
  systemQuery(
    service,
    `select day::text, resource_type as resource, sum(quantity)::text as quantity, sum(credits)::text as credits,
      sum(events)::int as events
    from dws.usage_day
    where tenant_id = $1
    group by day, actor, entity_type, entity_id, resource_type
    order by day, resource_type`,
    tenantId,
  );

/** The totals of a day that are not the sums of its events. */
export const WRONG_TOTALS = `
  select e.*, d.*
  from (
    select tenant_id, (occurred_at at time zone 'UTC')::date as day, actor, entity_type, entity_id, resource_type,
      sum(quantity) as quantity, sum(credits) as credits, count(*) as events
    from dws.usage_event
    group by 1, 2, 3, 4, 5, 6
  ) e
  full join (
    select tenant_id, day, actor, entity_type, entity_id, resource_type,
      sum(quantity) as quantity, sum(credits) as credits, sum(events) as events
    from dws.usage_day
    group by 1, 2, 3, 4, 5, 6
  ) d using (tenant_id, day, actor, entity_type, entity_id, resource_type)
  where (e.quantity, e.credits, e.events) is distinct from (d.quantity, d.credits, d.events)`;

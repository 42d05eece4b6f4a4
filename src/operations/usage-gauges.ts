import { SqlFailure } from '../core/app-workspace.ts';
import type { Platform } from '../core/platform.ts';
import type { Usage, UsageEntityType, UsageResource } from '../core/usage.ts';
import { teamPayerSql } from '../services/usage/team-payer.ts';
import { meter } from '../services/usage/usage-meter.ts';

/** Measurement of one entity by a gauge. */
interface Reading extends Record<string, unknown> {
  tenantId: string;
  entityId: string;
  /** The user who is the actor of the usage. */
  payer: string;
  /** A decimal in the unit of the resource type; null if `measure` returns it. */
  quantity: string | null;
}

/** Something that is measured once a UTC day, for each entity. */
interface Gauge {
  resource: UsageResource;
  entityType: UsageEntityType;
  /** SQL for the entities: rows of `tenant_id`, `id` and `payer`, the user who is the actor. */
  entities: string;
  /** SQL for the quantity of an entity `e`. Nothing is metered of 0. Default: `measure`. */
  quantity?: string;
  /** Measures one entity. Returns undefined if that is not possible now: the next pass tries again. */
  measure?(platform: Platform, reading: Reading, signal: AbortSignal): Promise<string | undefined>;
}

/** SQL for the payer of a row `r` with an owner: for a team a member, without one a superuser. */
const OWNER_PAYS = `coalesce(
  case when r.owner_id like 'user:%' then substr(r.owner_id, 6)::uuid end,
  ${teamPayerSql('r.tenant_id', 'substr(r.owner_id, 6)::uuid')}
)`;

const ownedEntitiesSql = (table: string, condition: string): string =>
  `select r.tenant_id, r.id, ${OWNER_PAYS} as payer from dws.${table} r where ${condition}`;

/** All tenants. The first superuser pays, by the rule for a team without members. */
const TENANTS = `
  select r.id as tenant_id, r.id, ${teamPayerSql('r.id', 'null::uuid')} as payer
  from dws.tenant r`;

/** SQL over the generations `g` that datasets of the tenant `e` use. */
const overGenerationsSql = (value: string): string => `
  select ${value}
  from dws.dataset d
  join dws.generation g on g.tenant_id = d.tenant_id and g.id = d.generation_id
  where d.tenant_id = e.tenant_id`;

/** The gauges. See docs/contract/usage.md#gauges. */
const GAUGES: readonly Gauge[] = [
  {
    resource: 'app_storage',
    entityType: 'app',
    entities: ownedEntitiesSql('app', 'r.schema_name is not null'),
    measure: measureApp,
  },
  {
    resource: 'workspace_storage',
    entityType: 'tenant',
    entities: TENANTS,
    quantity: overGenerationsSql('sum(g.size)'),
  },
  { resource: 'es_index_count', entityType: 'tenant', entities: TENANTS, quantity: overGenerationsSql('count(*)') },
  {
    resource: 'file_storage',
    entityType: 'tenant',
    entities: TENANTS,
    quantity: `
      select sum(f.size)
      from dws.stored_file f
      where f.tenant_id = e.tenant_id
        and not exists (
          select from dws.library_file l where l.tenant_id = f.tenant_id and l.stored_file_id = f.id
        )`,
  },
  {
    resource: 'file_storage',
    entityType: 'library',
    entities: ownedEntitiesSql('library', 'true'),
    quantity: `
      select sum(f.size)
      from dws.stored_file f
      where f.tenant_id = e.tenant_id
        and f.id in (select l.stored_file_id from dws.library_file l where l.library_id = e.id)`,
  },
];

/** SQL for the readings of the day `$1` that are not in the ledger. */
const unmeteredSql = ({ resource, entities, quantity }: Gauge): string => `
  with e as materialized (
    select r.*
    from (${entities}) r
    where not exists (
      select from dws.usage_event u where u.tenant_id = r.tenant_id and u.key = '${resource}:' || r.id || ':' || $1
    )
  )
  select e.tenant_id as "tenantId", e.id as "entityId", e.payer, q.quantity::text
  from e
  cross join lateral (${quantity ?? 'select null::numeric'}) q (quantity)
  where e.payer is not null ${quantity ? 'and q.quantity > 0' : ''}
  order by e.tenant_id, e.id`;

/**
 * Adds the values of all gauges to the usage ledger, once for each UTC day and entity. Days without a pass are not metered.
 * A failure of one gauge is logged, and the next pass tries again.
 */
export async function meterGauges(platform: Platform, now: Date, signal: AbortSignal): Promise<void> {
  const day = now.toISOString().slice(0, 10);
  for (const gauge of GAUGES) {
    try {
      const readings = await platform.system.query<Reading>({ text: unmeteredSql(gauge), values: [day] });
      for (const reading of readings) await meterReading(platform, gauge, reading, now, signal);
    } catch (error) {
      signal.throwIfAborted();
      platform.log.warn({ err: error, gauge: gauge.resource }, 'Could not meter what a gauge measures');
    }
  }
}

async function meterReading(
  platform: Platform,
  gauge: Gauge,
  reading: Reading,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const { resource, entityType } = gauge;
  const { tenantId, entityId, payer } = reading;
  const quantity = reading.quantity ?? (await gauge.measure!(platform, reading, signal));
  if (quantity === undefined) return;
  const usage: Usage = {
    key: `${resource}:${entityId}:${now.toISOString().slice(0, 10)}`,
    resource,
    quantity,
    actor: `user:${payer}`,
    entityType,
    entityId,
    occurredAt: now,
  };
  await platform.database.transaction(tenantId, async (tx) => meter({ tenantId }, tx, [usage]));
}

/** Returns the bytes of the tables of an app. */
async function measureApp(
  { workspaces, log }: Platform,
  { tenantId, entityId: appId }: Reading,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return String(await workspaces.sizeOf({ tenantId, appId }, signal));
  } catch (error) {
    signal.throwIfAborted();
    // A restore may have left it without a workspace.
    if (error instanceof SqlFailure && error.code === '3F000') return '0';
    log.warn({ err: error, app: appId }, 'Could not measure the storage of an app');
    return undefined;
  }
}

import type { Context } from '../../core/context.ts';
import type { UsageEntityType, UsageResource } from '../../core/usage.ts';
import type { UsagePeriod } from './usage-period.ts';

/** Usage of one resource type that is charged to one entity. Credits of all totals are exact to six decimals. */
export interface EntityTotal {
  entityId: string;
  entityType: UsageEntityType;
  resourceType: UsageResource;
  totalCredits: number;
  totalEvents: number;
}

/** Credits of one resource type on one UTC day. */
export interface DayTotal {
  /** `YYYY-MM-DD`. */
  date: string;
  resourceType: UsageResource;
  totalCredits: number;
}

/** Usage of one resource type in one UTC month. */
export interface MonthTotal {
  /** `YYYY-MM`. */
  month: string;
  resourceType: UsageResource;
  totalCredits: number;
  totalEvents: number;
}

/** The totals of a period. */
export interface PeriodTotals {
  /** By credits, descending. */
  summary: EntityTotal[];
  /** By day and resource type. */
  days: DayTotal[];
}

/** Maximum number of lines of a summary: those with the most credits. */
const MAX_SUMMARY = 10_000;

/** Both groupings in one pass over the days of a tenant. Takes tenant, first and last day, and the limit. */
const TOTALS = `
  with total as materialized (
    select day, entity_type, entity_id, resource_type, sum(credits) as credits, sum(events) as events
    from dws.usage_day
    where tenant_id = $1 and day between $2 and $3
    group by grouping sets ((entity_type, entity_id, resource_type), (day, resource_type))
  )
  select
    (
      select coalesce(json_agg(s), '[]')
      from (
        select entity_id as "entityId", entity_type as "entityType", resource_type as "resourceType",
          credits::float8 as "totalCredits", events::float8 as "totalEvents"
        from total
        where day is null
        order by credits desc, entity_type, entity_id, resource_type
        limit $4
      ) s
    ) as summary,
    (
      select coalesce(json_agg(d), '[]')
      from (
        select day as date, resource_type as "resourceType", credits::float8 as "totalCredits"
        from total
        where day is not null
        order by day, resource_type
      ) d
    ) as days`;

/** Loads the totals of a period by entity and resource type, and by day and resource type. */
export async function loadTotals({ query, viewer }: Context, { start, end }: UsagePeriod): Promise<PeriodTotals> {
  const [totals] = await query<PeriodTotals & Record<string, unknown>>({
    text: TOTALS,
    values: [viewer.tenantId, start, end, MAX_SUMMARY],
  });
  return totals!;
}

/** Loads the totals of the months of a period by month and resource type. */
export function loadMonths({ query, viewer }: Context, { start, end }: UsagePeriod): Promise<MonthTotal[]> {
  return query<MonthTotal & Record<string, unknown>>({
    text: `
      select to_char(month, 'YYYY-MM') as month, resource_type as "resourceType",
        sum(credits)::float8 as "totalCredits", sum(events)::float8 as "totalEvents"
      from (
        select date_trunc('month', day::timestamp) as month, resource_type, sum(credits) as credits, sum(events) as events
        from dws.usage_day
        where tenant_id = $1 and day between $2 and $3
        group by day, resource_type
      ) d
      group by d.month, resource_type
      order by d.month, resource_type`,
    values: [viewer.tenantId, start, end],
  });
}

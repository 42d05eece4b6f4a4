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

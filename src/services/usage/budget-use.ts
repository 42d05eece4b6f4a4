import type { Context } from '../../core/context.ts';
import type { UsageEntityType } from '../../core/usage.ts';
import { CHARGED_ROWS } from './charged-entities.ts';
import { monthPeriod } from './usage-period.ts';

/** The use of one budget in a month. Credits are exact to six decimals. */
export interface BudgetUse {
  entityId: string;
  entityType: UsageEntityType;
  monthlyBudget: number;
  creditsUsed: number;
  isOverBudget: boolean;
  /** Used part of the budget in percent, with two decimals. Of a budget of 0: 0 if nothing is used, else 100. */
  budgetPercent: number;
  /** At least 0. */
  budgetRemaining: number;
  /** `ownerId` is a principal. */
  entity: { name: string; slug: string; ownerId: string };
}

/**
 * SQL for the use of all budgets in the days from `$1` to `$2`, of the tenants that `condition` selects in a row with
 * `tenant_id`.
 */
export const budgetUseSql = (condition: string): string => `
  select b.tenant_id, b.entity_type, b.id, b.name, b.slug, b.owner_id, b.monthly_budget,
    coalesce(sum(d.credits), 0) as credits
  from ${CHARGED_ROWS} b
  left join dws.usage_day d
    on d.tenant_id = b.tenant_id and d.entity_type = b.entity_type and d.entity_id = b.id
      and d.day between $1 and $2 and d.${condition}
  where b.monthly_budget is not null and b.${condition}
  group by 1, 2, 3, 4, 5, 6, 7`;

/** Maximum number of budgets in a report. */
const MAX_BUDGETS = 10_000;

const BUDGETS = `
  select u.id as "entityId", u.entity_type as "entityType", u.monthly_budget::float8 as "monthlyBudget",
    u.credits::float8 as "creditsUsed", u.credits > u.monthly_budget as "isOverBudget",
    (
      case
        when u.monthly_budget > 0 then round(u.credits * 100 / u.monthly_budget, 2)
        when u.credits > 0 then 100
        else 0
      end
    )::float8 as "budgetPercent",
    greatest(u.monthly_budget - u.credits, 0)::float8 as "budgetRemaining",
    json_build_object('name', u.name, 'slug', u.slug, 'ownerId', u.owner_id) as entity
  from (${budgetUseSql('tenant_id = $3')}) u
  order by u.credits desc, u.entity_type, u.id
  limit $4`;

/** Loads the use of all budgets of the tenant in the current month, by credits used, descending. */
export function loadBudgets({ query, viewer }: Context, now: Date): Promise<BudgetUse[]> {
  const { start, end } = monthPeriod(now);
  return query<BudgetUse & Record<string, unknown>>({
    text: BUDGETS,
    values: [start, end, viewer.tenantId, MAX_BUDGETS],
  });
}

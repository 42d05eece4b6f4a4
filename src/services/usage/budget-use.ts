import type { UsageEntityType } from '../../core/usage.ts';
import { CHARGED_ROWS } from './charged-entities.ts';

/** Maximum number of budgets in a report. */
const MAX_BUDGETS = 10_000;

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
 * Returns SQL for budgets with the credits used of each: the columns of `CHARGED_ROWS` and `credits`. `uses` is SQL for
 * rows of `tenant_id`, `entity_type`, `entity_id` and `credits`, `condition` an SQL condition on a row `b` of
 * `CHARGED_ROWS`.
 */
export const budgetUseSql = (uses: string, condition: string): string => `
  select b.tenant_id, b.entity_type, b.id, b.name, b.slug, b.owner_id, b.monthly_budget,
    coalesce(u.credits, 0) as credits
  from ${CHARGED_ROWS} b
  left join (${uses}) u on u.tenant_id = b.tenant_id and u.entity_type = b.entity_type and u.entity_id = b.id
  where b.monthly_budget is not null and ${condition}`;

/** Returns SQL for rows of `BudgetUse`, by credits used, descending. `budgets` is the SQL of `budgetUseSql`. */
export const budgetReportSql = (budgets: string): string => `
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
  from (${budgets}) u
  order by u.credits desc, u.entity_type, u.id
  limit ${MAX_BUDGETS}`;

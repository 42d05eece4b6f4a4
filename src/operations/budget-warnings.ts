import type { Platform } from '../core/platform.ts';
import type { UsageEntityType } from '../core/usage.ts';
import { isActive } from '../services/resource/active-user.ts';
import { notify } from '../services/resource/notification.ts';
import { budgetUseSql } from '../services/usage/budget-use.ts';
import { monthOf, monthPeriod } from '../services/usage/usage-period.ts';

/** A budget that is exceeded. Credits are decimals without trailing zeros. */
interface ExceededBudget extends Record<string, unknown> {
  tenantId: string;
  entityType: UsageEntityType;
  entityId: string;
  name: string;
  ownerId: string;
  budget: string;
  credits: string;
}

/** Usage of the month, of all tenants. */
const USES = `
  select tenant_id, entity_type, entity_id, sum(credits) as credits
  from dws.usage_day
  where day between $1 and $2
  group by 1, 2, 3`;

/** Exceeded budgets whose users were not notified yet. Takes the first and the last day of the month. */
const EXCEEDED = `
  select u.tenant_id as "tenantId", u.entity_type as "entityType", u.id as "entityId", u.name, u.owner_id as "ownerId",
    trim_scale(u.monthly_budget)::text as budget, trim_scale(u.credits)::text as credits
  from (${budgetUseSql(USES, 'true')}) u
  where u.credits > u.monthly_budget and not exists (
    select from dws.budget_warning w where w.tenant_id = u.tenant_id and w.entity_id = u.id and w.month = $1
  )
  order by u.tenant_id, u.id`;

/** The owner, for a team its admins, and the active users with `billing:manage`. Takes tenant and owner. */
const RECIPIENTS = `
  select 'user:' || u.id as principal
  from dws.app_user u
  where u.tenant_id = $1
    and (
      'user:' || u.id = $2
      or ${isActive('u')} and (u.superuser or u.permissions ? 'billing:manage')
      or exists (
        select from dws.team_member m
        where m.tenant_id = $1 and m.user_id = u.id and m.role = 'admin' and 'team:' || m.team_id = $2
      )
    )`;

/**
 * Notifies users of the budgets that are exceeded in the month of `now`: once for each entity and month, in all processes.
 * Warnings of months before the last are deleted.
 */
export async function warnOfBudgets({ system, database, log }: Platform, now: Date): Promise<void> {
  const { start, end } = monthPeriod(now);
  await system.query({
    text: `delete from dws.budget_warning where month < $1::date - interval '2 months'`,
    values: [start],
  });
  const exceeded = await system.query<ExceededBudget>({ text: EXCEEDED, values: [start, end] });
  for (const budget of exceeded)
    await database
      .transaction(budget.tenantId, async (tx) => {
        const { tenantId, entityType, entityId, ownerId } = budget;
        const inserted = await tx.query({
          text: `
            insert into dws.budget_warning (tenant_id, entity_type, entity_id, month)
            values ($1, $2, $3, $4)
            on conflict do nothing
            returning month`,
          values: [tenantId, entityType, entityId, start],
        });
        if (inserted.length === 0) return;
        const recipients = await tx.query<{ principal: string }>({ text: RECIPIENTS, values: [tenantId, ownerId] });
        await notify(
          tx,
          tenantId,
          recipients.map(({ principal }) => principal),
          {
            type: 'usage.budget.exceeded',
            message: messageOf(budget, monthOf(now)),
            resource: { kind: entityType, id: entityId },
          },
        );
      })
      .catch((error: unknown) => log.warn({ err: error, entity: budget.entityId }, 'Could not warn of a budget'));
}

const messageOf = ({ entityType, name, budget, credits }: ExceededBudget, month: string): string =>
  `The ${entityType} ${name} has used ${credits} credits in ${month}; its budget is ${budget}`;

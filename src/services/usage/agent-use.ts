import { AI_RESOURCES, currentMonth, isReserved } from './credit-use.ts';
import type { QueryRunner } from './effective-profile.ts';

/** The credits of its owner that an agent has used in the current UTC month. */
export interface AgentUse {
  /** Null in the entry that stands for all agents that were deleted, or have another owner now. */
  id: string | null;
  name: string | null;
  used: number;
  reserved: number;
}

/** Returns the credits of a user that each agent has used, by name. The last entry is for agents that the user no longer owns. */
export const readAgentUse = (
  runner: QueryRunner,
  { tenantId }: { tenantId: string },
  userId: string,
): Promise<AgentUse[]> =>
  runner.query<AgentUse & Record<string, unknown>>({
    text: `
      with part as (
        select actor, credits as used, 0 as reserved
        from dws.usage_day
        where tenant_id = $1 and payer = $2 and resource_type in (${AI_RESOURCES}) and day >= $3::date
        union all
        select actor, 0, credits from dws.credit_reservation where tenant_id = $1 and payer = $2 and ${isReserved}
      )
      select a.id, a.name, sum(u.used)::float8 as used, sum(u.reserved)::float8 as reserved
      from part u
      left join dws.agent a on a.tenant_id = $1 and a.owner_id = $2 and 'agent:' || a.id = u.actor
      where u.actor like 'agent:%'
      group by a.id, a.name
      order by lower(a.name) nulls last, a.id`,
    values: [tenantId, userId, currentMonth().day],
  });

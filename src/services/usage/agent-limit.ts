import type { ModelTier } from '../../core/ai.ts';
import type { QueryRunner } from './effective-profile.ts';

/** The usage that an agent may have within the limits of its owner. It lowers these, and never raises them. */
export interface AgentLimit {
  /** Credits of a UTC month, a decimal: the lower one of its usage profile and its monthly budget. Null: no limit. */
  credits: string | null;
  /** Tiers that its usage profile allows. Null: all tiers of its owner. */
  allowedModelTiers: readonly ModelTier[] | null;
}

/** Loads the limits of an agent. Null if it does not exist. */
export async function loadAgentLimit(
  runner: QueryRunner,
  { tenantId }: { tenantId: string },
  agentId: string,
): Promise<AgentLimit | null> {
  const [limit] = await runner.query<AgentLimit & Record<string, unknown>>({
    text: `
      select least(p.credit_cap_per_month, a.monthly_budget)::numeric(30, 6)::text as credits,
        p.allowed_model_tiers as "allowedModelTiers"
      from dws.agent a
      left join dws.usage_profile p on p.tenant_id = $1 and p.id = a.usage_profile_id
      where a.tenant_id = $1 and a.id = $2`,
    values: [tenantId, agentId],
  });
  return limit ?? null;
}

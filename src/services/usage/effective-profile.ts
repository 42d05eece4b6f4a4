import type { ModelTier } from '../../core/ai.ts';
import type { Query } from '../../core/database.ts';
import {
  combineProfiles,
  type EffectiveUsageProfile,
  type UsageLimits,
  type UsageProfileSource,
} from '../../core/usage-profile.ts';
import type { UsageActorType } from '../../core/usage.ts';

/** Whose usage is metered and limited. */
export type UsageActor = `${UsageActorType}:${string}`;

/** Runs one statement in a tenant: a request's context or a transaction. */
export interface QueryRunner {
  query: Query;
}

/** A usage profile that applies to an actor. */
export interface AppliedProfile extends UsageLimits {
  id: string;
  name: string;
  slug: string;
}

/** SQL for the profiles that may apply to the user `$2` of the tenant `$1`, each with where it comes from. */
const CANDIDATES = `
  with subject as (
    select u.usage_profile_id, u.id as user_id from dws.app_user u where u.tenant_id = $1 and u.id = $2
  ),
  applicable as (
    select usage_profile_id as id, 'own' as source from subject
    union
    select t.usage_profile_id, 'team'
    from subject s
    join dws.team_member m on m.tenant_id = $1 and m.user_id = s.user_id
    join dws.team t on t.tenant_id = $1 and t.id = m.team_id
    union
    select p.id, 'default' from dws.usage_profile p where p.tenant_id = $1 and p.is_default
  )
  select a.source, p.id, p.name, p.slug, p.credit_cap_per_month as "creditCapPerMonth",
    p.allowed_model_tiers as "allowedModelTiers"
  from applicable a
  join dws.usage_profile p on p.tenant_id = $1 and p.id = a.id
  order by not p.system, p.created_at, p.id`;

interface CandidateRow extends AppliedProfile, Record<string, unknown> {
  source: UsageProfileSource;
  allowedModelTiers: ModelTier[];
}

/**
 * Loads the limits of a user, and the profiles that they come from. A user who does not exist has the limits of the
 * tenant's default profile. See docs/contract/usage.md#usage-profiles.
 */
export async function loadEffectiveProfile(
  runner: QueryRunner,
  { tenantId }: { tenantId: string },
  userId: string,
): Promise<EffectiveUsageProfile<AppliedProfile>> {
  const rows = await runner.query<CandidateRow>({ text: CANDIDATES, values: [tenantId, userId] });
  const from = (wanted: UsageProfileSource): AppliedProfile[] =>
    rows.filter(({ source }) => source === wanted).map(({ source: _, ...profile }) => profile);
  return combineProfiles({ own: from('own')[0] ?? null, teams: from('team'), fallback: from('default')[0]! });
}

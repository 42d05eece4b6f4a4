import { MODEL_TIERS, type ModelTier } from './ai.ts';

/** The limits that a usage profile sets for an actor. */
export interface UsageLimits {
  /** Credits of a UTC month. Null: no limit. 0: none. */
  creditCapPerMonth: number | null;
  allowedModelTiers: readonly ModelTier[];
}

/** Where the limits of an actor come from. */
export const USAGE_PROFILE_SOURCES = ['own', 'team', 'default'] as const;
export type UsageProfileSource = (typeof USAGE_PROFILE_SOURCES)[number];

/** The limits of an actor, and the profiles that they come from. */
export interface EffectiveUsageProfile<P extends UsageLimits = UsageLimits> extends UsageLimits {
  source: UsageProfileSource;
  /** The profiles that are combined: one, or the different ones of the actor's teams. */
  profiles: P[];
}

/** The profiles that may apply to an actor. */
export interface UsageProfileCandidates<P extends UsageLimits> {
  /** The profile that is assigned to the actor. */
  own: P | null;
  /** The different profiles of the actor's teams. Teams without one do not count. */
  teams: readonly P[];
  /** The default of the tenant. */
  fallback: P;
}

/**
 * Returns the limits of an actor: the limits of its own profile, else the union of its teams' profiles, else the
 * default. In a union the highest cap applies, and no cap counts as the highest. A tier that one of the profiles allows
 * is allowed.
 */
export function combineProfiles<P extends UsageLimits>({
  own,
  teams,
  fallback,
}: UsageProfileCandidates<P>): EffectiveUsageProfile<P> {
  if (own) return { source: 'own', ...unionOf([own]) };
  if (teams.length > 0) return { source: 'team', ...unionOf(teams) };
  return { source: 'default', ...unionOf([fallback]) };
}

function unionOf<P extends UsageLimits>(profiles: readonly P[]): UsageLimits & { profiles: P[] } {
  const caps = profiles.map(({ creditCapPerMonth }) => creditCapPerMonth);
  return {
    creditCapPerMonth: caps.reduce((highest, cap) =>
      highest === null || cap === null ? null : Math.max(highest, cap),
    ),
    allowedModelTiers: MODEL_TIERS.filter((tier) =>
      profiles.some((profile) => profile.allowedModelTiers.includes(tier)),
    ),
    profiles: [...profiles],
  };
}

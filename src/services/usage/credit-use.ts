import type { ModelTier } from '../../core/ai.ts';
import { formatCredits, parseCredits, printCredits } from '../../core/credits.ts';
import { creditsSpent, refused, type ApiError } from '../../core/errors.ts';
import type { EffectiveUsageProfile } from '../../core/usage-profile.ts';
import { USAGE_RESOURCE_TYPES } from '../../core/usage.ts';
import { loadEffectiveProfile, type AppliedProfile, type QueryRunner, type UsageActor } from './effective-profile.ts';

/** What an actor has used of its credits in the current UTC month. Credits are decimals with six places. */
export interface CreditUse {
  profile: EffectiveUsageProfile<AppliedProfile>;
  /** Charged credits of the category `ai`. */
  used: string;
  /** Credits that are set aside for calls that have not ended. */
  reserved: string;
  /** Whole credits of a month. Null: no limit. */
  cap: number | null;
  /** What is left, at least 0. Null: no limit. */
  remaining: string | null;
  /** Begin of the next month. */
  resetsAt: Date;
}

const AI_RESOURCES = USAGE_RESOURCE_TYPES.filter(({ category }) => category === 'ai').map(({ slug }) => `'${slug}'`);

/**
 * Both figures in one statement: what is charged is no longer reserved from the same moment on. `used` counts all days from
 * the first of the month on, so that a charge by a process whose clock is ahead counts, too, at the end of the month.
 */
const FIGURES = `
  select
    (
      select coalesce(sum(credits), 0)::numeric(30, 6)::text
      from dws.usage_day
      where tenant_id = $1 and actor = $2 and resource_type in (${AI_RESOURCES.join(', ')}) and day >= $3::date
    ) as used,
    (
      select coalesce(sum(credits), 0)::numeric(30, 6)::text
      from dws.credit_reservation
      where tenant_id = $1 and actor = $2 and (sent_at is not null or expires_at > clock_timestamp()) and id is distinct from $4::uuid
    ) as reserved`;

/**
 * Returns the figures of an actor in the current month, in one round trip of a transaction. The reservation with the id
 * `exceptId` does not count.
 */
export async function readCreditUse(
  runner: QueryRunner,
  { tenantId }: { tenantId: string },
  actor: UsageActor,
  exceptId: string | null = null,
): Promise<CreditUse> {
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  const values = [tenantId, actor, month.toISOString().slice(0, 10), exceptId];
  const [profile, [figures]] = await Promise.all([
    loadEffectiveProfile(runner, { tenantId }, actor),
    runner.query<{ used: string; reserved: string }>({ text: FIGURES, values }),
  ]);
  const { used, reserved } = figures!;
  const { creditCapPerMonth: cap } = profile;
  return { profile, used, reserved, cap, remaining: remainingOf(cap, used, reserved), resetsAt };
}

function remainingOf(cap: number | null, used: string, reserved: string): string | null {
  if (cap === null) return null;
  const left = parseCredits(String(cap)) - parseCredits(used) - parseCredits(reserved);
  return formatCredits(left > 0n ? left : 0n);
}

/**
 * Returns the error with which a call of a tier and a price is refused: 403 for a tier that is not allowed, 402 if the
 * credits do not suffice or none are allowed. Null if it is not refused.
 */
export function creditRefusal(
  { profile, used, reserved, cap, resetsAt }: Omit<CreditUse, 'remaining'>,
  { tier, credits }: { tier: ModelTier | null; credits: string },
): ApiError | null {
  if (tier !== null && !profile.allowedModelTiers.includes(tier))
    return refused(`The usage profile does not allow models of the tier ${tier}`);
  if (cap === null) return null;
  const total = parseCredits(used) + parseCredits(reserved) + parseCredits(credits);
  if (cap > 0 && total <= parseCredits(String(cap))) return null;
  return creditsSpent(
    `Not enough credits: this requires ${printCredits(credits)}, ${printCredits(used)} of ${cap} are used and ` +
      `${printCredits(reserved)} reserved. The next month begins at ${resetsAt.toISOString()}`,
  );
}

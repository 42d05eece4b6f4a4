import type { ModelTier } from '../../core/ai.ts';
import { formatCredits, parseCredits, printCredits } from '../../core/credits.ts';
import { creditsSpent, refused, type ApiError } from '../../core/errors.ts';
import type { EffectiveUsageProfile } from '../../core/usage-profile.ts';
import { USAGE_RESOURCE_TYPES } from '../../core/usage.ts';
import { loadAgentLimit, type AgentLimit } from './agent-limit.ts';
import { loadEffectiveProfile, type AppliedProfile, type QueryRunner, type UsageActor } from './effective-profile.ts';

/**
 * The user or agent that uses credits, and the user whose cap they count to: the owner of an agent, else the actor
 * itself.
 */
export interface Spender {
  actor: UsageActor;
  /** Id of the user. */
  payer: string;
}

/** The credits that are used and reserved in the current UTC month. They are decimals with six places. */
interface Figures {
  /** Charged credits of the category `ai`. */
  used: string;
  /** Credits that are reserved for calls that have not ended. */
  reserved: string;
}

/** Credits that a user and the agents that acted for them have used in the current UTC month. */
export interface CreditUse extends Figures {
  profile: EffectiveUsageProfile<AppliedProfile>;
  /** Whole credits of a month. Null: no limit. */
  cap: number | null;
  /** Further limits, if the actor is an agent that has some. */
  agent: (AgentLimit & Figures) | null;
  /** The lowest rest of all limits, at least 0. Null: no limit. */
  remaining: string | null;
  /** Start of the next month. */
  resetsAt: Date;
}

/** The resource types of the category `ai`, as a list of SQL. */
export const AI_RESOURCES = USAGE_RESOURCE_TYPES.filter(({ category }) => category === 'ai')
  .map(({ slug }) => `'${slug}'`)
  .join(', ');

/** SQL for whether a reservation counts. The reservation of a sent call ends only with the call. */
export const isReserved = '(sent_at is not null or expires_at > clock_timestamp())';

/**
 * Both figures in one statement: charged credits stop being reserved at the same moment. `used` counts all days from
 * the first of the month on. A charge by a process whose clock is ahead then counts, too, at the end of the month.
 */
const figuresOf = (column: 'payer' | 'actor', type: 'uuid' | 'text'): string => `
  select
    (
      select coalesce(sum(credits), 0)::numeric(30, 6)::text
      from dws.usage_day
      where tenant_id = $1 and ${column} = $2::${type} and resource_type in (${AI_RESOURCES}) and day >= $3::date
    ) as used,
    (
      select coalesce(sum(credits), 0)::numeric(30, 6)::text
      from dws.credit_reservation
      where tenant_id = $1 and ${column} = $2::${type} and ${isReserved} and id is distinct from $4::uuid
    ) as reserved`;

const FIGURES = { payer: figuresOf('payer', 'uuid'), actor: figuresOf('actor', 'text') };

/** Returns the first day of the current UTC month, and of the next one. */
export function currentMonth(): { day: string; next: Date } {
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  return { day: month.toISOString().slice(0, 10), next };
}

/**
 * Returns the figures and limits of a spender in the current month, in one round trip of a transaction. The reservation
 * with the id `exceptId` does not count.
 */
export async function readCreditUse(
  runner: QueryRunner,
  { tenantId }: { tenantId: string },
  { actor, payer }: Spender,
  exceptId: string | null = null,
): Promise<CreditUse> {
  const { day, next: resetsAt } = currentMonth();
  const agentId = actor.startsWith('agent:') ? actor.slice('agent:'.length) : null;
  const read = async (by: keyof typeof FIGURES, of: string): Promise<Figures> => {
    const [row] = await runner.query<Figures & Record<string, unknown>>({
      text: FIGURES[by],
      values: [tenantId, of, day, exceptId],
    });
    return row!;
  };
  const [profile, { used, reserved }, limit, ofAgent] = await Promise.all([
    loadEffectiveProfile(runner, { tenantId }, payer),
    read('payer', payer),
    agentId === null ? null : loadAgentLimit(runner, { tenantId }, agentId),
    agentId === null ? null : read('actor', actor),
  ]);
  const cap = profile.creditCapPerMonth;
  const agent = limit && ofAgent && { ...limit, ...ofAgent };
  const left = [
    ...(cap === null ? [] : [leftOf(String(cap), used, reserved)]),
    ...(agent?.credits == null ? [] : [leftOf(agent.credits, agent.used, agent.reserved)]),
  ];
  const lowest = left.toSorted((one, other) => (one < other ? -1 : 1))[0];
  return {
    profile,
    used,
    reserved,
    cap,
    agent,
    remaining: lowest === undefined ? null : formatCredits(lowest),
    resetsAt,
  };
}

const sumOf = (...parts: readonly string[]): bigint => parts.reduce((sum, part) => sum + parseCredits(part), 0n);

/** Returns the millionths of credits that are left, at least 0. */
function leftOf(limit: string, used: string, reserved: string): bigint {
  const left = parseCredits(limit) - sumOf(used, reserved);
  return left > 0n ? left : 0n;
}

/**
 * Returns the error that refuses a call of a tier and a price: 403 for a tier that is not allowed, 402 if the credits
 * do not suffice or none are allowed. Null if it is not refused.
 */
export function creditRefusal(
  { profile, used, reserved, cap, agent, resetsAt }: Omit<CreditUse, 'remaining'>,
  { tier, credits }: { tier: ModelTier | null; credits: string },
): ApiError | null {
  const tiers = [profile.allowedModelTiers, ...(agent?.allowedModelTiers ? [agent.allowedModelTiers] : [])];
  if (tier !== null && tiers.some((allowed) => !allowed.includes(tier)))
    return refused(`The usage profile does not allow models of the tier ${tier}`);
  const limits = [
    { limit: cap === null ? null : String(cap), used, reserved, of: '' },
    { limit: agent?.credits ?? null, used: agent?.used ?? '0', reserved: agent?.reserved ?? '0', of: ' of the agent' },
  ];
  const exceeded = limits.find(
    (one) =>
      one.limit !== null &&
      (parseCredits(one.limit) === 0n || sumOf(one.used, one.reserved, credits) > parseCredits(one.limit)),
  );
  if (!exceeded) return null;
  return creditsSpent(
    `Not enough credits${exceeded.of}: this requires ${printCredits(credits)}, ${printCredits(exceeded.used)} of ` +
      `${printCredits(exceeded.limit!)} are used and ${printCredits(exceeded.reserved)} reserved. ` +
      `The next month begins at ${resetsAt.toISOString()}`,
  );
}

import { CREDIT_DECIMALS, formatCredits } from './credits.ts';

/** The category of a resource type's usage. */
export const USAGE_CATEGORIES = ['ai', 'compute', 'storage'] as const;
export type UsageCategory = (typeof USAGE_CATEGORIES)[number];

/** How a resource type is measured: at each occurrence, or as the amount that exists at one point in time. */
export const USAGE_MODES = ['event', 'gauge'] as const;
export type UsageMode = (typeof USAGE_MODES)[number];

/** Units of quantities, and the credits of one unit, as exact decimals. */
const RATES = {
  dollar: '100',
  run: '1',
  second: '0.01',
  // 0.01 credits for 10^9 bytes.
  byte: '0.00000000001',
  index: '0.01',
} as const;
export type UsageUnit = keyof typeof RATES;
export const USAGE_UNITS = Object.keys(RATES) as readonly UsageUnit[];

/** Names of the resource types. */
export const USAGE_RESOURCES = [
  'ai',
  'agent_run',
  'app_compute',
  'job_compute',
  'app_storage',
  'workspace_storage',
  'file_storage',
  'es_index_count',
] as const;
export type UsageResource = (typeof USAGE_RESOURCES)[number];

/** A kind of usage that is metered. */
export interface UsageResourceType {
  slug: UsageResource;
  name: string;
  category: UsageCategory;
  mode: UsageMode;
  /** Unit of the quantity. */
  unit: UsageUnit;
  /** Credits of one unit, of a gauge for one UTC day, as an exact decimal. */
  rate: string;
}

const define = (
  slug: UsageResource,
  name: string,
  category: UsageCategory,
  mode: UsageMode,
  unit: UsageUnit,
): UsageResourceType => ({ slug, name, category, mode, unit, rate: RATES[unit] });

/** The registry of resource types, in the order of the API. See docs/contract/usage.md#usage-ledger. */
export const USAGE_RESOURCE_TYPES: readonly UsageResourceType[] = [
  define('ai', 'AI', 'ai', 'event', 'dollar'),
  define('agent_run', 'Agent runs', 'ai', 'event', 'run'),
  define('app_compute', 'App compute', 'compute', 'event', 'second'),
  define('job_compute', 'Job compute', 'compute', 'event', 'second'),
  define('app_storage', 'App storage', 'storage', 'gauge', 'byte'),
  define('workspace_storage', 'Workspace storage', 'storage', 'gauge', 'byte'),
  define('file_storage', 'File storage', 'storage', 'gauge', 'byte'),
  define('es_index_count', 'Search indexes', 'storage', 'gauge', 'index'),
];

const TYPE_OF = new Map(USAGE_RESOURCE_TYPES.map((type) => [type.slug, type]));

/** Maximum credits of one event, in millionths: 15 digits, which a JSON number represents exactly. */
const MAX_CREDITS = 10n ** 15n - 1n;
/** A quantity has at most 15 digits before the point and 9 after it. */
const QUANTITY = /^\d{1,15}(?:\.\d{1,9})?$/;

/** An exact decimal number: `digits` divided by 10 to the power of `scale`. */
interface Decimal {
  digits: bigint;
  scale: number;
}

function parseDecimal(text: string): Decimal {
  const [whole, fraction = ''] = text.split('.');
  return { digits: BigInt(`${whole}${fraction}`), scale: fraction.length };
}

/** Returns a number with the given scale, rounded to the nearest; a half is rounded up. */
function rescale({ digits, scale }: Decimal, target: number): bigint {
  if (scale <= target) return digits * 10n ** BigInt(target - scale);
  const divisor = 10n ** BigInt(scale - target);
  return (2n * digits + divisor) / (2n * divisor);
}

/**
 * Returns the credits of a quantity as a decimal with six places, exactly: quantity times rate, rounded to the nearest.
 * `quantity` is a decimal without sign or exponent, e.g. `12.345`. Throws a RangeError for other texts, and for credits
 * of a thousand million and more.
 */
export function creditsOf(resource: UsageResource, quantity: string): string {
  if (!QUANTITY.test(quantity)) throw new RangeError(`The quantity ${JSON.stringify(quantity)} is not a decimal`);
  const [amount, rate] = [parseDecimal(quantity), parseDecimal(TYPE_OF.get(resource)!.rate)];
  const product = { digits: amount.digits * rate.digits, scale: amount.scale + rate.scale };
  const credits = rescale(product, CREDIT_DECIMALS);
  if (credits > MAX_CREDITS) throw new RangeError(`The credits of ${quantity} (${resource}) are too many`);
  return formatCredits(credits);
}

/** Types of actors whose usage is metered. */
export const USAGE_ACTOR_TYPES = ['user', 'agent'] as const;
export type UsageActorType = (typeof USAGE_ACTOR_TYPES)[number];

/** Types of resources that usage is charged to. */
export const USAGE_ENTITY_TYPES = ['agent', 'app', 'assistant', 'job', 'library', 'tenant', 'user'] as const;
export type UsageEntityType = (typeof USAGE_ENTITY_TYPES)[number];

/** Usage to be added to the ledger. */
export interface Usage {
  /**
   * Identifies the metered usage in its tenant: `job:<run>`, `app:<run>`, `agent:<run>`, `ai:<audit>`,
   * `<gauge>:<entity>:<day>`. Of usage with the same key only the first is recorded.
   */
  key: string;
  resource: UsageResource;
  /** A decimal in the unit of the resource type, e.g. `12.345`. */
  quantity: string;
  actor: `${UsageActorType}:${string}`;
  /** Id of the user to whose cap it counts. Default: the actor, if that is a user. An agent has none without it. */
  payer?: string;
  entityType: UsageEntityType;
  entityId: string;
  /** Details that depend on the resource type. They must not contain secrets, prompts or values of rows. */
  metadata?: Record<string, unknown>;
  /** Default: now. */
  occurredAt?: Date;
}

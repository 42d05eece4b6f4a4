import type { CreateUsageProfileInput, UpdateUsageProfileInput } from '../../../entities/usage-profile-input.ts';
import { UsageProfile } from '../../../entities/usage-profile.ts';
import { MODEL_TIERS } from '../../core/ai.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { badInput, conflict, notFound } from '../../core/errors.ts';
import { assignPresent, checkText, invalid } from '../../core/input-checks.ts';
import { lockKey } from '../../core/locks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion, resourceKey } from '../resource/load-resource.ts';
import { setSlug } from '../resource/resource-slug.ts';

const NOUN = 'usage profile';

/** Creates a usage profile. Returns its id. Throws CONFLICT if the slug is in use. */
export async function create(ctx: Context, { slug, isDefault, ...input }: CreateUsageProfileInput): Promise<string> {
  const profile = newRow(UsageProfile, { tenantId: ctx.viewer.tenantId });
  assignPresent(profile, normalizeInput(input), ['creditCapPerMonth']);
  profile.creditCapPerMonth ??= null;
  return ctx.transaction(async (tx) => {
    if (isDefault) {
      lockDefault(ctx, tx);
      await unsetDefault(ctx, tx);
      profile.isDefault = true;
    }
    await setSlug(tx, { table: 'usage_profile' }, profile, slug);
    return tx.insert(profile).id;
  });
}

/** Updates a usage profile. Returns its id. Throws BAD_USER_INPUT for another slug, or without another default. */
export async function update(
  ctx: Context,
  id: string,
  { slug, isDefault, ...input }: UpdateUsageProfileInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    if (isDefault) lockDefault(ctx, tx);
    const profile = await loadProfile(ctx, tx, id);
    checkVersion(ctx, NOUN, profile.version);
    if (slug !== undefined && slug !== profile.slug) throw slugUnchangeable();
    if (isDefault === false && profile.isDefault)
      throw invalid('isDefault', 'must not be false for the default: set another usage profile as the default');
    const changes = normalizeInput(input);
    if (isDefault && !profile.isDefault) {
      await unsetDefault(ctx, tx);
      profile.isDefault = true;
    }
    assignPresent(profile, changes, ['creditCapPerMonth']);
    return profile.id;
  });
}

/** Deletes a usage profile. Throws CONFLICT for the default, for one of the system, and for one that is assigned. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const profile = await loadProfile(ctx, tx, id);
    checkVersion(ctx, NOUN, profile.version);
    if (profile.isDefault) throw conflict('The usage profile is the default of the tenant');
    if (profile.system) throw conflict('Usage profiles of the system cannot be deleted');
    await requireUnassigned(ctx, tx, profile.id);
    tx.remove(profile);
  });
}

/**
 * Loads a usage profile by id, slug or natural id and locks it: against every change, or only against its deletion.
 * Throws NOT_FOUND.
 */
export async function loadProfile(
  ctx: Context,
  tx: Transaction,
  key: string,
  lock: 'update' | 'key share' = 'update',
): Promise<UsageProfile> {
  const profile = await tx.findOne(UsageProfile, resourceKey(ctx.viewer, key), { lock });
  if (!profile) throw notFound({ what: NOUN, id: key });
  recordAuditTarget(ctx.request, 'usageProfile', key, profile.id);
  return profile;
}

/** Returns the input with trimmed texts, and the tiers in their order without repetitions. Throws BAD_USER_INPUT. */
function normalizeInput<T extends Omit<UpdateUsageProfileInput, 'slug' | 'isDefault'>>(input: T): T {
  const checked = { ...input };
  if (checked.name !== undefined) checked.name = checkText(checked.name, 'name');
  if (checked.description !== undefined) checked.description = checkText(checked.description, 'description', 10_000);
  const tiers = checked.allowedModelTiers;
  if (tiers) checked.allowedModelTiers = MODEL_TIERS.filter((tier) => tiers.includes(tier));
  return checked;
}

const slugUnchangeable = () =>
  badInput('"slug" cannot be changed', {
    validation: [{ path: ['slug'], message: '"slug" cannot be changed', code: 'immutable' }],
  });

/** Lets transactions that change the default wait for each other. Call it before profiles are locked. */
const lockDefault = ({ viewer }: Context, tx: Transaction): void => lockKey(tx, `usage-profile:${viewer.tenantId}`);

const unsetDefault = ({ viewer }: Context, tx: Transaction): Promise<unknown> =>
  tx.query({
    text: `
      update dws.usage_profile set is_default = false, version = version + 1, updated_at = now()
      where tenant_id = $1 and is_default`,
    values: [viewer.tenantId],
  });

/** Tables of the rows that a usage profile is assigned to, with SQL for their names in messages. */
const ASSIGNEES = [
  { noun: 'agent', table: 'agent', name: 'name' },
  { noun: 'team', table: 'team', name: 'name' },
  { noun: 'user', table: 'app_user', name: 'username' },
] as const;

/** Number of assignees that a message names. */
const MAX_NAMED = 10;

/** Throws CONFLICT that names the assignees of a profile. */
async function requireUnassigned({ viewer }: Context, tx: Transaction, id: string): Promise<void> {
  const selects = ASSIGNEES.map(
    ({ noun, table, name }) =>
      `select '${noun} ' || ${name} as name from dws.${table} where tenant_id = $1 and usage_profile_id = $2`,
  );
  const assigned = await tx.query<{ name: string }>({
    text: `${selects.join(' union all ')} order by name limit ${MAX_NAMED + 1}`,
    values: [viewer.tenantId, id],
  });
  if (assigned.length === 0) return;
  const names = assigned.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = assigned.length > MAX_NAMED ? ' and others' : '';
  throw conflict(`The usage profile is assigned to ${names.join(', ')}${more}`);
}

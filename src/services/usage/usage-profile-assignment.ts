import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadTeam } from '../identity/team-access.ts';
import { loadUser } from '../identity/user-lookup.ts';
import { requireBilling } from './require-billing.ts';
import { loadProfile } from './usage-profile.ts';

/**
 * Assigns a usage profile to a team, or none for null. Returns the id of the team. Throws NOT_FOUND for an unknown team,
 * then FORBIDDEN without `billing:manage`, then NOT_FOUND for an unknown profile.
 */
export const assignToTeam = (ctx: Context, id: string, profileId: string | null): Promise<string> =>
  assign(ctx, profileId, (tx) => loadTeam(ctx, tx, id, 'team:read'));

/** Assigns a usage profile to a user, or none for null. Returns the id of the user. Throws like `assignToTeam`. */
export const assignToUser = (ctx: Context, username: string, profileId: string | null): Promise<string> =>
  assign(ctx, profileId, (tx) => loadUser(ctx, tx, username));

const assign = (
  ctx: Context,
  profileId: string | null,
  load: (tx: Transaction) => Promise<{ id: string; usageProfileId?: string | null }>,
): Promise<string> =>
  ctx.transaction(async (tx) => {
    const assignee = await load(tx);
    requireBilling(ctx.viewer);
    assignee.usageProfileId = profileId === null ? null : (await loadProfile(ctx, tx, profileId, 'key share')).id;
    return assignee.id;
  });

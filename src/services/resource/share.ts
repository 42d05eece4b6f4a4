import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { ShareInput } from '../../../entities/share-input.ts';
import { Share } from '../../../entities/share.ts';
import type { Context } from '../../core/context.ts';
import { notFound, refused } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { SHARE_LEVELS, type ResourcePermission, type ShareLevel } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction } from './access-level.ts';
import { checkOwnAccess } from './app-access.ts';
import { checkNoDraft } from './draft-row.ts';
import { checkVersion, loadResource } from './load-resource.ts';
import { resolvePrincipal } from './resolve-ids.ts';

/** Checks the fields of a share that only some kinds have and assigns them to the share. */
type ShareDetails<T> = (tx: Transaction, resource: T, share: Share) => Promise<void>;

/** Returns the permission that sharing a resource of a kind requires. */
export const sharePermission = <T extends OwnedRow>({ kind, shareAbility = 'share' }: OwnedKind<T>) =>
  `${kind}:${shareAbility}` as ResourcePermission;

/** Grants or updates a share. Returns its id. Throws FORBIDDEN for a level above the caller's own. */
export function set<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  principalId: string,
  { accessLevel }: ShareInput,
  assignDetails?: ShareDetails<T>,
): Promise<string> {
  checkShareLevel(kind, accessLevel);
  return ctx.transaction(async (tx) => {
    const { tenantId } = ctx.viewer;
    const resource = await loadResource(ctx, tx, kind, id, sharePermission(kind));
    checkOwnAccess(resource);
    if (accessLevel > (await accessLevelInTransaction(ctx, tx, resource)))
      throw refused('A share cannot have a higher access level than the caller');
    checkNoDraft(kind, resource, 'shares');
    const principal = await resolvePrincipal(tx, tenantId, principalId);
    const present = await tx.findOne(Share, { resourceId: resource.id, principal });
    checkVersion(ctx, 'share', present?.version ?? 0);
    const share =
      present ?? newRow(Share, { tenantId, kind: kind.kind, resourceId: resource.id, principal, accessLevel });
    share.accessLevel = accessLevel;
    await assignDetails?.(tx, resource, share);
    if (!present) tx.insert(share);
    return share.id;
  });
}

/** Throws BAD_USER_INPUT for a level that the shares of a kind do not have. */
function checkShareLevel({ shareLevels = SHARE_LEVELS }: OwnedKind<OwnedRow>, level: ShareLevel): void {
  if (!shareLevels.includes(level)) throw invalid('accessLevel', `must be one of ${shareLevels.join(', ')}`);
}

/** Deletes the share of a principal. Access by ownership remains. Throws NOT_FOUND if the share does not exist. */
export async function remove<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  principalId: string,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const resource = await loadResource(ctx, tx, kind, id, sharePermission(kind));
    checkOwnAccess(resource);
    checkNoDraft(kind, resource, 'shares');
    const share = await tx.findOne(Share, {
      resourceId: resource.id,
      principal: await resolvePrincipal(tx, ctx.viewer.tenantId, principalId),
    });
    if (!share) throw notFound({ what: 'share', id: principalId });
    checkVersion(ctx, 'share', share.version);
    tx.remove(share);
  });
}

/**
 * Returns the columns that identify the share of a principal on a resource. Throws NOT_FOUND for an unknown principal.
 */
export const findKey = async (
  ctx: Context,
  resourceId: string,
  principalId: string,
): Promise<{ resourceId: string; principal: string }> => ({
  resourceId,
  principal: await ctx.transaction((tx) => resolvePrincipal(tx, ctx.viewer.tenantId, principalId)),
});

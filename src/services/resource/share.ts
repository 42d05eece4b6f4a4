import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { ShareInput } from '../../../entities/share-input.ts';
import { Share } from '../../../entities/share.ts';
import type { Context } from '../../core/context.ts';
import { notFound, refused } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { LEVEL, type ResourcePermission, type ShareLevel } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction } from './access-level.ts';
import { checkVersion, load } from './load-resource.ts';
import { resolvePrincipal } from './resolve-ids.ts';

/** What a kind's shares say beside the level, checked and put into the share. */
export type ShareDetails<T> = (tx: Transaction, resource: T, share: Share) => Promise<void>;

/** Gives a principal a level on a resource, or changes it. Nobody grants above their own level (contract 3). Answers the share's id. */
export function set<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  principalId: string,
  { accessLevel }: ShareInput,
  details?: ShareDetails<T>,
): Promise<string> {
  if (!isShareLevel(accessLevel)) throw invalid('accessLevel', 'must be 1 (View), 2 (Edit) or 3 (Admin)');
  return ctx.transaction(async (tx) => {
    const { tenantId } = ctx.viewer;
    const resource = await load(ctx, tx, kind, id, `${kind.kind}:share` as ResourcePermission);
    if (accessLevel > (await accessLevelInTransaction(ctx, tx, resource)))
      throw refused('Nobody grants a level above their own');
    const principal = await resolvePrincipal(tx, tenantId, principalId);
    const present = await tx.em.findOne(Share, { resourceId: resource.id, principal });
    checkVersion(ctx, 'share', present?.version ?? 0);
    const share =
      present ??
      tx.em.create(
        Share,
        { tenantId, kind: kind.kind, resourceId: resource.id, principal, accessLevel },
        { partial: true },
      );
    share.accessLevel = accessLevel;
    await details?.(tx, resource, share);
    tx.em.persist(share);
    return share.id;
  });
}

const isShareLevel = (level: number): level is ShareLevel =>
  Number.isInteger(level) && level >= LEVEL.view && level <= LEVEL.admin;

/** Takes a principal's share away; what ownership gives stays. */
export async function remove<T extends OwnedRow>(
  ctx: Context,
  kind: OwnedKind<T>,
  id: string,
  principalId: string,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const resource = await load(ctx, tx, kind, id, `${kind.kind}:share` as ResourcePermission);
    const share = await tx.em.findOne(Share, {
      resourceId: resource.id,
      principal: await resolvePrincipal(tx, ctx.viewer.tenantId, principalId),
    });
    if (!share) throw notFound({ what: 'share', id: principalId });
    checkVersion(ctx, 'share', share.version);
    tx.em.remove(share);
  });
}

/** One principal's share on a resource that the caller reads, as values that only it has. 404 when the principal is nobody. */
export const findKey = async (
  ctx: Context,
  resourceId: string,
  principalId: string,
): Promise<{ resourceId: string; principal: string }> => ({
  resourceId,
  principal: await ctx.transaction((tx) => resolvePrincipal(tx, ctx.viewer.tenantId, principalId)),
});

import { Share } from '../../entities/share.ts';
import type { OwnedRow } from '../../entities/owned-row.ts';
import { invalid } from '../core/check.ts';
import type { Context } from '../core/context.ts';
import { notFound, refused } from '../core/errors.ts';
import { LEVEL, type Level, type ResourcePermission } from '../core/permissions.ts';
import type { KindOf } from './kind.ts';
import { checkVersion, levelIn, load, principalOf } from './rights.ts';

export interface ShareInput {
  accessLevel: number;
}

/** Gives a principal a level on a resource, or changes it. Nobody grants above their own level (contract 3). Answers the share's id. */
export function set<T extends OwnedRow>(ctx: Context, kind: KindOf<T>, id: string, principalId: string, { accessLevel }: ShareInput): Promise<string> {
  if (!Number.isInteger(accessLevel) || accessLevel < LEVEL.view || accessLevel > LEVEL.admin) throw invalid('accessLevel', 'must be 1 (View), 2 (Edit) or 3 (Admin)');
  return ctx.transaction(async (tx) => {
    const { tenantId } = ctx.viewer;
    const resource = await load({ ...ctx, ifMatch: undefined }, tx, kind, id, `${kind.kind}:share` as ResourcePermission);
    if (accessLevel > await levelIn(ctx, tx, resource)) throw refused('Nobody grants a level above their own');
    const principal = await principalOf(tx, tenantId, principalId);
    const share = await tx.em.findOne(Share, { resourceId: resource.id, principal });
    checkVersion(ctx, 'share', share?.version ?? 0);
    if (share) {
      share.accessLevel = accessLevel as Level;
      return share.id;
    }
    const made = tx.em.create(Share, { tenantId, kind: kind.kind, resourceId: resource.id, principal, accessLevel: accessLevel as Level }, { partial: true });
    tx.em.persist(made);
    return made.id;
  });
}

/** Takes a principal's share away; what ownership gives stays. */
export async function remove<T extends OwnedRow>(ctx: Context, kind: KindOf<T>, id: string, principalId: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const resource = await load({ ...ctx, ifMatch: undefined }, tx, kind, id, `${kind.kind}:share` as ResourcePermission);
    const share = await tx.em.findOne(Share, { resourceId: resource.id, principal: await principalOf(tx, ctx.viewer.tenantId, principalId) });
    if (!share) throw notFound({ what: 'share', id: principalId });
    checkVersion(ctx, 'share', share.version);
    tx.em.remove(share);
  });
}

/** One principal's share on a resource that the caller reads, as values that only it has. 404 when the principal is nobody. */
export const keyOf = async (ctx: Context, resourceId: string, principalId: string): Promise<{ resourceId: string; principal: string }> =>
  ({ resourceId, principal: await ctx.transaction((tx) => principalOf(tx, ctx.viewer.tenantId, principalId)) });

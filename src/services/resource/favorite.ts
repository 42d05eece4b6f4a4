import { Favorite } from '../../../entities/favorite.ts';
import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { requireUser } from '../../core/viewer.ts';
import { checkNoDraft } from './draft-row.ts';
import { checkVersion } from './load-resource.ts';

/**
 * Marks a resource that the viewer may read as their favourite. Does nothing if it is one. Returns the id of the
 * resource.
 */
export async function add<T extends OwnedRow>(ctx: Context, kind: OwnedKind<T>, id: string): Promise<string> {
  const { tenantId } = ctx.viewer;
  const userId = requireUser(ctx.viewer);
  const resource = await findReadable(ctx, kind, id);
  await ctx.transaction(async (tx) => {
    checkVersion(ctx, 'favorite', (await findOwnFavorite(ctx, tx, resource.id))?.version ?? 0);
    // Tolerates a concurrent mark by the same user and a concurrent deletion of the resource.
    await tx.query({
      text: `
        insert into dws.favorite (id, tenant_id, kind, resource_id, user_id)
        select $3, tenant_id, $4, id, $5
        from dws.${kind.table}
        where tenant_id = $1 and id = $2
        for key share
        on conflict do nothing`,
      values: [tenantId, resource.id, newId(), kind.kind, userId],
    });
  });
  return resource.id;
}

/** Removes a resource from the favourites of the viewer. Does nothing if it is not one of them. */
export async function remove<T extends OwnedRow>(ctx: Context, kind: OwnedKind<T>, id: string): Promise<void> {
  const resource = await findReadable(ctx, kind, id);
  await ctx.transaction(async (tx) => {
    const favorite = await findOwnFavorite(ctx, tx, resource.id);
    checkVersion(ctx, 'favorite', favorite?.version ?? 0);
    if (favorite) tx.remove(favorite);
  });
}

/** Returns a resource that the viewer may read. Throws NOT_FOUND otherwise, CONFLICT for a draft. */
async function findReadable<T extends OwnedRow>(ctx: Context, kind: OwnedKind<T>, id: string): Promise<{ id: string }> {
  const columns = ['id', ...(kind.hasDrafts ? ['parentId'] : [])];
  const resource = await ctx.read.one(kind.entity as EntityType<OwnedRow>, id, columns);
  recordAuditTarget(ctx.request, kind.kind, id, resource.id);
  checkNoDraft(kind, resource, 'favourites');
  return resource;
}

const findOwnFavorite = (ctx: Context, tx: Transaction, resourceId: string): Promise<Favorite | null> =>
  tx.findOne(Favorite, { resourceId, userId: ctx.viewer.userId });

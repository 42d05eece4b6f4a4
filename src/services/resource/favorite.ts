import { Favorite } from '../../../entities/favorite.ts';
import type { OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { checkVersion } from './load-resource.ts';

/** Marks a resource as a favourite of the viewer, who must be able to read it; again is fine. Answers the resource's id. */
export async function add<T extends OwnedRow>(ctx: Context, kind: OwnedKind<T>, id: string): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  const resource = await findReadable(ctx, kind, id);
  await ctx.transaction(async (tx) => {
    checkVersion(ctx, 'favorite', (await findOwnFavorite(ctx, tx, resource.id))?.version ?? 0);
    // Of two who are the same user one comes second, and a resource that vanishes meanwhile is not marked.
    await tx.query({
      text: `insert into dws.favorite (id, tenant_id, kind, resource_id, user_id) select $3, tenant_id, $4, id, $5 from dws.${kind.table} where tenant_id = $1 and id = $2 for key share on conflict do nothing`,
      values: [tenantId, resource.id, newId(), kind.kind, userId],
    });
  });
  return resource.id;
}

/** Takes the mark away, where there is one. */
export async function remove<T extends OwnedRow>(ctx: Context, kind: OwnedKind<T>, id: string): Promise<void> {
  const resource = await findReadable(ctx, kind, id);
  await ctx.transaction(async (tx) => {
    const marked = await findOwnFavorite(ctx, tx, resource.id);
    checkVersion(ctx, 'favorite', marked?.version ?? 0);
    if (marked) await tx.em.nativeDelete(Favorite, { id: marked.id });
  });
}

async function findReadable<T extends OwnedRow>(ctx: Context, kind: OwnedKind<T>, id: string): Promise<{ id: string }> {
  const resource = await ctx.read.one(kind.entity as EntityType<OwnedRow>, id, ['id']);
  recordAuditTarget(ctx.request, kind.kind, id, resource.id);
  return resource;
}

const findOwnFavorite = (ctx: Context, tx: Transaction, resourceId: string): Promise<Favorite | null> =>
  tx.em.findOne(Favorite, { resourceId, userId: ctx.viewer.userId });

import { OWNED_KINDS, type OwnedKind } from '../../../entities/owned-kinds.ts';
import type { OwnedRow } from '../../../entities/owned-row.ts';
import type { Context } from '../../core/context.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import { SqlParameters } from '../../core/read/sql-parameters.ts';
import { writable } from './access-filter.ts';
import { loadNames, recordActivities } from './activity.ts';
import { resolveIds } from './resolve-ids.ts';

/**
 * Moves resources of any kind into a folder, or out of their folders for null. Ignores ids that do not exist or that
 * the caller may not write (docs/contract/resources.md#folders).
 */
export async function assign(ctx: Context, resourceIds: readonly string[], folderId: string | null): Promise<void> {
  const { tenantId } = ctx.viewer;
  const ids = resourceIds.filter(isUuid);
  await ctx.transaction(async (tx) => {
    if (folderId !== null) await resolveIds(tx, tenantId, 'folder', [folderId]);
    const sentence = await sentenceFor(ctx, tx, folderId);
    for (const kind of OWNED_KINDS) {
      const moved = await moveRows(ctx, tx, kind, ids, folderId);
      recordActivities(ctx.viewer, tx, kind, 'folder.moved', moved, sentence, { folderId });
    }
  });
}

/** Moves the rows of a kind that the caller may write. Returns those that were in another folder. */
function moveRows(
  { viewer }: Context,
  tx: Transaction,
  { table, hasDrafts }: OwnedKind<OwnedRow>,
  ids: readonly string[],
  folderId: string | null,
): Promise<{ id: string; name: string; ownerId: string }[]> {
  const access = writable(viewer);
  // Rows are locked in the order of their ids, so that concurrent moves do not deadlock.
  const sql = new SqlParameters();
  const tenant = sql.bind(viewer.tenantId);
  const folder = `${sql.bind(folderId)}::uuid`;
  const withIds = `id = any(${sql.bind(ids)})`;
  // A draft has the folder of its original.
  const originalOnly = hasDrafts ? 'and parent_id is null' : '';
  const writableOnly = access ? `and (${sql.bindCondition(access).text})` : '';
  return tx.query({
    text: `
      with selected as (
        select id
        from dws.${table} r
        where tenant_id = ${tenant} and ${withIds} and folder_id is distinct from ${folder} ${originalOnly} ${writableOnly}
        order by id
        for update
      )
      update dws.${table} t
      set folder_id = ${folder}, version = version + 1, updated_at = now()
      from selected
      where t.tenant_id = ${tenant} and t.id = selected.id
      returning t.id, t.name, t.owner_id as "ownerId"`,
    values: sql.values,
  });
}

/** Returns a function from the name of a resource to the message of its activity. */
async function sentenceFor(
  { viewer: { tenantId, username } }: Context,
  tx: Transaction,
  folderId: string | null,
): Promise<(name: string) => string> {
  if (folderId === null) return (name) => `${username} took ${name} out of its folder`;
  const key = `folder:${folderId.toLowerCase()}`;
  const folder = (await loadNames(tx, tenantId, [key]))(key);
  return (name) => `${username} moved ${name} to the folder ${folder}`;
}

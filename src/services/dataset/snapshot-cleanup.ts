import { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { ApiError, forbidden } from '../../core/errors.ts';
import { levelAllows } from '../../core/permissions.ts';
import { accessLevel } from '../resource/access-level.ts';
import { isUsedSql } from '../resource/references.ts';
import { remove } from './snapshot.ts';

/** Why a snapshot stays: it is one of the latest, the viewer may not delete it, or something uses it. */
type Reason = 'latest' | 'notAllowed' | 'used';

/** A snapshot and what a cleanup does with it. */
export interface CleanedSnapshot {
  id: string;
  name: string;
  snapshotDate: Date;
  /** Null for a snapshot that is deleted. */
  kept: Reason | null;
}

interface FoundSnapshot extends Record<string, unknown> {
  id: string;
  name: string;
  ownerId: string;
  snapshotDate: Date;
  isUsed: boolean;
}

/**
 * Returns the snapshots of a dataset, the latest first, and what a cleanup that keeps the latest `keep` of them would
 * do with each. Snapshots of all users are included. Throws NOT_FOUND for a dataset that the viewer may not read.
 */
export async function planCleanup(ctx: Context, datasetId: string, keep: number): Promise<CleanedSnapshot[]> {
  const dataset = await ctx.read.one(Dataset, datasetId, ['ownerId']);
  const found = await ctx.query<FoundSnapshot>({
    text: `
      select d.id, d.name, d.owner_id as "ownerId", d.snapshot_date as "snapshotDate",
        (${isUsedSql('dataset', 'd.id')}) as "isUsed"
      from dws.dataset d
      where d.tenant_id = $1 and d.parent_id = $2 and d.is_snapshot
      order by d.snapshot_date desc, d.id desc`,
    values: [ctx.viewer.tenantId, dataset.id],
  });
  const levels = await Promise.all(
    found.map(async ({ id, ownerId }) => accessLevel(ctx, { id, ownerId, parent: dataset })),
  );
  return found.map(({ id, name, snapshotDate, isUsed }, index) => {
    const isAllowed = levelAllows(levels[index]!, 'dataset:write');
    const kept = index < keep ? 'latest' : !isAllowed ? 'notAllowed' : isUsed ? 'used' : null;
    return { id, name, snapshotDate, kept };
  });
}

/**
 * Deletes the oldest snapshots of a dataset so that the latest `keep` remain. Older snapshots also remain if something
 * uses them or the viewer may not delete them. `onEnd` is called for each of the older ones after its end. Throws
 * FORBIDDEN if there are older ones and the viewer may delete none of them.
 */
export async function cleanSnapshots(
  ctx: Context,
  datasetId: string,
  keep: number,
  onEnd: (snapshot: CleanedSnapshot, done: number) => void,
): Promise<void> {
  const older = (await planCleanup(ctx, datasetId, keep)).filter(({ kept }) => kept !== 'latest').reverse();
  if (older.length > 0 && older.every(({ kept }) => kept === 'notAllowed'))
    throw forbidden({ permission: 'dataset:write' });
  for (const [index, snapshot] of older.entries()) {
    const kept = snapshot.kept ?? (await removeUnless(ctx, datasetId, snapshot.id));
    onEnd({ ...snapshot, kept }, (index + 1) / older.length);
  }
}

/**
 * Deletes a snapshot unless it is now used, or may no longer be deleted. Returns the reason why it stays, or null if it
 * is gone.
 */
async function removeUnless(ctx: Context, datasetId: string, id: string): Promise<Reason | null> {
  try {
    await remove(ctx, datasetId, id, { ifUnnamed: true });
    return null;
  } catch (error) {
    const { code } = error instanceof ApiError ? error : { code: undefined };
    if (code === 'CONFLICT') return 'used';
    if (code === 'FORBIDDEN') return 'notAllowed';
    // The snapshot or its dataset was deleted during the cleanup.
    if (code === 'NOT_FOUND') return null;
    throw error;
  }
}

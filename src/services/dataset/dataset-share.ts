import type { DatasetShareInput } from '../../../entities/dataset-share-input.ts';
import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import type { Share } from '../../../entities/share.ts';
import type { Context } from '../../core/context.ts';
import { badInput, conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { LEVEL, levelAllows } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { FieldValues } from '../../core/read/list-arguments.ts';
import type { ReadRow } from '../../core/read/reader.ts';
import { type AccessColumns, accessLevelInTransaction, ownershipLevel } from '../resource/access-level.ts';
import * as shares from '../resource/share.ts';
import { restrictionOn } from './dataset-view.ts';

/**
 * Grants or updates a share of a dataset. Absent keys are unchanged. Returns the share's id. Throws CONFLICT for a
 * draft or snapshot, FORBIDDEN above the caller's own level. See docs/contract/access.md#restricted-shares.
 */
export const setShare = (ctx: Context, id: string, principalId: string, input: DatasetShareInput): Promise<string> =>
  shares.set(ctx, DATASET, id, principalId, input, async (tx, dataset, share) => {
    if (dataset.parentId) throw conflict('A draft or snapshot is shared with its dataset');
    await restrictRows(ctx, tx, dataset, share, input);
    restrictFields(dataset, share, input);
  });

/**
 * Sets the filter of a share. Throws NOT_FOUND for a filter that the caller cannot read: the share shows its rows to
 * others.
 */
async function restrictRows(
  ctx: Context,
  tx: Transaction,
  dataset: Dataset,
  share: Share,
  { datasetFilterId: id }: DatasetShareInput,
): Promise<void> {
  if (id === undefined || id === (share.datasetFilterId ?? null)) return;
  if (id === null) {
    share.datasetFilterId = null;
    return;
  }
  // The dataset is locked, as for every change of its filters, so the filter cannot change before the share uses it.
  const filter = isUuid(id) ? await tx.findOne(SavedFilter, { id, datasetId: dataset.id }) : null;
  const used = filter !== null && (await isUsedByShare(tx, filter));
  if (!filter || !(used || ownershipLevel(ctx.viewer, filter.ownerId) > LEVEL.none))
    throw notFound({ what: 'filter', id });
  share.datasetFilterId = filter.id;
}

function restrictFields(
  dataset: Dataset,
  share: Share,
  { restrictFields: restrict, visibleFields }: DatasetShareInput,
): void {
  if (restrict && !share.restrictFields && !dataset.fieldSecurityEnabled)
    throw badInput('The dataset has no field security: set fieldSecurityEnabled first');
  if (restrict != null) share.restrictFields = restrict;
  if (visibleFields !== undefined) share.visibleFields = visibleFields && [...new Set(visibleFields)];
  const unknown = visibleFields?.find((name) => !dataset.fields.some((field) => field.name === name));
  if (unknown !== undefined)
    throw invalid(
      'visibleFields',
      `names ${JSON.stringify(unknown.slice(0, 100))}, which is not a field of the dataset`,
    );
  if (share.restrictFields && !share.visibleFields)
    throw invalid('visibleFields', 'must name the fields to show when restrictFields is true');
}

/** Returns whether a share is restricted by a filter. */
export async function isUsedByShare(
  tx: Pick<Transaction, 'query'>,
  { id, tenantId }: Pick<SavedFilter, 'id' | 'tenantId'>,
): Promise<boolean> {
  const found = await tx.query({
    text: `select 1 from dws.share where tenant_id = $1 and dataset_filter_id = $2 limit 1`,
    values: [tenantId, id],
  });
  return found.length > 0;
}

/**
 * Returns the shares of a resource that the viewer may see. A restricted reader sees only their own, with the visible
 * fields among those it names. `read` reads the shares with these values, or all of them.
 */
export async function loadVisibleShares(
  ctx: Context,
  resource: AccessColumns,
  read: (own: FieldValues | undefined) => Promise<ReadRow<Share>[]>,
): Promise<ReadRow<Share>[]> {
  const restriction = await restrictionOn(ctx, resource);
  if (!restriction) return read(undefined);
  const own = await read({ principal: ctx.viewer.principals });
  const isVisible = (name: string) => restriction.fields?.has(name) ?? true;
  return own.map((share) => ({ ...share, visibleFields: share.visibleFields?.filter(isVisible) ?? null }));
}

/** Returns whether the viewer may share the dataset, within a transaction. */
export const mayShare = async (ctx: Context, tx: Transaction, dataset: Dataset): Promise<boolean> =>
  levelAllows(await accessLevelInTransaction(ctx, tx, dataset), 'dataset:share');

import type { Dataset } from '../../../entities/dataset.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import type { ShareInput } from '../../../entities/share-input.ts';
import type { Share } from '../../../entities/share.ts';
import type { Context } from '../../core/context.ts';
import { badInput, conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { LEVEL, levelAllows } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { FieldValues } from '../../core/read/list-arguments.ts';
import type { ReadRow } from '../../core/read/reader.ts';
import { accessLevelInTransaction, ownershipLevel, type AccessColumns } from '../resource/access-level.ts';
import { load } from '../resource/load-resource.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import * as shares from '../resource/share.ts';
import { restrictionOn } from './dataset-view.ts';

export interface DatasetShareInput extends ShareInput {
  /** Null shows all rows. */
  datasetFilterId?: string | null;
  restrictFields?: boolean | null;
  visibleFields?: string[] | null;
}

/** Shares a dataset, whole or in part (specification, "Dataset share"). What the input does not name stays as it is. */
export const set = (ctx: Context, id: string, principalId: string, input: DatasetShareInput): Promise<string> =>
  shares.set(ctx, DATASET, id, principalId, input, async (tx, dataset, share) => {
    if (dataset.parentId) throw conflict('A draft or snapshot is shared with its dataset');
    await restrictRows(ctx, tx, dataset, share, input);
    restrictFields(dataset, share, input);
  });

/** The filter must be one that the caller may read: a share shows what it chooses to others. */
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
  // The dataset is locked, as for every change of its filters: none is deleted or rewritten while a share begins to use it.
  const filter = isUuid(id) ? await tx.em.findOne(SavedFilter, { id, datasetId: dataset.id }) : null;
  const used = filter !== null && (await isUsed(tx, filter));
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
    throw badInput('The dataset does not secure its fields: set fieldSecurityEnabled first');
  if (restrict != null) share.restrictFields = restrict;
  if (visibleFields !== undefined) share.visibleFields = visibleFields && [...new Set(visibleFields)];
  const unknown = visibleFields?.find((name) => !dataset.fields.some((field) => field.name === name));
  if (unknown !== undefined)
    throw invalid('visibleFields', `names ${JSON.stringify(unknown.slice(0, 100))}, which is no field of the dataset`);
  if (share.restrictFields && !share.visibleFields)
    throw invalid('visibleFields', 'must name the fields to show when restrictFields is true');
}

/** Whether a share shows the rows of a filter. */
export async function isUsed(
  tx: Pick<Transaction, 'query'>,
  { id, tenantId }: Pick<SavedFilter, 'id' | 'tenantId'>,
): Promise<boolean> {
  return (
    (
      await tx.query({
        text: `select 1 from dws.share where tenant_id = $1 and dataset_filter_id = $2 limit 1`,
        values: [tenantId, id],
      })
    ).length > 0
  );
}

/** Of a resource's shares those that the viewer may know of: who sees a part of it their own, and of the fields that these name the visible ones. `read` answers them, `own` alone or all. */
export async function knownShares(
  ctx: Context,
  resource: AccessColumns,
  read: (own: FieldValues | undefined) => Promise<ReadRow<Share>[]>,
): Promise<ReadRow<Share>[]> {
  const restriction = await restrictionOn(ctx, resource);
  if (!restriction) return read(undefined);
  const found = await read({ principal: ctx.viewer.principals });
  const shown = (names: string[] | null | undefined) =>
    names?.filter((name) => restriction.fields?.has(name) ?? true) ?? null;
  return found.map((share) => ({ ...share, visibleFields: shown(share.visibleFields) }));
}

/** Switches field security of datasets on or off, all or none of them (specification, "dataset-field-report-access"). Each takes who may share it. Answers by id. */
export async function secureFields(ctx: Context, switches: Record<string, unknown>): Promise<Record<string, boolean>> {
  const entries = Object.entries(switches);
  if (entries.length > MAX_DATASETS) throw badInput(`At most ${MAX_DATASETS} datasets can be named`);
  for (const [key, enabled] of entries) if (typeof enabled !== 'boolean') throw invalid(key, 'must be true or false');
  return ctx.transaction(async (tx) => {
    const done: Record<string, boolean> = {};
    // In one order, so that two calls cannot wait for each other.
    for (const [key, enabled] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
      const dataset = await load(ctx, tx, DATASET, key, 'dataset:share');
      if (dataset.id in done) throw badInput(`The dataset ${dataset.id} is named twice`);
      dataset.fieldSecurityEnabled = done[dataset.id] = enabled as boolean;
    }
    return done;
  });
}

const MAX_DATASETS = 1000;

/** Whether the viewer may share the dataset, within a transaction. */
export const mayShare = async (ctx: Context, tx: Transaction, dataset: Dataset): Promise<boolean> =>
  levelAllows(await accessLevelInTransaction(ctx, tx, dataset), 'dataset:share');

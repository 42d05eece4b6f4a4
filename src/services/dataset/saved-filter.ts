import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { CreateSavedFilterInput, UpdateSavedFilterInput } from '../../../entities/saved-filter-input.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import type { Context } from '../../core/context.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { at, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { LEVEL, levelAllows } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingPrincipal, checkNoApp } from '../../core/viewer.ts';
import { accessLevel, ownershipLevel, type AccessColumns } from '../resource/access-level.ts';
import { assignInput } from '../resource/assign-input.ts';
import { checkVersion, loadResource } from '../resource/load-resource.ts';
import { checkNewOwner } from '../resource/owned-kind.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { isUsedByShare, mayShare } from './dataset-share.ts';
import { visibleFields } from './dataset-view.ts';

/** Per dataset. */
const MAX_FILTERS = 1000;
const MAX_CRITERIA_BYTES = 1_000_000;

/**
 * Creates a saved filter of a dataset that the caller may read. Returns its id. Throws where the criteria do not fit
 * the fields that the caller may see.
 */
export function create(
  ctx: Context,
  datasetId: string,
  { ownerId: owner, ...input }: CreateSavedFilterInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { tenantId } = ctx.viewer;
    const dataset = await loadResource(ctx, tx, DATASET, datasetId, 'dataset:read');
    if (dataset.parentId) throw conflict('A draft or snapshot uses the filters of its dataset');
    const ownerId = owner ? await resolvePrincipal(tx, tenantId, owner) : actingPrincipal(ctx.viewer);
    checkNewOwner(ctx, ownerId);
    const checked = await checkInput(ctx, dataset, input);
    if ((await tx.count(SavedFilter, { datasetId: dataset.id })) >= MAX_FILTERS)
      throw conflict(`A dataset has at most ${MAX_FILTERS} saved filters`);
    const filter = newRow(SavedFilter, { tenantId, datasetId: dataset.id, ownerId });
    assignInput(tx, filter, checked);
    return tx.insert(filter).id;
  });
}

/** Updates a filter. Its owner is changed by `setOwner` only. Returns the id. */
export function update(ctx: Context, datasetId: string, id: string, input: UpdateSavedFilterInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { filter, dataset } = await loadForUpdate(ctx, tx, datasetId, id);
    assignInput(tx, filter, await checkInput(ctx, dataset, input));
    return filter.id;
  });
}

/** Transfers a filter to another user or team. Returns the id. */
export function setOwner(ctx: Context, datasetId: string, id: string, owner: string): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { filter } = await loadForUpdate(ctx, tx, datasetId, id);
    const ownerId = await resolvePrincipal(tx, ctx.viewer.tenantId, owner);
    if (ownerId !== filter.ownerId) checkNewOwner(ctx, ownerId);
    filter.ownerId = ownerId;
    return filter.id;
  });
}

/** Deletes a filter. Throws CONFLICT while a share uses it: without the filter the share would show all rows. */
export async function remove(ctx: Context, datasetId: string, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const { filter, used } = await loadEditable(ctx, tx, datasetId, id);
    if (used) throw conflict('A share of the dataset uses the filter');
    tx.remove(filter);
  });
}

/** Returns whether the viewer may share a dataset that they may read. */
export const canShareDataset = async (ctx: Context, dataset: AccessColumns): Promise<boolean> =>
  levelAllows(await accessLevel(ctx, dataset), 'dataset:share');

/**
 * Loads a filter for an update. Throws FORBIDDEN when a share uses it and the caller may not share the dataset
 * (docs/contract/access.md#restricted-shares).
 */
async function loadForUpdate(
  ctx: Context,
  tx: Transaction,
  datasetId: string,
  id: string,
): Promise<{ filter: SavedFilter; dataset: Dataset }> {
  const { filter, dataset, used } = await loadEditable(ctx, tx, datasetId, id);
  if (used) {
    if (!(await mayShare(ctx, tx, dataset))) throw forbidden({ permission: 'dataset:share' });
    checkNoApp(ctx.viewer);
  }
  return { filter, dataset };
}

/**
 * Loads a filter and its dataset, and locks the dataset until the transaction ends. Throws NOT_FOUND when the caller
 * may not read one of them, FORBIDDEN when they may not edit the filter, and PRECONDITION_FAILED for another version.
 */
async function loadEditable(
  ctx: Context,
  tx: Transaction,
  datasetId: string,
  id: string,
): Promise<{ filter: SavedFilter; dataset: Dataset; used: boolean }> {
  const dataset = await loadResource(ctx, tx, DATASET, datasetId, 'dataset:read');
  const filter = isUuid(id) ? await tx.findOne(SavedFilter, { id, datasetId: dataset.id }) : null;
  const level = filter ? ownershipLevel(ctx.viewer, filter.ownerId) : LEVEL.none;
  const used = filter !== null && (await isUsedByShare(tx, filter));
  if (!filter || (level === LEVEL.none && !(used && (await mayShare(ctx, tx, dataset)))))
    throw notFound({ what: 'filter', id });
  if (level < LEVEL.edit) throw forbidden({ permission: 'filter:edit' });
  checkVersion(ctx, 'filter', filter.version);
  return { filter, dataset, used };
}

/** Checks the fields of an input that have rules. Returns the input with their checked values. */
async function checkInput(
  ctx: Context,
  dataset: Dataset,
  { name, description, criteria, ...rest }: UpdateSavedFilterInput,
): Promise<UpdateSavedFilterInput> {
  return {
    ...rest,
    ...(name !== undefined && { name: checkText(name, 'name') }),
    ...(description !== undefined && { description: checkOptionalText(description, 'description') }),
    ...(criteria !== undefined && { criteria: await checkCriteria(ctx, dataset, criteria) }),
  };
}

async function checkCriteria(
  ctx: Context,
  dataset: Dataset,
  criteria: Record<string, unknown> | null,
): Promise<Record<string, unknown>> {
  if (criteria === null) throw invalid('criteria', 'is required');
  if (Buffer.byteLength(JSON.stringify(criteria)) > MAX_CRITERIA_BYTES)
    throw invalid('criteria', 'must have at most 1 MB as JSON');
  const fields = await visibleFields(ctx, dataset);
  at(['criteria'], () => parseCriteria(criteria, fields));
  return criteria;
}

import type { Dataset } from '../../../entities/dataset.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import type { Context } from '../../core/context.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { LEVEL, levelAllows } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { ownershipLevel, accessLevel, type AccessColumns } from '../resource/access-level.ts';
import { checkVersion, load } from '../resource/load-resource.ts';
import { checkNewOwner } from '../resource/owned-kind.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { isUsedByShare, mayShare } from './dataset-share.ts';
import { visibleFields } from './dataset-view.ts';

export interface SavedFilterInput {
  name?: string | null;
  description?: string | null;
  criteria?: Record<string, unknown> | null;
}

/** What one dataset may have. */
const MAX_FILTERS = 1000;
/** Bytes that criteria may have as JSON. */
const LARGEST = 1_000_000;

/** Keeps criteria for whoever reads the dataset: private to its owner, by default the caller. They must fit the fields that the caller sees. Answers the id. */
export function create(
  ctx: Context,
  datasetId: string,
  { ownerId: given, ...input }: SavedFilterInput & { ownerId?: string | null },
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { tenantId, userId } = ctx.viewer;
    const dataset = await load(ctx, tx, DATASET, datasetId, 'dataset:read');
    if (dataset.parentId) throw conflict('A draft or snapshot has the filters of its dataset');
    const ownerId = given ? await resolvePrincipal(tx, tenantId, given) : `user:${userId}`;
    checkNewOwner(ctx, ownerId);
    const content = {
      name: checkText(input.name, 'name'),
      description: checkOptionalText(input.description ?? null, 'description'),
      criteria: await checkedCriteria(ctx, dataset, input.criteria),
    };
    const [{ count }] = (await tx.query<{ count: number }>({
      text: `select count(*)::int as count from dws.saved_filter where tenant_id = $1 and dataset_id = $2`,
      values: [tenantId, dataset.id],
    })) as [{ count: number }];
    if (count >= MAX_FILTERS) throw conflict(`A dataset has at most ${MAX_FILTERS} saved filters`);
    const filter = tx.em.create(
      SavedFilter,
      { tenantId, datasetId: dataset.id, ownerId, ...content },
      { partial: true },
    );
    tx.em.persist(filter);
    return filter.id;
  });
}

/** Changes a filter; its owner has a way of its own. Answers the id. */
export function update(
  ctx: Context,
  datasetId: string,
  id: string,
  { name, description, criteria }: SavedFilterInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { filter, dataset } = await loadForChange(ctx, tx, datasetId, id);
    if (name !== undefined) filter.name = checkText(name, 'name');
    if (description !== undefined) filter.description = checkOptionalText(description, 'description');
    if (criteria !== undefined) filter.criteria = await checkedCriteria(ctx, dataset, criteria);
    return filter.id;
  });
}

/** Gives a filter to another user or team. Answers the id. */
export function setOwner(ctx: Context, datasetId: string, id: string, given: string): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { filter } = await loadForChange(ctx, tx, datasetId, id);
    const ownerId = await resolvePrincipal(tx, ctx.viewer.tenantId, given);
    if (ownerId !== filter.ownerId) checkNewOwner(ctx, ownerId);
    filter.ownerId = ownerId;
    return filter.id;
  });
}

/** Deletes a filter; 409 while a share uses it, which would show all rows without it. */
export async function remove(ctx: Context, datasetId: string, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const { filter, used } = await loadEditable(ctx, tx, datasetId, id);
    if (used) throw conflict('A share of the dataset uses the filter');
    tx.em.remove(filter);
  });
}

/** Whether the viewer may share a dataset that they read. */
export const canShareDataset = async (ctx: Context, dataset: AccessColumns): Promise<boolean> =>
  levelAllows(await accessLevel(ctx, dataset), 'dataset:share');

/** A filter for a change: what a share shows is changed by who may share alone (contract 3). */
async function loadForChange(
  ctx: Context,
  tx: Transaction,
  datasetId: string,
  id: string,
): Promise<{ filter: SavedFilter; dataset: Dataset }> {
  const { filter, dataset, used } = await loadEditable(ctx, tx, datasetId, id);
  if (used && !(await mayShare(ctx, tx, dataset))) throw forbidden({ permission: 'dataset:share' });
  return { filter, dataset };
}

/** A filter of a dataset, which is locked until the transaction ends. 404 when the caller may not read one of them, 403 when the filter is not theirs to change, 412 for another version. */
async function loadEditable(
  ctx: Context,
  tx: Transaction,
  datasetId: string,
  id: string,
): Promise<{ filter: SavedFilter; dataset: Dataset; used: boolean }> {
  const dataset = await load(ctx, tx, DATASET, datasetId, 'dataset:read');
  const filter = isUuid(id) ? await tx.em.findOne(SavedFilter, { id, datasetId: dataset.id }) : null;
  const level = filter ? ownershipLevel(ctx.viewer, filter.ownerId) : LEVEL.none;
  const used = filter !== null && (await isUsedByShare(tx, filter));
  if (!filter || (level === LEVEL.none && !(used && (await mayShare(ctx, tx, dataset)))))
    throw notFound({ what: 'filter', id });
  if (level < LEVEL.edit) throw forbidden({ permission: 'filter:edit' });
  checkVersion(ctx, 'filter', filter.version);
  return { filter, dataset, used };
}

async function checkedCriteria(
  ctx: Context,
  dataset: Dataset,
  criteria: Record<string, unknown> | null | undefined,
): Promise<Record<string, unknown>> {
  if (criteria === undefined || criteria === null) throw invalid('criteria', 'is required');
  if (Buffer.byteLength(JSON.stringify(criteria)) > LARGEST)
    throw invalid('criteria', 'must have at most 1 MB as JSON');
  parseCriteria(criteria, await visibleFields(ctx, dataset));
  return criteria;
}

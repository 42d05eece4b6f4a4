import { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { CreateVisualInput, UpdateVisualInput } from '../../../entities/visual-input.ts';
import { Visual } from '../../../entities/visual.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkOptionalText, checkText } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingUserId } from '../../core/viewer.ts';
import { componentOf } from '../../core/visual/component.ts';
import { restoreHiddenFields, type IsVisible } from '../../core/visual/visible-config.ts';
import { VIEW_COLUMNS } from '../dataset/dataset-view.ts';
import { assignInput } from '../resource/assign-input.ts';
import { copyRow } from '../resource/copy-row.ts';
import { checkVersion, loadResource } from '../resource/load-resource.ts';
import { checkConfig, fieldVisibility } from './visual-config.ts';

/** Per dataset. */
const MAX_VISUALS = 200;

/** Creates a visual of a dataset, by default at the last position. Returns its id. */
export async function create(
  ctx: Context,
  datasetId: string,
  { component, position, ...input }: CreateVisualInput,
): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const dataset = await lockDataset(ctx, tx, datasetId, 'dataset:addVisual');
    const count = await tx.count(Visual, { datasetId: dataset.id });
    if (count >= MAX_VISUALS) throw conflict(`A dataset has at most ${MAX_VISUALS} visuals`);
    const name = input.name ?? componentOf(component).name;
    const visual = newRow(Visual, {
      tenantId,
      datasetId: dataset.id,
      ownerId: actingUserId(ctx.viewer),
      component,
      name,
      position: count,
    });
    assignChecked(tx, visual, { ...input, name });
    await moveTo(tx, visual, position ?? count, count);
    return tx.insert(visual).id;
  });
}

/** Updates a visual. Returns its id. */
export async function update(
  ctx: Context,
  datasetId: string,
  id: string,
  { position, ...input }: UpdateVisualInput,
): Promise<string> {
  // A restricted caller must not remove fields that they cannot see.
  const isVisible = input.config
    ? await fieldVisibility(ctx, await ctx.read.one(Dataset, datasetId, VIEW_COLUMNS))
    : null;
  return ctx.transaction(async (tx) => {
    const dataset = await lockDataset(ctx, tx, datasetId, 'dataset:addVisual');
    const visual = await loadVisual(ctx, tx, dataset, id);
    if (position !== undefined)
      await moveTo(tx, visual, position, (await tx.count(Visual, { datasetId: dataset.id })) - 1);
    assignChecked(tx, visual, input, isVisible);
    return visual.id;
  });
}

/** Deletes a visual and closes the gap in the positions. */
export async function remove(ctx: Context, datasetId: string, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const dataset = await lockDataset(ctx, tx, datasetId, 'dataset:deleteVisual');
    const visual = await loadVisual(ctx, tx, dataset, id);
    await shift(tx, visual, visual.position + 1, MAX_VISUALS, -1);
    tx.remove(visual);
  });
}

/** Copies the visuals of a dataset to one that has none, with a new owner. Returns the new ids, by position. */
export async function copyVisuals(
  tx: Transaction,
  fromDatasetId: string,
  toDatasetId: string,
  ownerId: string,
): Promise<string[]> {
  const visuals = await tx.find(Visual, { datasetId: fromDatasetId }, { orderBy: ['position'] });
  return visuals.map((visual) => copyRow(tx, visual, { datasetId: toDatasetId, ownerId }).id);
}

/** Loads the dataset and locks it, and thereby the positions of its visuals. `If-Match` applies to the visual. */
const lockDataset = (ctx: Context, tx: Transaction, id: string, permission: ResourcePermission): Promise<Dataset> =>
  loadResource(ctx, tx, DATASET, id, permission);

async function loadVisual(ctx: Context, tx: Transaction, dataset: Dataset, id: string): Promise<Visual> {
  const visual = isUuid(id) ? await tx.findOne(Visual, { id, datasetId: dataset.id }) : null;
  if (!visual) throw notFound({ what: 'visual', id });
  checkVersion(ctx, 'visual', visual.version);
  return visual;
}

/**
 * Checks an input and copies it onto a visual. The config is checked before hidden fields are restored, so that no
 * error depends on them.
 */
function assignChecked(
  tx: Transaction,
  visual: Visual,
  { name, description, config, ...rest }: Omit<UpdateVisualInput, 'position'>,
  isVisible: IsVisible | null = null,
): void {
  const checked = config === undefined ? undefined : checkConfig(visual.component, config ?? {});
  assignInput(tx, visual, {
    ...rest,
    name: name === undefined ? undefined : checkText(name, 'name'),
    description: description === undefined ? undefined : checkOptionalText(description, 'description'),
    config:
      config && checked && isVisible
        ? restoreHiddenFields(visual.component, visual.config, { ...checked }, isVisible)
        : checked,
  });
}

/** Moves a visual to a position, at most `last`, and the others around it, so that positions have no gaps. */
async function moveTo(tx: Transaction, visual: Visual, position: number, last: number): Promise<void> {
  const [from, to] = [visual.position, Math.min(position, last)];
  if (to > from) await shift(tx, visual, from + 1, to, -1);
  if (to < from) await shift(tx, visual, to, from - 1, 1);
  visual.position = to;
}

/** Moves the visuals from position `first` to `last` by one. Their `updatedAt` does not change. */
async function shift(
  tx: Transaction,
  { tenantId, datasetId }: Visual,
  first: number,
  last: number,
  by: 1 | -1,
): Promise<void> {
  await tx.query({
    text: `
      update dws.visual
      set position = position + $5, version = version + 1
      where tenant_id = $1 and dataset_id = $2 and position between $3 and $4`,
    values: [tenantId, datasetId, first, last, by],
  });
}

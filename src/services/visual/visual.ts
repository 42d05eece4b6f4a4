import { Dataset } from '../../../entities/dataset.ts';
import { Visual } from '../../../entities/visual.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { assignPresent, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { componentOf, withHidden, type IsVisible, type VisualComponent } from '../../core/visual/component.ts';
import { VIEW_COLUMNS } from '../dataset/dataset-view.ts';
import { copyRow } from '../resource/copy-row.ts';
import { checkVersion, load } from '../resource/load-resource.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { checkedConfig, fieldsSeen } from './visual-config.ts';

const MAX_VISUALS = 200;

export interface VisualInput {
  name?: string | null;
  description?: string | null;
  /** Keys of the component's JSON Schema; null for none. */
  config?: Record<string, unknown> | null;
  embedded?: boolean | null;
  pinned?: boolean | null;
  /** From 0; past the end is the end. */
  position?: number | null;
}

/** Adds a visual to a dataset, behind the others unless a position is named. Answers its id. */
export async function create(
  ctx: Context,
  datasetId: string,
  { component, ...input }: VisualInput & { component: VisualComponent },
): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const dataset = await lockedDataset(ctx, tx, datasetId, 'dataset:addVisual');
    const count = await tx.em.count(Visual, { datasetId: dataset.id });
    if (count >= MAX_VISUALS) throw conflict(`A dataset has at most ${MAX_VISUALS} visuals`);
    const name = input.name ?? componentOf(component).name;
    const visual = tx.em.create(
      Visual,
      { tenantId, datasetId: dataset.id, ownerId: userId, component, name, position: count },
      { partial: true },
    );
    assign(visual, { ...input, name });
    await place(tx, visual, input.position ?? count, count);
    tx.em.persist(visual);
    return visual.id;
  });
}

/** Changes a visual; what the input does not name stays. Answers its id. */
export async function update(ctx: Context, datasetId: string, id: string, input: VisualInput): Promise<string> {
  // Whoever does not see all fields must not lose those of others.
  const isVisible = input.config ? await fieldsSeen(ctx, await ctx.read.one(Dataset, datasetId, VIEW_COLUMNS)) : null;
  return ctx.transaction(async (tx) => {
    const dataset = await lockedDataset(ctx, tx, datasetId, 'dataset:addVisual');
    const visual = await visualIn(ctx, tx, dataset, id);
    if (input.position === null) throw invalid('position', 'must not be null');
    if (input.position !== undefined)
      await place(tx, visual, input.position, (await tx.em.count(Visual, { datasetId: dataset.id })) - 1);
    assign(visual, input, isVisible);
    return visual.id;
  });
}

/** Deletes a visual; those behind it move up. */
export async function remove(ctx: Context, datasetId: string, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const dataset = await lockedDataset(ctx, tx, datasetId, 'dataset:deleteVisual');
    const visual = await visualIn(ctx, tx, dataset, id);
    await shift(tx, visual, visual.position + 1, MAX_VISUALS, -1);
    tx.em.remove(visual);
  });
}

/** Gives a dataset without visuals those of another, as they are, with a new owner. Answers their ids, in the order of their places. */
export async function copyVisuals(
  tx: Transaction,
  fromDatasetId: string,
  toDatasetId: string,
  ownerId: string,
): Promise<string[]> {
  const visuals = await tx.em.find(Visual, { datasetId: fromDatasetId }, { orderBy: { position: 'asc' } });
  return visuals.map((visual) => copyRow(tx, visual, { datasetId: toDatasetId, ownerId }).id);
}

/** The lock on the dataset is that on the order of its visuals. `If-Match` speaks of the visual. */
const lockedDataset = (ctx: Context, tx: Transaction, id: string, permission: ResourcePermission): Promise<Dataset> =>
  load(ctx, tx, DATASET, id, permission);

async function visualIn(ctx: Context, tx: Transaction, dataset: Dataset, id: string): Promise<Visual> {
  const visual = isUuid(id) ? await tx.em.findOne(Visual, { id, datasetId: dataset.id }) : null;
  if (!visual) throw notFound({ what: 'visual', id });
  checkVersion(ctx, 'visual', visual.version);
  return visual;
}

/** What was sent is checked by itself: what stays of others must not be told by what does not fit beside it. */
function assign(
  visual: Visual,
  { name, description, config, embedded, pinned }: VisualInput,
  isVisible: IsVisible | null = null,
): void {
  const checked = config === undefined ? undefined : checkedConfig(visual.component, config ?? {});
  assignPresent<Pick<Visual, 'name' | 'description' | 'config' | 'embedded' | 'pinned'>>(
    visual,
    {
      name: name === undefined ? undefined : checkText(name, 'name'),
      description: description === undefined ? undefined : checkOptionalText(description, 'description'),
      config:
        config && checked && isVisible
          ? withHidden(visual.component, visual.config, { ...checked }, isVisible)
          : checked,
      embedded,
      pinned,
    },
    ['description'],
  );
}

/** Puts a visual to its place and the others around it, so that places count from 0 without gaps; `last` is the last place. */
async function place(tx: Transaction, visual: Visual, wanted: number, last: number): Promise<void> {
  if (!Number.isInteger(wanted) || wanted < 0) throw invalid('position', 'must be a whole number from 0');
  const [from, to] = [visual.position, Math.min(wanted, last)];
  if (to > from) await shift(tx, visual, from + 1, to, -1);
  if (to < from) await shift(tx, visual, to, from - 1, 1);
  visual.position = to;
}

/** Moves the visuals of some places by one. Their `updatedAt` stays: nobody changed them. */
async function shift(
  tx: Transaction,
  { tenantId, datasetId }: Visual,
  first: number,
  last: number,
  by: 1 | -1,
): Promise<void> {
  await tx.query({
    text: `update dws.visual set position = position + $5, version = version + 1 where tenant_id = $1 and dataset_id = $2 and position between $3 and $4`,
    values: [tenantId, datasetId, first, last, by],
  });
}

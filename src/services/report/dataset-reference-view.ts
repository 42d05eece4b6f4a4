import { MAX_SNAPSHOTS } from '../../../entities/dataset-reference-input.ts';
import type { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { isRestricted } from '../../core/permissions.ts';
import { visibleFields, VIEW_COLUMNS, type ViewedDataset } from '../dataset/dataset-view.ts';
import { accessLevel, type AccessColumns } from '../resource/access-level.ts';

/** Columns of a `ResolvedReference`. */
export const REFERENCE_COLUMNS = [
  'datasetId',
  'filter',
  'chips',
  'snapshots',
  'snapshotIds',
  ...VIEW_COLUMNS.map((column) => `dataset.${column}`),
];

/** A dataset reference with all that is required to load its rows. */
export interface ResolvedReference extends Pick<
  DatasetReference,
  'id' | 'datasetId' | 'filter' | 'chips' | 'snapshots'
> {
  snapshotIds: string[];
  /** Null if the caller may not read the dataset. */
  dataset: ViewedDataset | null;
}

/** A dataset whose rows a reference shows: the referenced dataset itself, or a snapshot of it. */
export interface ReferenceSource {
  dataset: ViewedDataset;
  /** Label of the snapshot. Null for the dataset itself. */
  label: string | null;
}

interface SnapshotRow extends ViewedDataset {
  name: string;
  snapshotDate: string | null;
}

/**
 * Returns the filter and the chips of a reference as the caller may see them. Each is empty if the caller cannot see
 * all fields that it names, or cannot read the dataset.
 */
export async function visibleFilterAndChips(
  ctx: Context,
  {
    filter,
    chips,
    dataset,
  }: Pick<DatasetReference, 'filter' | 'chips'> & { dataset: (AccessColumns & Pick<ViewedDataset, 'fields'>) | null },
): Promise<Pick<DatasetReference, 'filter' | 'chips'>> {
  if (!dataset) return { filter: {}, chips: [] };
  if (!isRestricted(await accessLevel(ctx, dataset))) return { filter, chips };
  const visible = new Set((await visibleFields(ctx, dataset)).map(({ name }) => name));
  const canSeeAll = (items: readonly { field: string }[] = []): boolean =>
    items.every(({ field }) => visible.has(field));
  return { filter: canSeeAll(filter.criteria) ? filter : {}, chips: canSeeAll(chips) ? chips : [] };
}

/** Loads the snapshots that a reference shows, the latest first. */
export async function loadReferenceSnapshots(
  ctx: Context,
  { datasetId, snapshots, snapshotIds }: ResolvedReference,
): Promise<ReferenceSource[]> {
  if (!snapshots || (snapshots.type === null && snapshotIds.length === 0)) return [];
  const where =
    snapshots.type === 'n'
      ? latestSnapshots(ctx.viewer.tenantId, datasetId, snapshots.n)
      : { sql: 'parent_id = ? and is_snapshot and id = any(?)', params: [datasetId, snapshotIds] };
  const columns = [...VIEW_COLUMNS, 'name', 'snapshotDate'];
  const found = (await ctx.read.list(Dataset, columns, where, {}, MAX_SNAPSHOTS)) as unknown as SnapshotRow[];
  const sortKey = ({ snapshotDate, id }: SnapshotRow) => `${snapshotDate ?? ''} ${id}`;
  return found
    .toSorted((one, other) => (sortKey(one) < sortKey(other) ? 1 : -1))
    .map((dataset) => ({
      dataset,
      label: dataset.snapshotDate ? `${dataset.name} (${dataset.snapshotDate})` : dataset.name,
    }));
}

const latestSnapshots = (tenantId: string, datasetId: string, count: number) => ({
  sql: `id = any(array(
    select s.id
    from dws.dataset s
    where s.tenant_id = ? and s.parent_id = ? and s.is_snapshot
    order by s.snapshot_date desc nulls last, s.id desc
    limit ?))`,
  params: [tenantId, datasetId, count],
});

/**
 * Loads the datasets whose rows a reference shows: the dataset itself first (unless excluded), then snapshots, the
 * latest first. Throws NOT_FOUND if the caller may not read the dataset.
 */
export async function loadReferenceSources(ctx: Context, reference: ResolvedReference): Promise<ReferenceSource[]> {
  const { dataset, datasetId, snapshots } = reference;
  if (!dataset) throw notFound({ what: 'dataset', id: datasetId });
  return [
    ...(snapshots?.includeLatest === false ? [] : [{ dataset, label: null }]),
    ...(await loadReferenceSnapshots(ctx, reference)),
  ];
}

/**
 * Limits the concurrent queries of one request to the dataset index, so that the queries of a report with many
 * references do not all begin, and time out, together.
 */
const REQUEST_GATE = { places: 4, maxPerCaller: 4, maxWaiting: Infinity, taskNoun: 'queries' };
const gates = new WeakMap<object, FairGate>();

/** Runs a task when fewer than four tasks of the request are running. */
export function runLimited<T>({ request, viewer }: Context, task: () => Promise<T>): Promise<T> {
  const gate = gates.get(request) ?? new FairGate(REQUEST_GATE);
  gates.set(request, gate);
  return gate.run(viewer, request.signal, task);
}

import type { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Dataset } from '../../../entities/dataset.ts';
import { ConcurrencyGate } from '../../core/concurrency-gate.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { isRestricted } from '../../core/permissions.ts';
import type { ColumnType } from '../../core/read/model.ts';
import { visibleFields, VIEW_COLUMNS, type ViewedDataset } from '../dataset/dataset-view.ts';
import { accessLevel, type AccessColumns } from '../resource/access-level.ts';
import { MAX_SNAPSHOTS } from './dataset-reference-checks.ts';

/** The snapshots that a reference names one by one, as a column of it; one that was promoted is none any more. */
export const SNAPSHOT_IDS: { sql: string; type: ColumnType } = {
  sql: `(select coalesce(json_agg(s.dataset_id order by s.position), '[]') from dws.dataset_reference_snapshot s join dws.dataset d on d.id = s.dataset_id and d.parent_id = p.dataset_id and d.is_snapshot where s.tenant_id = p.tenant_id and s.reference_id = p.id)`,
  type: 'json',
};

/** What a reference is resolved from. */
export const RESOLVED = [
  'datasetId',
  'filter',
  'chips',
  'snapshots',
  'snapshotIds',
  ...VIEW_COLUMNS.map((column) => `dataset.${column}`),
];

export interface ResolvedReference extends Pick<
  DatasetReference,
  'id' | 'datasetId' | 'filter' | 'chips' | 'snapshots'
> {
  snapshotIds: string[];
  /** Null when the caller may not read it. */
  dataset: ViewedDataset | null;
}

/** Rows of one moment: the current ones, or a snapshot's. */
export interface Source {
  dataset: ViewedDataset;
  /** What tells them apart from others: null for the current rows. */
  label: string | null;
}

interface Snapshot extends ViewedDataset {
  name: string;
  snapshotDate: string | null;
}

/** Filter and chips as far as the caller sees all the fields that they name: whoever sees a part of the dataset, or nothing, is not told of others. */
export async function shownParts(
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
  const shows = (named: readonly { field: string }[] | undefined): boolean =>
    (named ?? []).every(({ field }) => visible.has(field));
  return { filter: shows(filter.criteria) ? filter : {}, chips: shows(chips) ? chips : [] };
}

/** The snapshots that a reference shows, the latest first. */
export async function snapshotsOf(
  ctx: Context,
  { datasetId, snapshots, snapshotIds }: ResolvedReference,
): Promise<Source[]> {
  if (!snapshots || (snapshots.type === null && snapshotIds.length === 0)) return [];
  const where =
    snapshots.type === 'n'
      ? {
          sql: `id = any(array(select s.id from dws.dataset s where s.tenant_id = ? and s.parent_id = ? and s.is_snapshot order by s.snapshot_date desc nulls last, s.id desc limit ?))`,
          params: [ctx.viewer.tenantId, datasetId, snapshots.n],
        }
      : { sql: 'parent_id = ? and is_snapshot and id = any(?)', params: [datasetId, snapshotIds] };
  const found = (await ctx.read.list(
    Dataset,
    [...VIEW_COLUMNS, 'name', 'snapshotDate'],
    where,
    {},
    MAX_SNAPSHOTS,
  )) as unknown as Snapshot[];
  const order = ({ snapshotDate, id }: Snapshot) => `${snapshotDate ?? ''} ${id}`;
  return found
    .toSorted((one, other) => (order(one) < order(other) ? 1 : -1))
    .map((dataset) => ({
      dataset,
      label: dataset.snapshotDate ? `${dataset.name} (${dataset.snapshotDate})` : dataset.name,
    }));
}

/** The moments of its dataset that a reference shows: the current rows first, then snapshots, the latest first. 404 when the caller may not read the dataset. */
export async function sourcesOf(ctx: Context, reference: ResolvedReference): Promise<Source[]> {
  const { dataset, datasetId, snapshots } = reference;
  if (!dataset) throw notFound({ what: 'dataset', id: datasetId });
  return [
    ...(snapshots?.includeLatest === false ? [] : [{ dataset, label: null }]),
    ...(await snapshotsOf(ctx, reference)),
  ];
}

/** Of one request so many questions about references are asked at once: a report with many must not fill the index's queue. */
const AT_ONCE = 4;
const gates = new WeakMap<object, ConcurrencyGate>();

/** Runs a task when the request has less than four of its kind at work. */
export function inTurn<T>({ request }: Pick<Context, 'request'>, task: () => Promise<T>): Promise<T> {
  const gate = gates.get(request) ?? new ConcurrencyGate(AT_ONCE, Infinity, '');
  gates.set(request, gate);
  return gate.run(request.signal, task);
}

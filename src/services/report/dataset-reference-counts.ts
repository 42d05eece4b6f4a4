import type { Context } from '../../core/context.ts';
import { ApiError, notFound } from '../../core/errors.ts';
import { aggregate } from '../dataset/dataset-aggregate.ts';
import { viewOf, type ViewedDataset } from '../dataset/dataset-view.ts';
import { referenceCriteria } from '../dataset/reference-criteria.ts';
import { criteriaProblem } from '../dataset/saved-filter-criteria.ts';
import {
  loadReferenceSnapshots,
  runLimited,
  type ReferenceSource,
  type ResolvedReference,
} from './dataset-reference-view.ts';

const NO_FILTER: Record<string, unknown> = {};

/**
 * Row counts of a reference with the caller's restrictions. Each count is computed on first use and cached. All are
 * null if the caller may not read the dataset.
 */
class ReferenceCounts {
  readonly #ctx: Context;
  readonly #reference: ResolvedReference;
  readonly #criteria: Record<string, unknown>;
  readonly #countCache = new Map<string, Promise<number | null>>();
  #snapshots?: Promise<ReferenceSource[]>;

  constructor(ctx: Context, reference: ResolvedReference) {
    this.#ctx = ctx;
    this.#reference = reference;
    this.#criteria = reference.filter.criteria?.length ? referenceCriteria(reference.filter) : NO_FILTER;
  }

  /** Counts matching current rows, unless excluded, and matching rows of snapshots. Null if the filter is invalid. */
  async count(): Promise<number | null> {
    const includeLatest = this.#reference.snapshots?.includeLatest !== false;
    return this.#sum(includeLatest, (dataset) => this.#countMatching(dataset));
  }

  /** Counts matching current rows. Null if the filter is invalid. */
  async countWithoutSnapshots(): Promise<number | null> {
    return this.#reference.dataset && this.#countMatching(this.#reference.dataset);
  }

  /** Counts all current rows and all rows of the snapshots. */
  async overallCount(): Promise<number | null> {
    return this.#sum(true, (dataset) => this.#countRows(dataset, NO_FILTER));
  }

  /** Returns why the dataset or its filtered rows cannot be shown. Null if they can. */
  async problem(): Promise<string | null> {
    const { dataset, datasetId } = this.#reference;
    if (!dataset) return notFound({ what: 'dataset', id: datasetId }).message;
    for (const source of [{ dataset, label: null }, ...(await this.#loadSnapshots())]) {
      const { fields, partial } = await viewOf(this.#ctx, source.dataset);
      const problem = criteriaProblem(this.#criteria, fields, partial);
      if (problem !== null) return source.label === null ? problem : `The snapshot ${source.label}: ${problem}`;
    }
    return null;
  }

  #loadSnapshots(): Promise<ReferenceSource[]> {
    return (this.#snapshots ??= loadReferenceSnapshots(this.#ctx, this.#reference));
  }

  async #sum(
    includeLatest: boolean,
    countRowsOf: (dataset: ViewedDataset) => Promise<number | null>,
  ): Promise<number | null> {
    const { dataset } = this.#reference;
    if (!dataset) return null;
    const snapshots = (await this.#loadSnapshots()).map((source) => source.dataset);
    const counts = await Promise.all([...(includeLatest ? [dataset] : []), ...snapshots].map(countRowsOf));
    return counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0);
  }

  #countMatching(dataset: ViewedDataset): Promise<number | null> {
    return this.#countRows(dataset, this.#criteria).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 400) return null;
      throw error;
    });
  }

  #countRows(dataset: ViewedDataset, filter: Record<string, unknown>): Promise<number | null> {
    const key = `${dataset.id} ${filter === NO_FILTER}`;
    const count =
      this.#countCache.get(key) ??
      runLimited(this.#ctx, async () => {
        const { rows } = await aggregate(this.#ctx, dataset, { measures: [{ fn: 'count', as: 'count' }], filter });
        return Number(rows[0]?.[0] ?? 0);
      });
    this.#countCache.set(key, count);
    return count;
  }
}

const countsByReference = new WeakMap<object, ReferenceCounts>();

/** Returns the counts of a reference. All GraphQL fields of one reference share the object, and so its cache. */
export function countsOf(ctx: Context, reference: ResolvedReference): ReferenceCounts {
  const counts = countsByReference.get(reference) ?? new ReferenceCounts(ctx, reference);
  countsByReference.set(reference, counts);
  return counts;
}

import type { Context } from '../../core/context.ts';
import { ApiError, notFound } from '../../core/errors.ts';
import { aggregate } from '../dataset/dataset-aggregate.ts';
import { viewOf, type ViewedDataset } from '../dataset/dataset-view.ts';
import { criteriaProblem } from '../dataset/saved-filter-criteria.ts';
import { criteriaOf } from './dataset-reference-checks.ts';
import { inTurn, snapshotsOf, type ResolvedReference, type Source } from './dataset-reference-view.ts';

const NO_FILTER: Record<string, unknown> = {};

/** What is counted of a reference under the caller's restrictions, each when it is asked for and once. Null when the caller may not read the dataset. */
export class ReferenceCounts {
  readonly #ctx: Context;
  readonly #reference: ResolvedReference;
  readonly #criteria: Record<string, unknown>;
  readonly #counted = new Map<string, Promise<number | null>>();
  #snapshots?: Promise<Source[]>;

  constructor(ctx: Context, reference: ResolvedReference) {
    this.#ctx = ctx;
    this.#reference = reference;
    this.#criteria = reference.filter.criteria?.length ? criteriaOf(reference.filter) : NO_FILTER;
  }

  /** Matching rows of current data, when they are included, and of the snapshots; null when the filter does not fit one of them. */
  async count(): Promise<number | null> {
    return this.#sum(this.#reference.snapshots?.includeLatest !== false, (dataset) => this.#matching(dataset));
  }

  /** Matching rows of current data. */
  async countWithoutSnapshots(): Promise<number | null> {
    return this.#reference.dataset && this.#matching(this.#reference.dataset);
  }

  /** All rows of current data and of the snapshots. */
  async overallCount(): Promise<number | null> {
    return this.#sum(true, (dataset) => this.#rows(dataset, NO_FILTER));
  }

  /** Why the filter does not fit, or the dataset is not shown; null when all is well. */
  async problem(): Promise<string | null> {
    const { dataset, datasetId } = this.#reference;
    if (!dataset) return notFound({ what: 'dataset', id: datasetId }).message;
    for (const source of [{ dataset, label: null }, ...(await this.#chosen())]) {
      const { fields, partial } = await viewOf(this.#ctx, source.dataset);
      const problem = criteriaProblem(this.#criteria, fields, partial);
      if (problem !== null) return source.label === null ? problem : `The snapshot ${source.label}: ${problem}`;
    }
    return null;
  }

  #chosen(): Promise<Source[]> {
    return (this.#snapshots ??= snapshotsOf(this.#ctx, this.#reference));
  }

  async #sum(current: boolean, rowsOf: (dataset: ViewedDataset) => Promise<number | null>): Promise<number | null> {
    const { dataset } = this.#reference;
    if (!dataset) return null;
    const parts = await Promise.all(
      [...(current ? [dataset] : []), ...(await this.#chosen()).map((source) => source.dataset)].map(rowsOf),
    );
    return parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0);
  }

  #matching(dataset: ViewedDataset): Promise<number | null> {
    return this.#rows(dataset, this.#criteria).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 400) return null;
      throw error;
    });
  }

  #rows(dataset: ViewedDataset, filter: Record<string, unknown>): Promise<number | null> {
    const key = `${dataset.id} ${filter === NO_FILTER}`;
    const counted =
      this.#counted.get(key) ??
      inTurn(this.#ctx, async () => {
        const { rows } = await aggregate(this.#ctx, dataset, { measures: [{ fn: 'count', as: 'count' }], filter });
        return Number(rows[0]?.[0] ?? 0);
      });
    this.#counted.set(key, counted);
    return counted;
  }
}

const counts = new WeakMap<object, ReferenceCounts>();

/** The counts of a reference that was read: of one row its fields share what they count. */
export function countsOf(ctx: Context, reference: ResolvedReference): ReferenceCounts {
  const known = counts.get(reference) ?? new ReferenceCounts(ctx, reference);
  counts.set(reference, known);
  return known;
}

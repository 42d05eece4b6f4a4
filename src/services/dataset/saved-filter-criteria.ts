import { SavedFilter } from '../../../entities/saved-filter.ts';
import type { Context } from '../../core/context.ts';
import type { CriteriaNode } from '../../core/criteria/tree.ts';
import { badInput, ApiError, notFound } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import type { AccessColumns } from '../resource/access-level.ts';
import { parseStoredCriteria, restrictionOn, visibleIn, type DatasetView } from './dataset-view.ts';

type View = Pick<DatasetView, 'datasetId' | 'fields' | 'partial'>;

/** A saved filter that the viewer reads and that fits the fields which they see; 404 without such a filter, 400 when it does not fit them (any more). */
export async function savedFilterOf(
  ctx: Context,
  { datasetId, fields, partial }: View,
  id: string,
): Promise<{ criteria: Record<string, unknown>; node: CriteriaNode }> {
  const filter = await ctx.read.find(SavedFilter, { id, datasetId }, ['name', 'criteria']);
  if (!filter) throw notFound({ what: 'filter', id });
  const node = parseStoredCriteria(filter.criteria, fields);
  if (node instanceof ApiError)
    throw badInput(
      `The saved filter ${JSON.stringify(filter.name)} does not fit the dataset: ${saidOf(node, partial)}`,
    );
  return { criteria: filter.criteria, node };
}

/** What a filter is shown from. */
export interface FilterColumns {
  criteria: Record<string, unknown>;
  dataset: AccessColumns & { fields: Field[] };
}

/** A filter as the viewer may see it: without criteria that speak of what is hidden from them. */
export async function shownFilter(
  ctx: Context,
  { criteria, dataset }: FilterColumns,
): Promise<{ criteria: Record<string, unknown> | null; problem: string | null }> {
  const restriction = await restrictionOn(ctx, dataset);
  const problem = problemOf(criteria, visibleIn(dataset.fields, restriction), restriction !== null);
  return { criteria: restriction && problem !== null ? null : criteria, problem };
}

/** Why criteria do not fit the fields that somebody sees; null when they do. */
export function problemOf(
  criteria: Record<string, unknown>,
  fields: readonly Field[],
  partial: boolean,
): string | null {
  const fitted = parseStoredCriteria(criteria, fields);
  return fitted instanceof ApiError ? saidOf(fitted, partial) : null;
}

/** Who sees a `partial` view is not told the names, which may be those of hidden fields. */
const saidOf = ({ message }: ApiError, partial: boolean): string =>
  partial ? 'It names a field that there is not, or is of another type' : message;

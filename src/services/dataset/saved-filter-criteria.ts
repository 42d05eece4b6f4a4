import { SavedFilter } from '../../../entities/saved-filter.ts';
import type { Context } from '../../core/context.ts';
import type { CriteriaNode } from '../../core/criteria/tree.ts';
import { badInput, ApiError, notFound } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import type { AccessColumns } from '../resource/access-level.ts';
import { parseStoredCriteria, restrictionOn, withoutHiddenFields, type DatasetView } from './dataset-view.ts';

type View = Pick<DatasetView, 'datasetId' | 'fields' | 'partial'>;

/**
 * Loads a saved filter for a query. Throws NOT_FOUND when the viewer may not read it, and BAD_USER_INPUT when it does
 * not fit the fields that the viewer may see.
 */
export async function loadSavedFilter(
  ctx: Context,
  { datasetId, fields, partial }: View,
  id: string,
): Promise<{ criteria: Record<string, unknown>; node: CriteriaNode }> {
  const filter = await ctx.read.find(SavedFilter, { id, datasetId }, ['name', 'criteria']);
  if (!filter) throw notFound({ what: 'filter', id });
  const node = parseStoredCriteria(filter.criteria, fields);
  if (node instanceof ApiError)
    throw badInput(
      `The saved filter ${JSON.stringify(filter.name)} does not fit the dataset: ${publicMessage(node, partial)}`,
    );
  return { criteria: filter.criteria, node };
}

/** Columns that `filterForViewer` requires. */
export interface FilterColumns {
  criteria: Record<string, unknown>;
  dataset: AccessColumns & { fields: Field[] };
}

/** Returns criteria and problem of a filter. The criteria are null when they contain fields hidden from the viewer. */
export async function filterForViewer(
  ctx: Context,
  { criteria, dataset }: FilterColumns,
): Promise<{ criteria: Record<string, unknown> | null; problem: string | null }> {
  const restriction = await restrictionOn(ctx, dataset);
  const problem = criteriaProblem(criteria, withoutHiddenFields(dataset.fields, restriction), restriction !== null);
  return { criteria: restriction && problem !== null ? null : criteria, problem };
}

/**
 * Returns why criteria do not fit these fields, or null when they do. `partial` is whether some fields are hidden.
 */
export function criteriaProblem(
  criteria: Record<string, unknown>,
  fields: readonly Field[],
  partial: boolean,
): string | null {
  const fitted = parseStoredCriteria(criteria, fields, !partial);
  return fitted instanceof ApiError ? publicMessage(fitted, partial) : null;
}

/** In a `partial` view the message has no names, since they may belong to hidden fields. */
const publicMessage = ({ message }: ApiError, partial: boolean): string =>
  partial ? 'It names a field that does not exist or has another type' : message;

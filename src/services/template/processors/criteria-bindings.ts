import type { Context } from '../../../core/context.ts';
import { parseCriteria } from '../../../core/criteria/parse.ts';
import { ApiError } from '../../../core/errors.ts';
import type { Field } from '../../../core/fields.ts';
import { viewOf, type ViewedDataset } from '../../dataset/dataset-view.ts';
import type { Binding } from './processor.ts';

/** Returns the binding within `filter` whose value is refused by its field or operator. */
export async function findRefusedInFilter(
  ctx: Context,
  dataset: ViewedDataset,
  bindings: readonly Binding[],
): Promise<Binding | undefined> {
  const { fields } = await viewOf(ctx, dataset);
  return bindings.find(({ path, value }) => path[0] === 'filter' && isRefused(path.slice(1), value, fields));
}

/** Returns whether criteria with only this value are refused, for another reason than the name of the field. */
function isRefused(path: readonly (string | number)[], value: unknown, fields: readonly Field[]): boolean {
  const name = path.findLast((key) => typeof key === 'string' && !key.startsWith('$'));
  if (name !== undefined && !fields.some((field) => field.name === name)) return false;
  const criteria = path.reduceRight<unknown>(
    (inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }),
    value,
  );
  if (typeof criteria === 'string') return false;
  try {
    parseCriteria(criteria, fields);
    return false;
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
}

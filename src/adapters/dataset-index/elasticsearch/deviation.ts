import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import { ApiError } from '../../../core/errors.ts';
import { bucketsOf } from './buckets.ts';
import type { ReadEngine } from './client.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';

/** Maximum ratio of mean to deviation for which the engine's method, sums of squares, has enough digits. */
const FAR = 300;

interface Question {
  generation: Generation;
  query: Query;
  field: IndexedField;
  mean: number | null;
  /** The deviation that the engine computed. */
  found: number | null;
  /** Whether all values are equal. */
  constant: boolean;
}

/**
 * Returns the deviation of the population. Where its mean is far from zero, it is computed from the single values,
 * unless there are too many.
 */
export async function deviation(
  engine: ReadEngine,
  { generation, query, field, mean, found, constant }: Question,
  signal: AbortSignal,
): Promise<number | null> {
  if (constant) return 0;
  if (mean === null || (found !== null && Math.abs(mean) < FAR * found)) return found;
  let [count, centre, squares] = [0, 0, 0];
  try {
    for await (const { key, doc_count: times } of bucketsOf(
      engine,
      { generation, query, sources: [{ value: { terms: { field: layoutOf(field).value } } }] },
      signal,
    )) {
      // West's algorithm for adding a value several times.
      const distance = Number(key['value']) - centre;
      count += times;
      centre += (distance * times) / count;
      squares += times * distance * (Number(key['value']) - centre);
    }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BAD_USER_INPUT') return found;
    throw error;
  }
  return Math.sqrt(squares / count);
}

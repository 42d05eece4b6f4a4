import type { FieldProfile, Generation, IndexedField } from '../../../core/dataset-index.ts';
import { ApiError } from '../../../core/errors.ts';
import { numberOf, scaleFor } from '../profile-parts.ts';
import { bucketsOf } from './buckets.ts';
import type { SearchEngineReader } from './client.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';

/** Maximum ratio of mean to deviation at which the engine's method, sums of squares, has enough digits. */
const FAR = 300;

interface Question {
  generation: Generation;
  query: Query;
  field: IndexedField;
  mean: number | null;
  /** The deviation that the engine computed. */
  found: number | null;
  min: number;
  max: number;
}

/**
 * Returns mean and deviation of the population. Where the mean is far from zero, or a square exceeds a double, they are
 * computed from the single values, unless there are too many.
 */
export async function spread(
  engine: SearchEngineReader,
  { generation, query, field, mean, found, min, max }: Question,
  signal: AbortSignal,
): Promise<Pick<FieldProfile, 'avg' | 'stdDev'>> {
  const scale = scaleFor(min, max) ?? 1;
  if (min === max) return { avg: mean ?? min, stdDev: 0 };
  if (scale === 1 && (mean === null || (found !== null && Math.abs(mean) < FAR * found)))
    return { avg: mean, stdDev: found };
  let [count, centre, squares] = [0, 0, 0];
  try {
    for await (const { key, doc_count: times } of bucketsOf(
      engine,
      { generation, query, sources: [{ value: { terms: { field: layoutOf(field).value } } }] },
      signal,
    )) {
      // West's algorithm for adding a value several times.
      const value = Number(key['value']) * scale;
      const distance = value - centre;
      count += times;
      centre += (distance * times) / count;
      squares += times * distance * (value - centre);
    }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BAD_USER_INPUT') return { avg: mean, stdDev: found };
    throw error;
  }
  return { avg: mean ?? numberOf(centre / scale), stdDev: numberOf(Math.sqrt(squares / count) / scale) };
}

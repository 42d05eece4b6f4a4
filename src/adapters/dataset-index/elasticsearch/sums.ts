import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import type { ReadEngine } from './client.ts';
import { layoutOf } from './field-layout.ts';
import type { Matching } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';

interface Stats {
  count: number;
  min: number | null;
  max: number | null;
  sum: number | null;
}

/** Fields of integers for which the doubles of the engine do not suffice. */
export interface InexactSums {
  sum: ReadonlySet<IndexedField>;
  /** Fields whose values may cancel out. */
  avg: ReadonlySet<IndexedField>;
}

export const NONE_INEXACT: InexactSums = { sum: new Set(), avg: new Set() };

/**
 * Returns the integer fields whose sums may be inexact in the engine: sums that exceed the safe integers on the way
 * lose digits.
 */
export async function inexactSums(
  engine: ReadEngine,
  generation: Generation,
  { query }: Matching,
  fields: IndexedField[],
  signal: AbortSignal,
): Promise<InexactSums> {
  if (fields.length === 0) return NONE_INEXACT;
  const aggs = Object.fromEntries(fields.map((field, i) => [`f${i}`, { stats: { field: layoutOf(field).value } }]));
  const { aggregations } = await searchDocuments(
    engine,
    generation,
    { query, size: 0, track_total_hits: false, aggs, filter_path: ['aggregations'] },
    signal,
  );
  const inexact = { sum: new Set<IndexedField>(), avg: new Set<IndexedField>() };
  for (const [i, field] of fields.entries()) {
    const { count, min, max, sum } = aggregations![`f${i}`] as unknown as Stats;
    if (min === null || max === null) continue;
    const isMixed = min < 0 && max > 0;
    // Sums of numbers of one sign only grow.
    const largest = isMixed ? count * Math.max(-min, max) : Math.abs(sum!);
    if (largest <= Number.MAX_SAFE_INTEGER) continue;
    inexact.sum.add(field);
    if (isMixed) inexact.avg.add(field);
  }
  return inexact;
}

import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import type { ReadEngine } from './client.ts';
import { layoutOf } from './field-layout.ts';
import type { Matching } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';

interface Stats {
  count: number;
  min: number | null;
  max: number | null;
}

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
): Promise<Set<IndexedField>> {
  if (fields.length === 0) return new Set();
  const aggs = Object.fromEntries(fields.map((field, i) => [`f${i}`, { stats: { field: layoutOf(field).value } }]));
  const { aggregations } = await searchDocuments(
    engine,
    generation,
    { query, size: 0, track_total_hits: false, aggs, filter_path: ['aggregations'] },
    signal,
  );
  return new Set(
    fields.filter((_, i) => {
      const { count, min, max } = aggregations![`f${i}`] as unknown as Stats;
      return (
        min !== null && max !== null && min < 0 && max > 0 && count * Math.max(-min, max) > Number.MAX_SAFE_INTEGER
      );
    }),
  );
}

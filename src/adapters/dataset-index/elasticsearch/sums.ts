import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import type { SearchEngineReader } from './client.ts';
import { layoutOf } from './field-layout.ts';
import type { Matching } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';

interface Stats {
  count: number;
  min: number | null;
  max: number | null;
}

/** Fields of integers whose sums exceed the exactness of the engine's doubles. */
export interface InexactSums {
  /** Fields whose sums are, or may be, past the safe integers. Measures add further ones when they find them. */
  sum: Set<IndexedField>;
  /** Fields whose values may cancel out. */
  avg: ReadonlySet<IndexedField>;
}

export const noneInexact = (): InexactSums => ({ sum: new Set(), avg: new Set() });

/**
 * Returns the integer fields whose sums may be inexact in the engine though they are safe integers: sums that exceed
 * these on the way lose digits. Sums of numbers of one sign only grow.
 */
export async function inexactSums(
  engine: SearchEngineReader,
  generation: Generation,
  { query }: Matching,
  fields: IndexedField[],
  signal: AbortSignal,
): Promise<InexactSums> {
  if (fields.length === 0) return noneInexact();
  const aggs = Object.fromEntries(fields.map((field, i) => [`f${i}`, { stats: { field: layoutOf(field).value } }]));
  const { aggregations } = await searchDocuments(
    engine,
    generation,
    { query, size: 0, track_total_hits: false, aggs, filter_path: ['aggregations'] },
    signal,
  );
  const mixed = fields.filter((_, i) => {
    const { count, min, max } = aggregations![`f${i}`] as unknown as Stats;
    return min !== null && max !== null && min < 0 && max > 0 && count * Math.max(-min, max) > Number.MAX_SAFE_INTEGER;
  });
  return { sum: new Set(mixed), avg: new Set(mixed) };
}

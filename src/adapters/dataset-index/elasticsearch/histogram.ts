import type { FieldProfile, Generation, IndexedField } from '../../../core/dataset-index.ts';
import { binsOf, DAY_MS } from '../bins.ts';
import type { SearchEngineReader } from './client.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';
import { searchDocuments } from './search-requests.ts';

interface Spread {
  generation: Generation;
  query: Query;
  field: IndexedField;
  count: number;
  /** Minimum and maximum as the engine compares them: doubles, milliseconds. */
  min: number;
  max: number;
}

/** Counts values in bins. Numbers are doubles here, even for flagged fields. */
export async function histogram(
  engine: SearchEngineReader,
  { generation, query, field, count, min, max }: Spread,
  signal: AbortSignal,
): Promise<FieldProfile['histogram']> {
  const unit = field.type === 'date' ? DAY_MS : 1;
  const bins = binsOf(field, min / unit, max / unit);
  if (!bins) return [];
  if (bins.count === 1) return bins.filled(new Map([[0, count]]));
  const [interval, offset] = [bins.width * unit, bins.low * unit];
  const aggs = { bins: { histogram: { field: layoutOf(field).value, interval, offset, min_doc_count: 1 } } };
  const answer = await searchDocuments(
    engine,
    generation,
    { query, size: 0, track_total_hits: false, aggs, filter_path: ['aggregations.bins.buckets'] },
    signal,
  );
  const { buckets } = answer.aggregations!['bins'] as unknown as { buckets: { key: number; doc_count: number }[] };
  const counts = new Map<number, number>();
  for (const { key, doc_count: found } of buckets) {
    const bin = Math.min(bins.count - 1, Math.round((key - offset) / interval));
    counts.set(bin, (counts.get(bin) ?? 0) + found);
  }
  return bins.filled(counts);
}

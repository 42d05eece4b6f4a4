import type { estypes } from '@elastic/elasticsearch';
import type { FieldProfile, Generation, IndexedField, Search } from '../../../core/dataset-index.ts';
import { COUNTED, EXACT_DISTINCT, NUMERIC, numberOf, ORDERED, TOP } from '../profile-parts.ts';
import type { SearchEngineReader } from './client.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';
import { histogram } from './histogram.ts';
import { extreme, valueOf } from './measures.ts';
import type { TopHit } from './measures.ts';
import { matchingRows } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';
import { totalOf } from './search.ts';
import { spread } from './spread.ts';
import { formOf } from './value-forms.ts';

/** The engine's maximum precision. */
const PRECISION = 40_000;

/** Returns statistics of fields over the matching rows, one field after the other. */
export async function profileRows(
  engine: SearchEngineReader,
  search: Search,
  names: string[],
  signal: AbortSignal,
): Promise<{ total: number; fields: FieldProfile[] }> {
  const { field, query } = matchingRows(search);
  const fields = names.map(field);
  const { generation } = search;
  const total = totalOf(
    await searchDocuments(
      engine,
      generation,
      { query, size: 0, track_total_hits: true, filter_path: ['hits.total'] },
      signal,
    ),
  );
  const profiles: FieldProfile[] = [];
  for (const one of fields) profiles.push(await profile(engine, { generation, query, field: one, total }, signal));
  return { total, fields: profiles };
}

interface Question {
  generation: Generation;
  query: Query;
  field: IndexedField;
  total: number;
}

/** Results that the engine computes for a field in one pass, as far as they apply to its type. */
interface Computed {
  count: { value: number };
  distinct: { count: number };
  estimate: { value: number };
  /** As the engine compares values: doubles, milliseconds. */
  low?: { value: number | null };
  high?: { value: number | null };
  stats?: { count: number; avg: number | null; std_deviation_population: number | null };
  least?: unknown;
  greatest?: unknown;
  top?: { buckets: { key: unknown; doc_count: number; row?: TopHit }[] };
}

async function profile(
  engine: SearchEngineReader,
  { generation, query, field, total }: Question,
  signal: AbortSignal,
): Promise<FieldProfile> {
  const { name, type } = field;
  const extremes = ORDERED.includes(type)
    ? { least: extreme('min', field, 'min'), greatest: extreme('max', field, 'max') }
    : undefined;
  const aggs = {
    ...aggregationsOf(field),
    ...(extremes && { least: extremes.least.agg!, greatest: extremes.greatest.agg! }),
  };
  const filter_path = [
    'count',
    'distinct.count',
    'estimate',
    'low.value',
    'high.value',
    'stats',
    'least',
    'greatest',
    'top.buckets',
  ].map((path) => `aggregations.${path}`);
  const answer = await searchDocuments(
    engine,
    generation,
    { query, size: 0, track_total_hits: false, aggs, filter_path },
    signal,
  );
  const {
    count: { value: count },
    distinct,
    estimate,
    low,
    high,
    stats,
    least,
    greatest,
    top,
  } = answer.aggregations as unknown as Computed;
  const approximate = distinct.count > EXACT_DISTINCT;
  const [min, max] = [numberOf(low?.value), numberOf(high?.value)];
  // The engine leaves out values past a double.
  const numeric = NUMERIC.includes(type) && min !== null && stats!.count === count;
  return {
    name,
    type,
    count,
    missing: total - count,
    distinct: Math.min(approximate ? estimate.value : distinct.count, count),
    approximate,
    min: extremes?.least.value(least) ?? null,
    max: extremes?.greatest.value(greatest) ?? null,
    ...(numeric
      ? await spread(
          engine,
          {
            generation,
            query,
            field,
            mean: numberOf(stats!.avg),
            found: numberOf(stats!.std_deviation_population),
            min,
            max: max!,
          },
          signal,
        )
      : { avg: null, stdDev: null }),
    top: (top?.buckets ?? []).map(({ key, doc_count, row }) => ({
      value: row ? valueOf(field, row) : formOf(field, key),
      count: doc_count,
    })),
    histogram:
      min !== null && max !== null && (!NUMERIC.includes(type) || numeric)
        ? await histogram(engine, { generation, query, field, count, min, max }, signal)
        : [],
  };
}

function aggregationsOf(field: IndexedField): Record<string, estypes.AggregationsAggregationContainer> {
  const { value, compared, exact } = layoutOf(field);
  return {
    count: { value_count: { field: compared } },
    values: { terms: { field: exact, size: EXACT_DISTINCT + 1, order: { _key: 'asc' } } },
    // The number of buckets, without the buckets themselves.
    distinct: { stats_bucket: { buckets_path: 'values>_count' } },
    estimate: { cardinality: { field: exact, precision_threshold: PRECISION } },
    ...(ORDERED.includes(field.type) && { low: { min: { field: value } }, high: { max: { field: value } } }),
    ...(NUMERIC.includes(field.type) && { stats: { extended_stats: { field: value } } }),
    ...(COUNTED.includes(field.type) && { top: mostFrequent(field) }),
  };
}

/**
 * Returns the most frequent values; of equally frequent ones the smaller first. The exact digits of decimals do not sort
 * like the numbers: their sortable keys do, and a row of each has the digits.
 */
function mostFrequent(field: IndexedField): estypes.AggregationsAggregationContainer {
  const { value, compared, exact } = layoutOf(field);
  if (field.keyed)
    return {
      terms: { field: compared, size: TOP, order: [{ _count: 'desc' }, { _key: 'asc' }] },
      aggs: { row: { top_hits: { size: 1, _source: { includes: [value] } } } },
    };
  if (field.format !== 'decimal')
    return { terms: { field: exact, size: TOP, order: [{ _count: 'desc' }, { _key: 'asc' }] } };
  return {
    terms: { field: exact, size: TOP, order: [{ _count: 'desc' }, { number: 'asc' }, { _key: 'asc' }] },
    aggs: { number: { min: { field: value } } },
  };
}

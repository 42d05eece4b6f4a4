import type { estypes } from '@elastic/elasticsearch';
import type { Generation } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import { meanRowBytes } from '../search-parts.ts';
import type { SearchEngineReader } from './client.ts';
import type { Query } from './criteria-query.ts';
import { searchDocuments } from './search-requests.ts';

/** Maximum number of buckets. More would take minutes. */
const MAX_BUCKETS = 1_000_000;
/** Buckets per request. The engine rejects responses of more than 65,536. */
const PAGE = 50_000;
const LEAST_PAGE = 500;
/** Maximum memory of a page's keys in the engine, if all values of a row are keys. */
const PAGE_BYTES = 32 << 20;

export type Source = Record<string, estypes.AggregationsCompositeAggregationSource>;
type Aggregations = Record<string, estypes.AggregationsAggregationContainer>;

/** A combination of values with the measures of its rows. */
export interface Bucket {
  key: Record<string, unknown>;
  doc_count: number;
  [measure: string]: unknown;
}

interface Question {
  generation: Generation;
  query: Query;
  sources: Source[];
  aggs?: Aggregations;
  /** Cost of a bucket relative to a bucket with only its key. */
  cost?: number;
}

/**
 * Yields all combinations of the sources' values over the matching rows, in order. One page is in memory at a time.
 *
 * Throws BAD_USER_INPUT when there are too many to count.
 */
export async function* bucketsOf(
  engine: SearchEngineReader,
  { generation, query, sources, aggs, cost = 1 }: Question,
  signal: AbortSignal,
): AsyncGenerator<Bucket> {
  const size = pageSize(generation, cost);
  let after: estypes.AggregationsCompositeAggregateKey | undefined;
  for (let seen = 0; seen <= MAX_BUCKETS; seen += size) {
    const composite = { size, sources, ...(after && { after }) };
    const response = await searchDocuments(
      engine,
      generation,
      {
        query,
        size: 0,
        track_total_hits: false,
        aggs: { all: { composite, ...(aggs && { aggs }) } },
        filter_path: ['aggregations'],
      },
      signal,
    );
    const { buckets, after_key: next } = response.aggregations!['all'] as unknown as {
      buckets: Bucket[];
      after_key?: estypes.AggregationsCompositeAggregateKey;
    };
    yield* buckets;
    if (buckets.length < size) return;
    after = next;
  }
  throw badInput(`The dataset index cannot distinguish more than ${MAX_BUCKETS} groups or values`);
}

const pageSize = (generation: Generation, cost: number) =>
  Math.max(LEAST_PAGE, Math.floor(Math.min(PAGE, PAGE_BYTES / meanRowBytes(generation)) / cost));

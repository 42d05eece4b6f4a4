import type { estypes } from '@elastic/elasticsearch';
import type { Generation } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import { meanRowBytes } from '../search-parts.ts';
import type { Engine } from './client.ts';
import type { Query } from './criteria-query.ts';
import { askRows } from './search-requests.ts';

/** More take minutes. */
const MAX_BUCKETS = 1_000_000;
/** The engine refuses answers of more than 65,536 buckets. */
const PAGE = 50_000;
const LEAST_PAGE = 500;
/** What the keys of a page take in the engine's memory at most, if a row's values are all keys. */
const PAGE_BYTES = 32 << 20;

export type Source = Record<string, estypes.AggregationsCompositeAggregationSource>;
type Aggregations = Record<string, estypes.AggregationsAggregationContainer>;

/** A combination of values with what was asked of its rows. */
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
  /** What makes a bucket dearer than its key alone, as a factor. */
  cost?: number;
}

/**
 * All combinations of the sources' values over the matching rows, in their order; a page is held at a time.
 * @throws badInput when they are too many to be counted.
 */
export async function* bucketsOf(
  engine: Engine,
  { generation, query, sources, aggs, cost = 1 }: Question,
  signal: AbortSignal,
): AsyncGenerator<Bucket> {
  const size = pageSize(generation, cost);
  let after: estypes.AggregationsCompositeAggregateKey | undefined;
  for (let seen = 0; seen <= MAX_BUCKETS; seen += size) {
    const composite = { size, sources, ...(after && { after }) };
    const answer = await askRows(
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
    const { buckets, after_key: next } = answer.aggregations!['all'] as unknown as {
      buckets: Bucket[];
      after_key?: estypes.AggregationsCompositeAggregateKey;
    };
    yield* buckets;
    if (buckets.length < size) return;
    after = next;
  }
  throw badInput(`The dataset index cannot tell more than ${MAX_BUCKETS} groups or different values apart`);
}

const pageSize = (generation: Generation, cost: number) =>
  Math.max(LEAST_PAGE, Math.floor(Math.min(PAGE, PAGE_BYTES / meanRowBytes(generation)) / cost));

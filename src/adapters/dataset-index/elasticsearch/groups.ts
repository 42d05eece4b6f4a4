import type { estypes } from '@elastic/elasticsearch';
import { isCut } from '../../../core/criteria/value.ts';
import type { Aggregation, Generation, IndexedField } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import { checkInterval } from '../intervals.ts';
import { meanRowBytes } from '../search-parts.ts';
import type { Bucket, Source } from './buckets.ts';
import type { SearchEngineReader } from './client.ts';
import { layoutOf } from './field-layout.ts';
import type { Matching } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';
import { formOf } from './value-forms.ts';

/** Number of bytes of texts that one request reads, if texts are as long as rows. */
const TEXT_BYTES = 16 << 20;
const MAX_TEXTS = 1000;

/** A column by which rows are grouped. */
export interface Group {
  field: IndexedField;
  /** Sources of its values. */
  sources: Source[];
  /** Returns its value in its JSON form; for a text only the first characters. */
  value(bucket: Bucket): unknown;
  /** Returns the key of the value in the index, where the bucket may not contain all of it. */
  digest(bucket: Bucket): string | null;
}

/** Throws BAD_USER_INPUT for a field that cannot be grouped in this way. */
export function groupOf(
  matching: Matching,
  { field: name, interval, timezone }: Aggregation['groupBy'][number],
  i: number,
): Group {
  const field = matching.field(name);
  if (field.type === 'json') throw badInput(`The field "${name}" is of type json and cannot be grouped`);
  if (interval) checkInterval(field.type, timezone);
  const { exact, compared } = layoutOf(field);
  const [key, prefix] = [`g${i}`, `p${i}`];
  const cut = field.type === 'text';
  const source = { [key]: isWhole(field, interval) ? valuesOf(exact) : intervalsOf(field, interval!, timezone) };
  return {
    field,
    sources: cut ? [{ [prefix]: valuesOf(compared) }, source] : [source],
    value: (bucket) => formOf(field, bucket.key[cut ? prefix : key]),
    digest: ({ key: values }) =>
      cut && values[prefix] !== null && isCut(values[prefix] as string) ? (values[key] as string) : null,
  };
}

/** A date is its own interval when the interval is a day or shorter. */
const isWhole = ({ type }: IndexedField, interval: Aggregation['groupBy'][number]['interval']) =>
  !interval || (type === 'date' && ['minute', 'hour', 'day'].includes(interval));

/** Distinct values, missing ones last. */
const valuesOf = (field: string): estypes.AggregationsCompositeAggregationSource => ({
  terms: { field, missing_bucket: true, missing_order: 'last' },
});

/**
 * Starts of intervals. Days have no time zone. The engine accepts zones by their proper names only. Where clocks
 * change by part of an hour (Lord Howe Island), the hours around the change begin at other times than in DuckDB.
 */
function intervalsOf(
  field: IndexedField,
  interval: string,
  timezone: string | undefined,
): estypes.AggregationsCompositeAggregationSource {
  const zone =
    field.type === 'datetime' && timezone !== undefined
      ? { time_zone: new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone }
      : {};
  return {
    date_histogram: {
      field: layoutOf(field).compared,
      calendar_interval: interval,
      missing_bucket: true,
      missing_order: 'last',
      ...zone,
    },
  };
}

/**
 * Returns the whole texts of digests. Equal values are equal for every reader, so any row with the value is suitable.
 */
export async function textsOf(
  engine: SearchEngineReader,
  generation: Generation,
  field: IndexedField,
  digests: string[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const { exact, value } = layoutOf(field);
  const texts = new Map<string, string>();
  const size = Math.max(1, Math.min(MAX_TEXTS, Math.floor(TEXT_BYTES / meanRowBytes(generation))));
  for (let at = 0; at < digests.length; at += size) {
    const answer = await searchDocuments(
      engine,
      generation,
      {
        query: { bool: { filter: [{ terms: { [exact]: digests.slice(at, at + size) } }] } },
        collapse: { field: exact },
        size,
        _source: { includes: [value] },
        track_total_hits: false,
        filter_path: ['hits.hits._source', 'hits.hits.fields'],
      },
      signal,
    );
    for (const { _source: source, fields } of answer.hits?.hits ?? [])
      texts.set((fields as Record<string, string[]>)[exact]![0]!, source![value] as string);
  }
  return texts;
}

import type { Aggregation, AggregateResult, Generation, IndexedField } from '../../../core/dataset-index.ts';
import { printSums } from '../whole-sums.ts';
import { bucketsOf } from './buckets.ts';
import type { SearchEngineReader } from './client.ts';
import { groupOf, textsOf } from './groups.ts';
import type { Group } from './groups.ts';
import { measureOf, summed } from './measures.ts';
import type { Measure } from './measures.ts';
import { orderOf } from './order.ts';
import type { Order, Result } from './order.ts';
import { foldPairs } from './pairs.ts';
import { matchingRows } from './search-query.ts';
import type { Matching } from './search-query.ts';
import { searchDocuments } from './search-requests.ts';
import { totalOf } from './search.ts';
import { inexactSums, noneInexact, type InexactSums } from './sums.ts';

/** Cost of a group whose first row is fetched, or that requires a computed number, relative to a plain group. */
const FETCHED_COST = 10;
const COMPUTED_COST = 1;
/**
 * Number of groups to collect beyond those requested, so that they need not be sorted after each one, and because texts
 * with the same beginning are compared only at the end.
 */
const EXTRA_GROUPS = 10_000;

/** Returns groups with their measures. Groups without a sort are ordered by their values, missing ones last. */
export async function aggregateRows(
  engine: SearchEngineReader,
  aggregation: Aggregation,
  signal: AbortSignal,
): Promise<AggregateResult> {
  const { generation, groupBy, sort, limit } = aggregation;
  const matching = matchingRows(aggregation);
  const groups = groupBy.map((group, i) => groupOf(matching, group, i));
  const measuresOf = (inexact: InexactSums) =>
    aggregation.measures.map((measure) => measureOf(matching, measure, inexact));
  const columns = [...groups.map(({ field }) => field), ...measuresOf(noneInexact())].map(({ name, type, format }) => ({
    name,
    label: name,
    type,
    ...(format && { format }),
  }));
  const order = orderOf(sort, columns, groups);
  const inexact = await inexactSums(engine, generation, matching, summed(matching, aggregation.measures), signal);
  const known = inexact.sum.size;
  const find = () => {
    const question = { engine, generation, matching, measures: measuresOf(inexact) };
    return best(groups.length === 0 ? ungrouped(question, signal) : grouped(question, groups, signal), order, limit);
  };
  const first = await find();
  const { kept, total } = inexact.sum.size > known ? await find() : first;
  for (const [i, { field }] of groups.entries())
    if (field.type === 'text') await readTexts(engine, generation, field, i, kept, signal);
  return printSums({
    columns,
    rows: kept
      .sort(order.compare)
      .slice(0, limit)
      .map(({ values }) => values),
    total,
    truncated: total > limit,
  });
}

interface Question {
  engine: SearchEngineReader;
  generation: Generation;
  matching: Matching;
  measures: Measure[];
}

async function* grouped(
  { engine, generation, matching: { query }, measures }: Question,
  groups: Group[],
  signal: AbortSignal,
): AsyncGenerator<Result> {
  const sources = groups.flatMap((group) => group.sources);
  const cost = measures.reduce((sum, { agg }) => sum + (agg?.top_hits ? FETCHED_COST : COMPUTED_COST), 1);
  const folds = measures.map(({ fold }) => fold && foldPairs(engine, { generation, query, sources, fold }, signal));
  for await (const bucket of bucketsOf(
    engine,
    { generation, query, sources, aggs: aggregationsOf(measures), cost },
    signal,
  )) {
    const measured = [];
    for (const [i, measure] of measures.entries())
      measured.push(
        measure.value({ rows: bucket.doc_count, computed: bucket[`m${i}`], folded: await folds[i]?.(bucket.key) }),
      );
    yield {
      values: [...groups.map((group) => group.value(bucket)), ...measured],
      digests: groups.map((group) => group.digest(bucket)),
    };
  }
}

/** Yields one row even when no row matches. */
async function* ungrouped(
  { engine, generation, matching: { query }, measures }: Question,
  signal: AbortSignal,
): AsyncGenerator<Result> {
  const response = await searchDocuments(
    engine,
    generation,
    {
      query,
      size: 0,
      track_total_hits: true,
      aggs: aggregationsOf(measures) ?? {},
      filter_path: ['hits.total', 'aggregations'],
    },
    signal,
  );
  const values = [];
  for (const [i, { fold, value }] of measures.entries()) {
    const folded = fold && (await foldPairs(engine, { generation, query, sources: [], fold }, signal)({}));
    values.push(value({ rows: totalOf(response), computed: response.aggregations?.[`m${i}`], folded }));
  }
  yield { values, digests: [] };
}

function aggregationsOf(measures: Measure[]) {
  const asked = measures.flatMap(({ agg }, i) => (agg ? [[`m${i}`, agg] as const] : []));
  return asked.length > 0 ? Object.fromEntries(asked) : undefined;
}

/**
 * Returns the first results in the requested order, including results that could still precede the last one, and the
 * total number.
 */
async function best(
  results: AsyncIterable<Result>,
  { compare, undecided }: Order,
  limit: number,
): Promise<{ kept: Result[]; total: number }> {
  const kept: Result[] = [];
  let total = 0;
  const cut = () => {
    kept.sort(compare);
    const further = kept.findIndex((result, i) => i >= limit && !undecided(kept[limit - 1]!, result));
    kept.splice(further < 0 ? limit + EXTRA_GROUPS : further);
  };
  for await (const result of results) {
    total++;
    if (kept.push(result) >= limit + 2 * EXTRA_GROUPS) cut();
  }
  cut();
  return { kept, total };
}

/** Replaces the beginnings of texts by the whole texts. */
async function readTexts(
  engine: SearchEngineReader,
  generation: Generation,
  field: IndexedField,
  i: number,
  results: Result[],
  signal: AbortSignal,
): Promise<void> {
  const texts = await textsOf(
    engine,
    generation,
    field,
    [...new Set(results.flatMap(({ digests }) => digests[i] ?? []))],
    signal,
  );
  for (const { values, digests } of results) if (digests[i] !== null) values[i] = texts.get(digests[i]!);
}

import type { estypes } from '@elastic/elasticsearch';
import type { Aggregation, IndexedField } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import type { FieldFormat, FieldType } from '../../../core/fields.ts';
import { numberOf } from '../profile-parts.ts';
import { layoutOf } from './field-layout.ts';
import type { Fold } from './pairs.ts';
import type { Matching } from './search-query.ts';
import { joinParts, sumParts, type PartSums } from './split-sum.ts';
import type { InexactSums } from './sums.ts';
import { formOf } from './value-forms.ts';

type Asked = Aggregation['measures'][number];

/** Results for a group. */
interface Found {
  rows: number;
  /** Result of the engine. */
  computed: unknown;
  /** Null where it has too many values. */
  folded: bigint | null | undefined;
}

/** A column that is computed for each group. */
export interface Measure {
  name: string;
  type: FieldType;
  format?: FieldFormat;
  /** Aggregation that the engine computes; undefined when the row count is sufficient. */
  agg?: estypes.AggregationsAggregationContainer;
  /** Computation that requires a separate query. */
  fold?: Fold;
  /** Returns the value in its JSON form; the sum of integers as a bigint. */
  value(found: Found): unknown;
}

interface Stats {
  count: number;
  sum: number | null;
  avg: number | null;
}

/** The first row of an aggregation. */
export interface TopHit {
  hits: { hits: { _source?: Record<string, unknown> }[] };
}

/**
 * `inexact` states the fields whose digits the engine loses, because it adds doubles. A measure that finds another such
 * field adds it; the measures of that field must then be created again. Throws BAD_USER_INPUT for a measure that does
 * not apply to its field.
 */
export function measureOf(matching: Matching, { fn, field: name, as }: Asked, inexact: InexactSums): Measure {
  if (name === undefined) {
    if (fn !== 'count') throw badInput(`The measure "${as}" needs a field`);
    return { name: as, type: 'integer', value: ({ rows }) => rows };
  }
  const field = matching.field(name);
  const { compared } = layoutOf(field);
  switch (fn) {
    case 'count':
      return {
        name: as,
        type: 'integer',
        agg: { value_count: { field: compared } },
        value: ({ computed }) => (computed as { value: number }).value,
      };
    case 'countDistinct':
      return {
        name: as,
        type: 'integer',
        fold: { field, add: (total) => total + 1n },
        value: ({ folded }) => Number(folded),
      };
    case 'min':
    case 'max': {
      const { agg, value } = extreme(fn, field, as);
      return { name: as, type: field.type, format: field.format, agg, value: ({ computed }) => value(computed) };
    }
    case 'sum':
    case 'avg':
      return {
        name: as,
        type: fn === 'sum' && field.type === 'integer' ? 'integer' : 'number',
        ...(field.type === 'integer' ? wholeSum(fn, field, inexact) : sum(fn, field, as)),
      };
  }
}

/** Adds integers exactly, even where the engine, which adds doubles, does not. */
function wholeSum(
  fn: 'sum' | 'avg',
  field: IndexedField,
  inexact: InexactSums,
): Pick<Measure, 'agg' | 'fold' | 'value'> {
  const { value: path, compared, parts } = layoutOf(field);
  const result = (total: bigint | null | undefined, count: number) =>
    count === 0 || total == null ? null : fn === 'sum' ? total : quotient(total, BigInt(count));
  if (parts)
    return {
      agg: { filter: { match_all: {} }, aggs: { ...sumParts(parts), present: { value_count: { field: compared } } } },
      value: ({ computed }) => {
        const sums = computed as PartSums & { present: { value: number } };
        return result(joinParts(sums), sums.present.value);
      },
    };
  const agg = { stats: { field: path } };
  if (!inexact[fn].has(field))
    return {
      agg,
      value: ({ computed }) => {
        const { count, ...found } = computed as Stats;
        if (count === 0) return null;
        if (fn === 'avg') return found.avg;
        if (!Number.isSafeInteger(found.sum)) inexact.sum.add(field);
        return BigInt(found.sum!);
      },
    };
  return {
    agg,
    fold: {
      field,
      isOptional: true,
      add: (total, one, times) => total + BigInt(formOf(field, one) as number | string) * BigInt(times),
    },
    value: ({ computed, folded }) => result(folded, (computed as Stats).count),
  };
}

/** Divides before it rounds, so that the quotient is not rounded twice. */
const quotient = (total: bigint, count: bigint): number =>
  Number(total / count) + Number(total % count) / Number(count);

/** Adds numbers as doubles. The result is null where it exceeds one. */
function sum(fn: 'sum' | 'avg', field: IndexedField, measure: string): Pick<Measure, 'agg' | 'value'> {
  if (field.type !== 'number')
    throw badInput(`The measure "${measure}" needs a number, and "${field.name}" is a ${field.type}`);
  const { value: path, compared } = layoutOf(field);
  const agg = { stats: { field: path } };
  // The engine leaves out values past a double, which `compared` has.
  if (field.keyed)
    return {
      agg: { filter: { match_all: {} }, aggs: { stats: agg, present: { value_count: { field: compared } } } },
      value: ({ computed }) => {
        const { stats, present } = computed as { stats: Stats; present: { value: number } };
        return stats.count > 0 && stats.count === present.value ? numberOf(stats[fn]) : null;
      },
    };
  return { agg, value: ({ computed }) => ((computed as Stats).count > 0 ? numberOf((computed as Stats)[fn]) : null) };
}

/** Returns the integer fields that are summed and have no parts. */
export const summed = (matching: Matching, measures: readonly Asked[]): IndexedField[] =>
  [
    ...new Set(
      measures.flatMap(({ fn, field }) =>
        (fn === 'sum' || fn === 'avg') && field !== undefined ? [matching.field(field)] : [],
      ),
    ),
  ].filter(({ type, split }) => type === 'integer' && !split);

/**
 * Returns the minimum or maximum in the order of comparisons. Where the engine cannot compute it, it is the first row
 * in that order.
 */
export function extreme(
  fn: 'min' | 'max',
  field: IndexedField,
  measure: string,
): { agg: estypes.AggregationsAggregationContainer; value(computed: unknown): unknown } {
  if (field.type === 'json')
    throw badInput(`The measure "${measure}" does not apply to "${field.name}", which is of type json`);
  const { value, compared } = layoutOf(field);
  if (field.type !== 'string' && field.type !== 'text' && !field.format)
    return {
      agg: { [fn]: { field: compared } },
      value: (computed) => formOf(field, (computed as { value: number | null }).value),
    };
  const order = { order: fn === 'min' ? ('asc' as const) : ('desc' as const), missing: '_last' };
  return {
    agg: { top_hits: { size: 1, sort: [{ [compared]: order }], _source: { includes: [value] } } },
    value: (computed) => valueOf(field, computed as TopHit),
  };
}

/** Returns the value that the row has in its JSON form; null without a row. */
export const valueOf = (field: IndexedField, { hits }: TopHit): unknown =>
  hits.hits[0]?._source?.[layoutOf(field).value] ?? null;

import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import { ApiError } from '../../../core/errors.ts';
import { bucketsOf } from './buckets.ts';
import type { Bucket, Source } from './buckets.ts';
import type { SearchEngineReader } from './client.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';

/** A computation over the distinct values of a field, each with its number of rows. */
export interface Fold {
  field: IndexedField;
  add(total: bigint, value: unknown, times: number): bigint;
  /** Whether the result is null, instead of an error, where there are too many values. */
  isOptional?: true;
}

interface Question {
  generation: Generation;
  query: Query;
  /** Sources of the groups; without any, all rows are one group. */
  sources: Source[];
  fold: Fold;
}

const VALUE = 'value';

/**
 * Computes exactly, from all pairs of group and value. Results are requested in the order in which the engine returns
 * the same groups, so that none is stored. A group without values has no pair.
 *
 * Throws BAD_USER_INPUT when there are too many pairs, unless the fold is optional.
 */
export function foldPairs(
  engine: SearchEngineReader,
  { generation, query, sources, fold }: Question,
  signal: AbortSignal,
): (key: Record<string, unknown>) => Promise<bigint | null> {
  const pairs = bucketsOf(
    engine,
    { generation, query, sources: [...sources, { [VALUE]: { terms: { field: layoutOf(fold.field).exact } } }] },
    signal,
  );
  const names = sources.flatMap((source) => Object.keys(source));
  const groupOf = (key: Record<string, unknown>) => JSON.stringify(names.map((name) => key[name]));
  let ahead: IteratorResult<Bucket, void> | null | undefined;
  const next = () =>
    pairs.next().catch((error: unknown) => {
      if (fold.isOptional && error instanceof ApiError && error.code === 'BAD_USER_INPUT') return null;
      throw error;
    });
  return async (key) => {
    const group = groupOf(key);
    let total = 0n;
    for (;;) {
      if (ahead === undefined) ahead = await next();
      if (ahead === null) return null;
      if (ahead.done || groupOf(ahead.value.key) !== group) return total;
      total = fold.add(total, ahead.value.key[VALUE], ahead.value.doc_count);
      ahead = undefined;
    }
  };
}

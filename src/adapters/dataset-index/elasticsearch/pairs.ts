import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import { bucketsOf } from './buckets.ts';
import type { Bucket, Source } from './buckets.ts';
import type { Engine } from './client.ts';
import type { Query } from './criteria-query.ts';
import { layoutOf } from './field-layout.ts';

/** What is made of the different values of a field, each with the number of rows that have it. */
export interface Fold {
  field: IndexedField;
  add(total: bigint, value: unknown, times: number): bigint;
}

interface Question {
  generation: Generation;
  query: Query;
  /** Of the groups; without any all rows are one group. */
  sources: Source[];
  fold: Fold;
}

const VALUE = 'value';

/**
 * Folds exactly, by looking at all pairs of group and value. The results are asked for in the order in which the engine answers the same groups, so that none is kept;
 * a group without values is not among the pairs.
 */
export function foldPairs(
  engine: Engine,
  { generation, query, sources, fold }: Question,
  signal: AbortSignal,
): (key: Record<string, unknown>) => Promise<bigint> {
  const pairs = bucketsOf(
    engine,
    { generation, query, sources: [...sources, { [VALUE]: { terms: { field: layoutOf(fold.field).exact } } }] },
    signal,
  );
  const names = sources.flatMap((source) => Object.keys(source));
  const groupOf = (key: Record<string, unknown>) => JSON.stringify(names.map((name) => key[name]));
  let ahead: IteratorResult<Bucket, void> | undefined;
  return async (key) => {
    const group = groupOf(key);
    let total = 0n;
    for (;;) {
      ahead ??= await pairs.next();
      if (ahead.done || groupOf(ahead.value.key) !== group) return total;
      total = fold.add(total, ahead.value.key[VALUE], ahead.value.doc_count);
      ahead = undefined;
    }
  };
}

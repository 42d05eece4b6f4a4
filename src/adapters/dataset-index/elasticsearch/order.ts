import type { Aggregation, AggregateResult } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import type { Group } from './groups.ts';
import { compareForms, compareWhole } from './value-forms.ts';

/** A row of an aggregation's result, with the digests of its texts that are not read yet. */
export interface Result {
  values: unknown[];
  digests: (string | null)[];
}

export interface Order {
  compare(left: Result, right: Result): number;
  /** Whether two results can change places once all texts are read. */
  undecided(left: Result, right: Result): boolean;
}

/** Returns a total order: ties are broken by the groups. */
export function orderOf(sort: Aggregation['sort'], columns: AggregateResult['columns'], groups: Group[]): Order {
  const wanted = sort.map(({ column, descending }) => {
    const i = columns.findIndex(({ name }) => name === column);
    if (i < 0) throw badInput(`Unknown column "${column}" in sort`);
    return { i, descending };
  });
  const compare = (left: Result, right: Result, whole: boolean) => {
    for (const { i, descending } of wanted) {
      const order = compareForms(columns[i]!, left.values[i], right.values[i], descending);
      if (order !== 0) return order;
    }
    for (const [i, { field }] of groups.entries()) {
      const order = compareForms(field, left.values[i], right.values[i]);
      if (order !== 0) return order;
      const [digest, other] = [left.digests[i] ?? '', right.digests[i] ?? ''];
      if (digest !== '' && !whole) return 0;
      // Values that compare as equal, such as two texts with the same beginning, are still separate groups.
      const exact =
        compareWhole(field, left.values[i], right.values[i]) || (digest < other ? -1 : Number(digest > other));
      if (exact !== 0) return exact;
    }
    return 0;
  };
  return {
    compare: (left, right) => compare(left, right, true),
    undecided: (left, right) => compare(left, right, false) === 0,
  };
}

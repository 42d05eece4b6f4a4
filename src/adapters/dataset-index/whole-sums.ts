import type { AggregateResult } from '../../core/dataset-index.ts';

/**
 * Returns a result with the JSON form of sums of integers, which are given as bigints. They become numbers. In a column
 * in which a number would lose digits they become texts with all digits (docs/contract/datasets.md#exact-numbers).
 */
export function printSums(result: AggregateResult): AggregateResult {
  const isLong = result.columns.map((_, i) => result.rows.some((row) => typeof row[i] === 'bigint' && !isSafe(row[i])));
  return {
    ...result,
    columns: result.columns.map((column, i) => (isLong[i] ? { ...column, format: 'int64' } : column)),
    rows: result.rows.map((row) =>
      row.map((value, i) => (typeof value === 'bigint' ? (isLong[i] ? String(value) : Number(value)) : value)),
    ),
  };
}

const isSafe = (sum: bigint) => Number.isSafeInteger(Number(sum));

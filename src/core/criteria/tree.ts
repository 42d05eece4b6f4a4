import type { Field } from '../fields.ts';

/**
 * Operand of a comparison, converted to the field's type: numbers as number, for the format `int64` as the digits of a
 * whole number, for `decimal` as a number or its digits; dates and datetimes as ISO strings.
 */
export type CriteriaValue = string | number | boolean;

/**
 * Checked criteria: every field exists, every value fits its field, every operator is known. A node is true or false
 * for a row, never unknown.
 */
export type CriteriaNode =
  | { kind: 'and' | 'or'; nodes: CriteriaNode[] }
  | { kind: 'not'; node: CriteriaNode }
  /** False for a row without a value. (`$ne` is `not` of `eq`.) */
  | { kind: 'compare'; field: Field; op: 'eq' | 'lt' | 'lte' | 'gt' | 'gte'; value: CriteriaValue }
  /**
   * True when the value is one of them, false for a row without a value. (A null in `$in` becomes an `or` with
   * `missing`.)
   */
  | { kind: 'in'; field: Field; values: CriteriaValue[] }
  | { kind: 'missing'; field: Field }
  /** Unanchored; `source` is in the portable subset. */
  | { kind: 'regex'; field: Field; source: string; insensitive: boolean };

export const ALL: CriteriaNode = { kind: 'and', nodes: [] };
export const NONE: CriteriaNode = { kind: 'or', nodes: [] };

import type { DuckDBValue } from '@duckdb/node-api';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { compare, comparedText, sortTerms } from './criteria-sql.ts';
import { boundValues } from './sql-values.ts';

/** A field to sort by. */
export interface SortKey {
  field: IndexedField;
  descending: boolean;
}

/** Returns the total order of a search: missing values last in both directions, ties by row number. */
export const orderBy = (keys: SortKey[]): string =>
  [...keys.map(({ field, descending }) => sortTerms(field, field.column, descending)), 'rowid'].join(', ');

/**
 * Returns a statement for the sort values of a cursor's row, as texts after a 1. It returns no row when the row does
 * not match `where`.
 */
export const positionSql = (keys: SortKey[], table: string, row: number, where: string): string =>
  `SELECT ${['1', ...keys.map(({ field }) => comparedText(field, field.column))].join(', ')}
    FROM ${table} WHERE rowid = ${row} AND ${where}`;

/** Returns the condition for rows after the cursor's row in the order of `orderBy`. */
export function afterPosition(keys: SortKey[], row: number, position: DuckDBValue[], values: DuckDBValue[]): string {
  return keys.reduceRight((later, { field, descending }, i) => {
    const value = position[i + 1];
    if (value === null || value === undefined) return `(${field.column} IS NULL AND ${later})`;
    const than = (op: 'lt' | 'gt' | 'eq') => compare(field, field.column, op, String(value), boundValues(values));
    return `(${than(descending ? 'lt' : 'gt')} OR ${field.column} IS NULL OR (${than('eq')} AND ${later}))`;
  }, `rowid > ${row}`);
}

import type { DuckDBValue } from '@duckdb/node-api';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { comparable, comparedType } from './criteria-sql.ts';
import { boundValues } from './sql-values.ts';

/** A field to sort by. */
export interface SortKey {
  field: IndexedField;
  descending: boolean;
}

/** Returns the total order of a search: missing values last in both directions, ties by row number. */
export const orderBy = (keys: SortKey[]): string =>
  [
    ...keys.map(
      ({ field, descending }) => `${comparable(field, field.column)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
    ),
    'rowid',
  ].join(', ');

/**
 * Returns a statement for the sort values of a cursor's row, as texts after a 1. It returns no row when the row does
 * not match `where`.
 */
export const positionSql = (keys: SortKey[], table: string, row: number, where: string): string =>
  `SELECT ${['1', ...keys.map(({ field }) => `CAST(${comparable(field, field.column)} AS VARCHAR)`)].join(', ')}
    FROM ${table} WHERE rowid = ${row} AND ${where}`;

/** Returns the condition for rows after the cursor's row in the order of `orderBy`. */
export function afterPosition(keys: SortKey[], row: number, position: DuckDBValue[], values: DuckDBValue[]): string {
  return keys.reduceRight((later, { field, descending }, i) => {
    const key = comparable(field, field.column);
    const value = position[i + 1];
    if (value === null || value === undefined) return `(${field.column} IS NULL AND ${later})`;
    const bound = boundValues(values).scalar(String(value), comparedType(field));
    return `(${key} ${descending ? '<' : '>'} ${bound} OR ${field.column} IS NULL OR (${key} = ${bound} AND ${later}))`;
  }, `rowid > ${row}`);
}

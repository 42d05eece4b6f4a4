import type { DuckDBValue } from '@duckdb/node-api';
import type { GenerationId, IndexedField, RowSearch } from '../../../core/dataset-index.ts';
import { badInput } from '../../../core/errors.ts';
import { comparable } from './criteria-sql.ts';
import { comparedType } from './scope.ts';
import { boundValues } from './sql-values.ts';

/** What is no cursor of ours, or none of this search. */
export const invalidCursor = () => badInput('The cursor in `after` is not valid');

/** The last row of a page. Its sort values are not in the cursor but read again, under the caller's own conditions, so that a forged one tells nothing of hidden rows. */
interface Position {
  generation: GenerationId;
  row: number;
}

export const encodeCursor = ({ generation, row }: Position): string => Buffer.from(JSON.stringify([generation, row])).toString('base64url');

/** @throws badInput when it is no cursor of ours. */
export function decodeCursor(after: string): Position {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(after, 'base64url').toString());
  } catch {
    throw invalidCursor();
  }
  const [generation, row] = Array.isArray(parsed) && parsed.length === 2 ? (parsed as unknown[]) : [];
  if (typeof generation !== 'string' || typeof row !== 'number' || !Number.isSafeInteger(row) || row < 0) throw invalidCursor();
  return { generation, row };
}

/**
 * The generation that a cursor was made from, for the caller to find it among the replaced ones.
 * @throws badInput when it is no cursor of ours.
 */
export const cursorGeneration = (after: string): GenerationId => decodeCursor(after).generation;

/** A field to sort by. */
export interface SortKey {
  field: IndexedField;
  descending: boolean;
}

/** The total order of a search: missing values last both ways, ties by row number. */
export const orderBy = (keys: SortKey[]): string =>
  [...keys.map(({ field, descending }) => `${comparable(field, field.column)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`), 'rowid'].join(', ');

/** The statement that answers the sort values of a cursor's row, as texts after a 1; no row when it does not match `where`. */
export const positionSql = (keys: SortKey[], table: string, row: number, where: string): string =>
  `SELECT ${['1', ...keys.map(({ field }) => `CAST(${comparable(field, field.column)} AS VARCHAR)`)].join(', ')} FROM ${table} WHERE rowid = ${row} AND ${where}`;

/** The condition of rows after the cursor's in the order of `orderBy`. */
export function afterPosition(keys: SortKey[], row: number, position: DuckDBValue[], values: DuckDBValue[]): string {
  return keys.reduceRight((later, { field, descending }, i) => {
    const key = comparable(field, field.column);
    const value = position[i + 1];
    if (value === null || value === undefined) return `(${field.column} IS NULL AND ${later})`;
    const bound = boundValues(values).scalar(String(value), comparedType(field));
    return `(${key} ${descending ? '<' : '>'} ${bound} OR ${field.column} IS NULL OR (${key} = ${bound} AND ${later}))`;
  }, `rowid > ${row}`);
}

/** The cursor's row in this search. @throws badInput when it belongs to other data or is not among the matching rows. */
export function positionRow({ after, generation }: Pick<RowSearch, 'after' | 'generation'>): number | undefined {
  if (after === undefined) return undefined;
  const position = decodeCursor(after);
  if (position.generation !== generation.id) throw badInput('The cursor in `after` belongs to other data');
  return position.row;
}

import { listValue } from '@duckdb/node-api';
import type { DuckDBValue } from '@duckdb/node-api';

export type SqlType = 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP';
type Scalar = string | number | boolean;

/** How a value gets into a statement: each method answers the SQL expression that stands for it. */
export interface SqlValues {
  scalar(value: Scalar, type: SqlType): string;
  /** A list of at least one value, as one expression whatever its length. */
  list(values: readonly Scalar[], type: SqlType): string;
}

/** Values bound as `$n`: each is appended to `params`, which is then given to `run`. */
export function boundValues(params: DuckDBValue[]): SqlValues {
  // Everything is bound as text: the driver would guess BIGINT for 1e300.
  const bind = (value: DuckDBValue, type: string) => `CAST($${params.push(value)} AS ${type})`;
  return {
    scalar: (value, type) => bind(String(value), type),
    list: (values, type) => bind(listValue(values.map(String)), `${type}[]`),
  };
}

/** Values written into the text, for statements that take no parameters. */
export const literalValues: SqlValues = {
  scalar: (value, type) => `CAST(${quoteText(String(value))} AS ${type})`,
  list: (values, type) => `CAST([${values.map((value) => quoteText(String(value))).join(',')}] AS ${type}[])`,
};

/** A string literal. DuckDB ends a statement at a NUL, so that one is spelt out. */
export const quoteText = (text: string): string =>
  `('${text.replaceAll("'", "''").replaceAll('\0', "' || chr(0) || '")}')`;

/** A quoted name of a table or column. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

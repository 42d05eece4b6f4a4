import { listValue } from '@duckdb/node-api';
import type { DuckDBValue } from '@duckdb/node-api';

export type SqlType = 'VARCHAR' | 'BIGINT' | 'HUGEINT' | 'DOUBLE' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP';
type Scalar = string | number | boolean;

/** How a value is inserted into a statement. Each method returns the SQL expression for it. */
export interface SqlValues {
  scalar(value: Scalar, type: SqlType): string;
  /** A list of at least one value, as one expression of any length. */
  list(values: readonly Scalar[], type: SqlType): string;
}

/** Binds values as `$n`. Each is appended to `params`, for `run`. */
export function boundValues(params: DuckDBValue[]): SqlValues {
  // Everything is bound as text: the driver would read 1e300 as BIGINT.
  const bind = (value: DuckDBValue, type: string) => `CAST($${params.push(value)} AS ${type})`;
  return {
    scalar: (value, type) => bind(String(value), type),
    list: (values, type) => bind(listValue(values.map(String)), `${type}[]`),
  };
}

/** Writes values into the text, for statements without parameters. */
export const literalValues: SqlValues = {
  scalar: (value, type) => `CAST(${quoteText(String(value))} AS ${type})`,
  list: (values, type) => `CAST([${values.map((value) => quoteText(String(value))).join(',')}] AS ${type}[])`,
};

/** Returns a string literal. NUL is written as an expression, because DuckDB ends a statement at it. */
export const quoteText = (text: string): string =>
  `('${text.replaceAll("'", "''").replaceAll('\0', "' || chr(0) || '")}')`;

/** Returns a quoted name of a table or column. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

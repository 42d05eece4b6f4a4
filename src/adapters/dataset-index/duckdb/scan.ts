import type { DuckDBValue } from '@duckdb/node-api';
import type { Row, RowSearch } from '../../../core/dataset-index.ts';
import { orderBy } from './cursor.ts';
import type { Scope } from './scope.ts';
import { parseRows, rowObject, sortKeys } from './search.ts';
import type { Serving } from './serving.ts';

/** All matching rows, in batches of about two thousand, as DuckDB produces them: what was read is not kept. */
export async function* scanRows(serving: Serving, scope: Scope, search: Pick<RowSearch, 'fields' | 'sort' | 'words'>, signal: AbortSignal): AsyncGenerator<Row[]> {
  const keys = sortKeys(scope, search.sort);
  const object = rowObject(scope, search.fields);
  const columns = [...new Set(search.fields.map((name) => scope.field(name).column))];
  const statement = (aliases: string[]) => {
    const values: DuckDBValue[] = [];
    const order = keys.length === 0 && search.words.length === 0 ? '' : `ORDER BY ${orderBy(keys)}`;
    return { sql: `SELECT ${object} FROM (SELECT ${['rowid', ...columns].join(', ')} FROM ${scope.table(aliases)} WHERE ${scope.where(aliases, values)} ${order})`, values };
  };
  for await (const chunk of serving.stream(scope.files, signal, statement)) yield parseRows(chunk.map(([json]) => json!));
}

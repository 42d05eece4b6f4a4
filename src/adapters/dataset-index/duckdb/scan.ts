import type { DuckDBValue } from '@duckdb/node-api';
import type { Generation, Row, RowSearch } from '../../../core/dataset-index.ts';
import type { Scope } from './scope.ts';
import { parseRows, rowObject, searchRows } from './search.ts';
import type { Serving } from './serving.ts';

type Scan = Omit<RowSearch, 'limit' | 'start' | 'after' | 'total'>;

/** Bytes of rows, as compressed in their file, that make a batch. */
const BATCH_BYTES = 8 << 20;
const BATCH_ROWS = 10_000;

/** All matching rows, in batches; what was read is not kept. */
export function scanRows(serving: Serving, scope: Scope, scan: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  return scan.sort.length === 0 && scan.words.length === 0 ? inFileOrder(serving, scope, scan, signal) : pageByPage(serving, scope, scan, signal);
}

/** As DuckDB reads them. */
async function* inFileOrder(serving: Serving, scope: Scope, scan: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  const object = rowObject(scope, scan.fields);
  const statement = (aliases: string[]) => {
    const values: DuckDBValue[] = [];
    return { sql: `SELECT ${object} FROM ${scope.table(aliases)} WHERE ${scope.where(aliases, values)}`, values };
  };
  for await (const chunk of serving.stream(scope.files, signal, statement)) yield parseRows(chunk.map(([json]) => json!));
}

/** DuckDB's sort keeps the texts of all its rows in memory, its search for a page's rows only those of the page: so a long sorted answer is many pages. */
async function* pageByPage(serving: Serving, scope: Scope, scan: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  const release = await serving.hold(scope.files);
  try {
    const limit = batchRows(scan.generation);
    let after: string | undefined;
    do {
      const page = await searchRows(serving, scope, { ...scan, limit, start: 0, total: false, ...(after !== undefined && { after }) }, signal);
      if (page.rows.length > 0) yield page.rows;
      after = page.next ?? undefined;
    } while (after !== undefined);
  } finally {
    await release();
  }
}

const batchRows = ({ size, records }: Generation) => Math.max(100, Math.min(BATCH_ROWS, Math.floor(BATCH_BYTES / (size / Math.max(records, 1)))));

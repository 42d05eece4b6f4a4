import type { DuckDBValue } from '@duckdb/node-api';
import type { Row, RowSearch } from '../../../core/dataset-index.ts';
import { meanRowBytes } from '../search-parts.ts';
import type { Scope } from './scope.ts';
import { parseRows, PRINTED_VALUES, rowObject, searchRows } from './search.ts';
import type { Serving } from './serving.ts';

type Scan = Omit<RowSearch, 'limit' | 'start' | 'after' | 'total'>;

/** Bytes of rows, as compressed in their file, per batch. */
const BATCH_BYTES = 8 << 20;
const BATCH_ROWS = 10_000;
/** Number of rows that DuckDB prints at a time, regardless of their width. */
const VECTOR_ROWS = 2048;
/** Number of values that are parsed in a turn of the event loop. */
const PARSED_VALUES = 6000;

/** Yields all matching rows in batches and retains none. */
export function scanRows(serving: Serving, scope: Scope, scan: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  if (scan.sort.length > 0 || scan.words.length > 0) return pageByPage(serving, scope, scan, signal);
  return batchRows(scan) < VECTOR_ROWS
    ? rangeByRange(serving, scope, scan, signal)
    : inFileOrder(serving, scope, scan, signal);
}

/** Yields rows in the order in which DuckDB reads them. */
async function* inFileOrder(serving: Serving, scope: Scope, scan: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  const object = rowObject(scan.fields.map(scope.field));
  const statement = (aliases: string[]) => {
    const values: DuckDBValue[] = [];
    return { sql: `SELECT ${object} FROM ${scope.table(aliases)} WHERE ${scope.where(aliases, values)}`, values };
  };
  const size = Math.max(1, Math.floor(PARSED_VALUES / Math.max(scan.fields.length, 1)));
  for await (const chunk of serving.stream(scope, signal, statement))
    for (let start = 0; start < chunk.length; start += size)
      yield parseRows(chunk.slice(start, start + size).map(([json]) => json!));
}

/**
 * Yields very wide rows, because DuckDB would print too many of them at a time. A limit does not stop DuckDB from
 * reading more, a range of row numbers does. So the numbers of the next rows are selected first, which reads only the
 * columns of the condition.
 */
async function* rangeByRange(serving: Serving, scope: Scope, scan: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  const release = await serving.pinFiles(scope.files);
  const object = rowObject(scan.fields.map(scope.field));
  const most = batchRows(scan);
  const matching = (select: (from: string) => string, range: string) =>
    serving.stream(scope, signal, (aliases) => {
      const values: DuckDBValue[] = [];
      return { sql: select(`FROM ${scope.table(aliases)} WHERE ${range} AND ${scope.where(aliases, values)}`), values };
    });
  try {
    for (let next = 0; ;) {
      let last: DuckDBValue = null;
      for await (const [row] of matching(
        (from) => `SELECT max(number) FROM (SELECT rowid AS number ${from} LIMIT ${most})`,
        `rowid >= ${next}`,
      ))
        last = row![0]!;
      if (last === null) return;
      for await (const chunk of matching((from) => `SELECT ${object} ${from}`, `rowid BETWEEN ${next} AND ${last}`))
        yield parseRows(chunk.map(([json]) => json!));
      next = Number(last) + 1;
    }
  } finally {
    await release();
  }
}

/**
 * Yields a long sorted result page by page: DuckDB's sort stores the texts of all its rows in memory, its top-N search
 * only the texts of the page.
 */
async function* pageByPage(serving: Serving, scope: Scope, scan: Scan, signal: AbortSignal): AsyncGenerator<Row[]> {
  const release = await serving.pinFiles(scope.files);
  try {
    const limit = batchRows(scan);
    let after: string | undefined;
    do {
      const page = await searchRows(
        serving,
        scope,
        { ...scan, limit, start: 0, total: false, ...(after !== undefined && { after }) },
        signal,
      );
      if (page.rows.length > 0) yield page.rows;
      after = page.next ?? undefined;
    } while (after !== undefined);
  } finally {
    await release();
  }
}

function batchRows({ generation, fields }: Scan): number {
  return Math.max(
    1,
    Math.floor(
      Math.min(BATCH_ROWS, BATCH_BYTES / meanRowBytes(generation), PRINTED_VALUES / Math.max(fields.length, 1)),
    ),
  );
}

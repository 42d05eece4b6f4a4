import type { DuckDBBlobValue } from '@duckdb/node-api';
import { comparedText } from '../../../core/criteria/value.ts';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { wordsOf } from '../../../core/search-words.ts';
import { quotePath } from '../duckdb/generation-files.ts';
import { LoadStatements } from '../duckdb/load-statements.ts';
import { textFunction } from '../duckdb/text-function.ts';
import { documentBytesSql, documentSql, WORD_LIST } from './documents.ts';

/** DuckDB's memory limit in bytes, and the number of copies of a long document while it is built. */
const MEMORY = 128 * 10 ** 6;
const DOCUMENT_COPIES = 12;
/** Target size of a request in bytes. */
const BATCH_BYTES = 5_000_000;
/** Number of rows that DuckDB reads in one step, and of rows whose sizes are estimated by one query. */
const BLOCK_ROWS = 2048;
const ESTIMATED_ROWS = 64 * BLOCK_ROWS;

/** Rows as the body of a bulk request: two lines each. */
export interface Batch {
  rows: number;
  body: Buffer<ArrayBuffer>;
}

/** Rows from `from` up to, not including, `to`. */
export interface RowRange {
  from: number;
  to: number;
}

/** A table whose rows become documents. */
interface DocumentTable {
  statements: LoadStatements;
  table: string;
  fields: readonly IndexedField[];
  /** Number of the table's first row in the generation. */
  firstRow: number;
}

/** Opens an instance of DuckDB that can render documents. */
export async function openDocuments(signal: AbortSignal): Promise<LoadStatements> {
  const statements = await LoadStatements.open(MEMORY, '', signal);
  statements.register(wordList());
  return statements;
}

/** Yields the rows of a staged generation's file (duckdb/load.ts) in the given ranges. */
export async function* stagedBatches(
  file: string,
  fields: readonly IndexedField[],
  ranges: readonly RowRange[],
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const statements = await openDocuments(signal);
  try {
    await statements.change(`ATTACH ${quotePath(file)} AS staged (READ_ONLY)`);
    yield* documentBatches({ statements, table: 'staged.data', fields, firstRow: 0 }, ranges);
  } finally {
    statements.close();
  }
}

/** Yields the table's rows in the given ranges. A batch exceeds the target size only if a single row does. */
export async function* documentBatches(from: DocumentTable, ranges: readonly RowRange[]): AsyncGenerator<Batch> {
  const { statements, table, fields, firstRow } = from;
  const slices = documentSql(fields, firstRow === 0 ? 'rowid' : `(rowid + ${firstRow})`);
  // One value instead of one for each row saves JavaScript most of the work. Slices must be joined row by row.
  const texts = slices.length === 1 ? [`string_agg(${slices[0]}, '')`] : slices;
  const queries = [];
  for (const text of texts)
    queries.push(await statements.prepare(`SELECT encode(${text}) FROM ${table} WHERE rowid >= $1 AND rowid < $2`));
  for (const range of ranges)
    for await (const { rows, bytes } of batchRanges(from, range)) {
      if (bytes > BATCH_BYTES) await statements.allow(MEMORY + DOCUMENT_COPIES * bytes);
      const columns: Uint8Array[][] = [];
      for (const query of queries)
        columns.push((await query(rows.from, rows.to)).map(([text]) => (text as DuckDBBlobValue).bytes));
      yield {
        rows: rows.to - rows.from,
        body: Buffer.concat(columns[0]!.flatMap((_, row) => columns.map((column) => column[row]!))),
      };
    }
}

/** A part of a request, with the approximate bytes of its documents. */
interface Piece {
  rows: RowRange;
  bytes: number;
}

/** Yields the rows of each request: whole blocks, which DuckDB reads fastest, unless they are too large. */
async function* batchRanges(table: DocumentTable, { from, to }: RowRange): AsyncGenerator<Piece> {
  let batch: Piece = { rows: { from, to: from }, bytes: 0 };
  for (let start = from; start < to;) {
    const end = Math.min(to, (Math.floor(start / ESTIMATED_ROWS) + 1) * ESTIMATED_ROWS);
    for await (const { rows, bytes } of pieces(table, { from: start, to: end })) {
      if (rows.from > batch.rows.from && batch.bytes + bytes > BATCH_BYTES) {
        yield batch;
        batch = { rows: { from: rows.from, to: rows.from }, bytes: 0 };
      }
      batch = { rows: { from: batch.rows.from, to: rows.to }, bytes: batch.bytes + bytes };
    }
    start = end;
  }
  if (batch.rows.to > batch.rows.from) yield batch;
}

/** Yields the blocks of a range, and the single rows of large ones, in order. */
async function* pieces({ statements, table, fields }: DocumentTable, { from, to }: RowRange): AsyncGenerator<Piece> {
  const size = documentBytesSql(fields);
  const within = (rows: RowRange) => `FROM ${table} WHERE rowid >= ${rows.from} AND rowid < ${rows.to}`;
  const blocks = await statements.rows(
    `SELECT min(rowid), count(*), sum(${size}) ${within({ from, to })} GROUP BY rowid // ${BLOCK_ROWS} ORDER BY 1`,
  );
  for (const [first, count, bytes] of blocks) {
    const rows = { from: Number(first), to: Number(first) + Number(count) };
    if (Number(bytes) <= BATCH_BYTES) yield { rows, bytes: Number(bytes) };
    else
      for (const [row, one] of await statements.rows(`SELECT rowid, ${size} ${within(rows)} ORDER BY rowid`))
        yield { rows: { from: Number(row), to: Number(row) + 1 }, bytes: Number(one) };
  }
}

/** Returns the function that splits words (core/search-words.ts), for texts that are long or not ASCII. */
const wordList = () => textFunction(WORD_LIST, (text) => JSON.stringify([...new Set(wordsOf(text).map(comparedText))]));

import { DuckDBInstance, DuckDBScalarFunction, VARCHAR } from '@duckdb/node-api';
import type { DuckDBBlobValue, DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api';
import { comparedText } from '../../../core/criteria/value.ts';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { wordsOf } from '../../../core/search-words.ts';
import { quotePath } from '../duckdb/generation-files.ts';
import { interruptible } from '../duckdb/interruptible.ts';
import { documentBytesSql, documentSql, WORD_LIST } from './documents.ts';

/** DuckDB's memory limit in bytes, and the number of copies of a long document while it is built. */
const MEMORY = 128 * 10 ** 6;
const DOCUMENT_COPIES = 12;
/** Target size of a request in bytes. */
const BATCH_BYTES = 5_000_000;
/** Number of rows that DuckDB reads at once. */
const BLOCK_ROWS = 2048;

/** Rows as the body of a bulk request: two lines each. */
export interface Batch {
  rows: number;
  body: Buffer<ArrayBuffer>;
}

/** Rows from `from` up to, not including, `to`, with the approximate bytes of their documents. */
interface Range {
  from: number;
  to: number;
  bytes: number;
}

/** The staged rows of a load, as documents. */
export class StagedRows {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #fields: IndexedField[];
  readonly #signal: AbortSignal;

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    fields: IndexedField[],
    signal: AbortSignal,
  ) {
    this.#instance = instance;
    this.#connection = connection;
    this.#fields = fields;
    this.#signal = signal;
  }

  /** Opens the file of a staged generation (duckdb/load.ts). */
  static async open(file: string, fields: IndexedField[], signal: AbortSignal): Promise<StagedRows> {
    // One thread: the search engine needs the others.
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${MEMORY}B`,
      threads: '1',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    connection.registerScalarFunction(wordList());
    await connection.run(`SET TimeZone = 'UTC'`);
    await connection.run(`ATTACH ${quotePath(file)} AS staged (READ_ONLY)`);
    return new StagedRows(instance, connection, fields, signal);
  }

  /** Yields all rows in order. A batch exceeds the target size only if a single row does. */
  async *batches(): AsyncGenerator<Batch> {
    const slices = documentSql(this.#fields);
    // One value instead of one for each row saves JavaScript most of the work. Slices must be joined row by row.
    const texts = slices.length === 1 ? [`string_agg(${slices[0]}, '')`] : slices;
    const statements = [];
    for (const text of texts)
      statements.push(
        await this.#connection.prepare(`SELECT encode(${text}) FROM staged.data WHERE rowid >= $1 AND rowid < $2`),
      );
    for await (const { from, to, bytes } of this.#ranges()) {
      if (bytes > BATCH_BYTES) await this.#connection.run(`SET memory_limit = '${MEMORY + DOCUMENT_COPIES * bytes}B'`);
      const columns: Uint8Array[][] = [];
      for (const statement of statements) columns.push(await this.#texts(statement, from, to));
      yield {
        rows: to - from,
        body: Buffer.concat(columns[0]!.flatMap((_, row) => columns.map((column) => column[row]!))),
      };
    }
  }

  async #texts(statement: DuckDBPreparedStatement, from: number, to: number): Promise<Uint8Array[]> {
    statement.bindBigInt(1, BigInt(from));
    statement.bindBigInt(2, BigInt(to));
    const rows = await interruptible(this.#connection, this.#signal, async () =>
      (await statement.runAndReadAll()).getRows(),
    );
    return rows.map(([text]) => (text as DuckDBBlobValue).bytes);
  }

  close(): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }

  /** Yields the rows of each request: whole blocks, which DuckDB reads fastest, unless they are too large. */
  async *#ranges(): AsyncGenerator<Range> {
    let range: Range = { from: 0, to: 0, bytes: 0 };
    for await (const { rows, bytes } of this.#pieces()) {
      if (range.to > range.from && range.bytes + bytes > BATCH_BYTES) {
        yield range;
        range = { from: range.to, to: range.to, bytes: 0 };
      }
      range = { from: range.from, to: range.to + rows, bytes: range.bytes + bytes };
    }
    if (range.to > range.from) yield range;
  }

  /** Yields the sizes of blocks, and of the single rows of large ones, in order. */
  async *#pieces(): AsyncGenerator<{ rows: number; bytes: number }> {
    const size = documentBytesSql(this.#fields);
    const blocks = await this.#ask(
      `SELECT count(*), sum(${size}) FROM staged.data GROUP BY rowid // ${BLOCK_ROWS} ORDER BY rowid // ${BLOCK_ROWS}`,
    );
    for (const [block, [rows, bytes]] of blocks.entries()) {
      if (Number(bytes) <= BATCH_BYTES) yield { rows: Number(rows), bytes: Number(bytes) };
      else
        for (const [one] of await this.#ask(
          `SELECT ${size} FROM staged.data WHERE rowid >= ${block * BLOCK_ROWS} AND rowid < ${(block + 1) * BLOCK_ROWS} ORDER BY rowid`,
        ))
          yield { rows: 1, bytes: Number(one) };
    }
  }

  #ask(sql: string): Promise<DuckDBValue[][]> {
    return interruptible(this.#connection, this.#signal, async () =>
      (await this.#connection.runAndReadAll(sql)).getRows(),
    );
  }
}

/** Returns the function that splits words (core/search-words.ts), for texts that are long or not ASCII. */
const wordList = () =>
  DuckDBScalarFunction.create({
    name: WORD_LIST,
    returnType: VARCHAR,
    parameterTypes: [VARCHAR],
    mainFunction: (_info, input, output) => {
      const texts = input.getColumnVector(0);
      for (let row = 0; row < input.rowCount; row++)
        output.setItem(row, JSON.stringify([...new Set(wordsOf(String(texts.getItem(row))).map(comparedText))]));
      output.flush();
    },
  });

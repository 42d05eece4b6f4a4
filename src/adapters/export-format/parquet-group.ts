import type { ParquetWriter } from 'hyparquet-writer';
import type { writeColumn } from 'hyparquet-writer/src/column.js';
import type { Row } from '../../core/dataset-index.ts';
import type { ParquetColumn } from './parquet-columns.ts';

/**
 * Maximum number of rows in a group. A group stays in memory until it is written, so this bounds the memory of an
 * export. It bounds the turns of the event loop, too: each turn writes one column of a group.
 */
const MAX_ROWS = 8192;
const MAX_BYTES = 8 << 20;
/** The footer lists every column of every group, so groups of very many columns are larger. */
const BYTES_PER_COLUMN = 32 << 10;
/** Overhead of a value in memory, in bytes. */
const VALUE_BYTES = 16;
const PAGE_BYTES = 1 << 20;

/** Arguments of the library's column writer. */
type ColumnWork = Pick<Parameters<typeof writeColumn>[0], 'column' | 'pageData'>;

/** Rows that wait to be written, column by column. */
export class RowGroup {
  readonly #columns: readonly ParquetColumn[];
  readonly #values: unknown[][];
  readonly #most: number;
  #bytes = 0;
  rows = 0;

  constructor(columns: readonly ParquetColumn[]) {
    this.#columns = columns;
    this.#values = columns.map(() => []);
    this.#most = Math.max(MAX_BYTES, columns.length * BYTES_PER_COLUMN);
  }

  get full(): boolean {
    return this.rows >= MAX_ROWS || this.#bytes >= this.#most;
  }

  add(row: Row): void {
    for (let i = 0; i < this.#columns.length; i++) {
      const { name, convert } = this.#columns[i]!;
      const value = row[name] ?? null;
      this.#values[i]!.push(value === null ? null : convert(value));
      this.#bytes += VALUE_BYTES + sizeOf(value);
    }
    this.rows += 1;
  }

  /** Yields the work for each column. The values of a column are released when the next one is requested. */
  *columns({ schema, codec, compressors }: ParquetWriter): Generator<ColumnWork> {
    for (const [i, { name, element, statistics }] of this.#columns.entries()) {
      const values = this.#values[i]!;
      this.#values[i] = [];
      yield {
        column: {
          columnName: name,
          element,
          schemaPath: [schema[0]!, element],
          codec,
          compressors,
          stats: statistics,
          pageSize: PAGE_BYTES,
          columnIndex: false,
          offsetIndex: false,
        },
        pageData: {
          values,
          definitionLevels: values.map((value) => (value === null ? 0 : 1)),
          repetitionLevels: [],
          maxDefinitionLevel: 1,
        },
      };
    }
  }
}

/** Estimates the bytes of a text or a document. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length * 2 : 0;
}

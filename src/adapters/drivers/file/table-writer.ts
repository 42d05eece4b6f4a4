import { rm } from 'node:fs/promises';
import { BIGINT, BOOLEAN, DuckDBScalarFunction } from '@duckdb/node-api';
import { writeFailure } from '../../../core/disk-full.ts';
import { ApiError } from '../../../core/errors.ts';
import type { Storage } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { GROUP_BYTES, GROUP_ROWS, tableFileOptions } from '../../../core/table-file.ts';
import type { RowCounter } from '../csv-encoder.ts';
import { checkResultSize } from '../query-process/limits.ts';
import { quoteText, type DuckdbSession } from './duckdb-session.ts';
import type { PreparedSelect } from './file-statement.ts';

/** Function through which every row passes while it is written. Queries of users cannot call it (select-guard.ts). */
const METER = 'dws_meter';

/** Bytes of a full row group that fit in the engine's memory. Beyond, the groups must be smaller. */
const MAX_GROUP_BYTES = 4 * GROUP_BYTES;

/** Usual characters of a value as text, with its separator, for estimates and limits. Other values are measured. */
const TEXT_BYTES: Record<Exclude<Storage['kind'], 'text' | 'json'>, number> = {
  boolean: 5,
  tinyint: 2,
  int32: 6,
  int64: 7,
  uint64: 7,
  float64: 7,
  decimal: 7,
  date: 11,
  timestamp: 21,
};

/** Counts the rows that pass, and ends the statement that writes them when they exceed a limit. */
class RowMeter {
  rows = 0;
  bytes = 0;
  longestRow = 0;
  /** Why the statement was ended: an error, or rows that are too long for its row groups. */
  ended: ApiError | 'long rows' | undefined;
  readonly #counter: RowCounter;
  #groupRows = GROUP_ROWS;

  constructor(counter: RowCounter) {
    this.#counter = counter;
  }

  /** Mean bytes of a row. */
  get rowBytes(): number {
    return this.bytes / Math.max(this.rows, 1);
  }

  /** Begins again, with row groups for rows of this size. */
  restart(): void {
    this.#groupRows = 0;
    this.rows = this.bytes = this.longestRow = 0;
    this.ended = undefined;
  }

  /** Counts rows by their bytes. Throws to end the statement. */
  see(lengths: Iterable<unknown>): void {
    for (const length of lengths) {
      const bytes = Number(length);
      this.rows += 1;
      this.bytes += bytes;
      if (bytes > this.longestRow) this.longestRow = bytes;
    }
    this.#counter[0] = this.rows;
    this.#counter[1] = this.bytes;
    if (this.rowBytes * this.#groupRows > MAX_GROUP_BYTES) this.ended = 'long rows';
    try {
      checkResultSize(this.rows, this.bytes);
    } catch (error) {
      this.ended = error as ApiError;
    }
    if (this.ended) throw new Error('The meter ended the statement');
  }
}

const meterFunction = (meter: RowMeter): DuckDBScalarFunction =>
  DuckDBScalarFunction.create({
    name: METER,
    returnType: BOOLEAN,
    parameterTypes: [BIGINT],
    volatile: true,
    mainFunction(_info, input, output) {
      meter.see(input.getColumnValues(0));
      for (let row = 0; row < input.rowCount; row++) output.setItem(row, true);
      output.flush();
    },
  });

/** Returns SQL for a sum. Its terms are nested in pairs, because DuckDB limits the depth of expressions. */
function sumOf(terms: readonly string[]): string {
  if (terms.length === 1) return terms[0]!;
  const half = terms.length >> 1;
  return `(${sumOf(terms.slice(0, half))} + ${sumOf(terms.slice(half))})`;
}

/**
 * Writes the rows of a query as the table `data` of a new DuckDB file, with the columns `c0` … `cN` in the types of
 * their storage, and returns it as the only segment; nothing without rows. Values without a JSON form (NaN, dates BC)
 * are for the loader to remove. `file` is one of the paths that the session may access (`databaseFiles`).
 */
export async function writeTable(
  session: DuckdbSession,
  { written, names, from, values }: PreparedSelect,
  file: string,
  counter: RowCounter,
): Promise<Segment | undefined> {
  const meter = new RowMeter(counter);
  session.connection.registerScalarFunction(meterFunction(meter));
  const stored = written.map(({ store }, i) => `${store(names[i]!)} as ${names[i]!}`);
  const texts: string[] = [];
  // DuckDB takes time by the cube of the columns for a sum of that many constants.
  let fixed = 0;
  for (const [i, { column }] of written.entries()) {
    const { kind } = column.storage;
    const isText = kind === 'text' || kind === 'json';
    if (isText) texts.push(`coalesce(strlen(${names[i]!}), 0)`);
    fixed += isText ? 1 : TEXT_BYTES[kind];
  }
  const length = texts.length > 0 ? `${sumOf(texts)} + ${fixed}` : `${fixed}`;
  // The rows pass the meter with their first column.
  const metered = `case when ${METER}(${length}) then ${names[0]!} end as ${names[0]!}`;
  const create = async (rowBytes: number) => {
    await session.run(`attach ${quoteText(file)} as written (${tableFileOptions(names.length, rowBytes)})`);
    await session.run(
      `create table written.data as
        select ${[metered, ...names.slice(1)].join(', ')} from (select ${stored.join(', ')} from ${from})`,
      values,
    );
    await session.run('detach written');
  };
  try {
    await create(0).catch(async (error: unknown) => {
      if (meter.ended !== 'long rows') throw error;
      const { rowBytes } = meter;
      meter.restart();
      await session.run('detach written');
      await rm(file);
      await create(rowBytes);
    });
  } catch (error) {
    if (meter.ended instanceof ApiError) throw meter.ended;
    throw error instanceof Error && error.message.includes(file) ? writeFailure(error) : error;
  }
  const { rows, bytes, longestRow } = meter;
  if (rows > 0) return { path: file, rows, bytes, longestRow, temporary: true, table: true };
  await rm(file);
  return undefined;
}

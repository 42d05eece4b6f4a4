import { isDeepStrictEqual } from 'node:util';
import { abortable } from '../../../core/abortable.ts';
import type { IndexedField, LoadPlan } from '../../../core/dataset-index.ts';
import type { Column } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { describeValues } from '../duckdb/exactness.ts';
import type { LoadStatements } from '../duckdb/load-statements.ts';
import { indexedField, keepColumns } from '../duckdb/load.ts';
import { appendSegment } from '../duckdb/segment-reader.ts';
import { createTable, settleTypes } from '../duckdb/stage-rows.ts';
import { stageColumns } from '../duckdb/staging-types.ts';
import { documentBatches, openDocuments } from './document-batches.ts';
import type { Batch, RowRange } from './document-batches.ts';

/** Table of the segment that is being sent. */
const TABLE = 'early';
/** Limits of the rows that are kept in memory for a segment: DuckDB has a buffer for each column. */
const MAX_COLUMNS = 100;
const MAX_SEGMENT_BYTES = 16 << 20;
const MAX_ROW_BYTES = 1_000_000;

/** Rows of one segment, with the fields that describe them: undefined if these rows alone do not show them. */
interface EarlySegment {
  rows: RowRange;
  fields: IndexedField[] | undefined;
}

/**
 * The rows of a load that are sent while later ones are still being read, so that the engine does not wait for the last
 * one. All rows are staged as well (duckdb/load.ts), because types, flags and counts are final only then. Until then
 * the fields are the fields of the first segment that is sent. When a segment needs other fields, sending stops. If the
 * final fields differ, the load starts a new index.
 *
 * A segment is taken when the one before has been sent. Segments that arrive during sending are left to the staged
 * rows. So is the first one: a load of one segment has nothing to gain.
 */
export class EarlyRows {
  /** The rows that `batches` has yielded. */
  readonly sent: RowRange[] = [];
  readonly #columns: Column[];
  readonly #plan: LoadPlan;
  #statements: LoadStatements | undefined;
  #reading: Promise<unknown> | undefined;
  #isFree: boolean;
  #hasEnded = false;
  #next = Promise.withResolvers<EarlySegment | null>();

  constructor(columns: Column[], plan: LoadPlan) {
    this.#columns = columns;
    this.#plan = plan;
    this.#isFree = plan.flow.length === 0 && columns.length <= MAX_COLUMNS;
  }

  /** Yields all segments unchanged, and reads the segments that can be sent immediately. */
  async *watch(segments: AsyncIterable<Segment>): AsyncGenerator<Segment> {
    let from = 0;
    try {
      for await (const segment of segments) {
        if (from > 0 && this.#isFree && isSmall(segment)) {
          this.#isFree = false;
          // An error is left to the staged rows, which the same error ends.
          const reading = this.#read(segment, from).catch(() => undefined);
          this.#reading = reading;
          this.#next.resolve({ rows: { from, to: from + segment.rows }, fields: await reading });
        }
        yield segment;
        from += segment.rows;
      }
    } finally {
      this.#hasEnded = true;
      this.#next.resolve(null);
    }
  }

  /** Returns the fields of the first segment that is sent; null when none is. */
  async fields(): Promise<IndexedField[] | null> {
    const first = await abortable(this.#next.promise, this.#plan.signal);
    return first?.fields ?? null;
  }

  /** Yields the documents of segments until one needs other fields or all rows are staged. */
  async *batches(fields: IndexedField[], signal: AbortSignal): AsyncGenerator<Batch> {
    for (;;) {
      const segment = await abortable(this.#next.promise, signal);
      if (!segment?.fields || !fit(segment.fields, fields)) return;
      const { rows } = segment;
      const table = { statements: this.#statements!, table: TABLE, fields, firstRow: rows.from };
      yield* documentBatches(table, [{ from: 0, to: rows.to - rows.from }]);
      this.sent.push(rows);
      this.#next = Promise.withResolvers();
      if (this.#hasEnded) return;
      this.#isFree = true;
    }
  }

  /** Frees the memory. Call it when no batch is being read. */
  async close(): Promise<void> {
    this.#isFree = false;
    await this.#reading;
    this.#statements?.close();
    this.#statements = undefined;
  }

  /** Reads a segment into the table and returns the fields that describe its rows. */
  async #read(segment: Segment, from: number): Promise<IndexedField[] | undefined> {
    const { keepTypes = [] } = this.#plan;
    const statements = (this.#statements ??= await openDocuments(this.#plan.signal));
    const columns = stageColumns(this.#columns);
    const kept = keepColumns(columns, this.#plan);
    await createTable(statements, TABLE, kept);
    await appendSegment(statements, TABLE, columns, kept, segment, from);
    await settleTypes(statements, TABLE, kept);
    const fields = (await describeValues(statements, TABLE, kept)).map(indexedField);
    // The text of such digits depends on the type that all values have in common.
    const hasExactDigits = fields.some(({ format }, i) => kept[i]!.digits && format);
    const isConverted = fields.some(({ name, type }) =>
      keepTypes.some((one) => one.name === name && one.type !== type),
    );
    return hasExactDigits || isConverted ? undefined : fields;
  }
}

const isSmall = ({ bytes, longestRow }: Segment): boolean => bytes <= MAX_SEGMENT_BYTES && longestRow <= MAX_ROW_BYTES;

/** Returns whether rows that are described by `found` have the same documents as rows of `fields`. */
const fit = (found: IndexedField[], fields: IndexedField[]): boolean =>
  fields.every((field, i) => isDeepStrictEqual(found[i], field) || isWider(field, found[i]!));

/** Returns whether a field also has room for values of the other one. */
const isWider = ({ type, format }: IndexedField, other: IndexedField): boolean =>
  (type === 'text' && other.type === 'string') || (format === 'int64' && other.type === 'integer');

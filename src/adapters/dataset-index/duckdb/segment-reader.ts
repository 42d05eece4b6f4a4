import { isDiskFull, writeFailure } from '../../../core/disk-full.ts';
import { upstreamFailed } from '../../../core/errors.ts';
import type { Segment } from '../../../core/row-source.ts';
import { GROUP_BYTES, GROUP_STEP } from '../../../core/table-file.ts';
import { quotePath } from './generation-files.ts';
import type { LoadStatements } from './load-statements.ts';
import type { SourceColumn } from './staging-types.ts';

/** DuckDB's default limit of a record. */
const USUAL_ROW_BYTES = 2_000_000;
/** Maximum size of a record. A buffer contains a whole record, and the loader's memory is limited. */
const MAX_ROW_BYTES = 64 << 20;
/** A long record is in memory as read bytes, as a value, and as a value that is being written. */
const ROW_COPIES = 4;
/** A row group is in memory while it is collected and while it is written. */
const GROUP_COPIES = 2;
const BASE_MEMORY = 128 * 10 ** 6;
const MAX_MEMORY = 2 * 10 ** 9;
const SHOWN_CHARACTERS = 200;

/** Returns SQL that reads a segment in the common dialect (core/row-source.ts). */
function readSegment(segment: Segment, types: { column: string; readType: string }[]): string {
  const columns = types.map(({ column, readType }) => `'${column}': '${readType}'`).join(', ');
  // The buffer is 16 records by default. With a raised limit that exhausts the memory, so it becomes one record.
  // Parallel readers lose records that are longer than their part of it.
  const longer =
    segment.longestRow < USUAL_ROW_BYTES
      ? ''
      : `, max_line_size=${segment.longestRow + 64}, buffer_size=${segment.longestRow + 128}, parallel=false`;
  return (
    `read_csv(${quotePath(segment.path)}, columns={${columns}}, header=false, auto_detect=false, delim=',', quote='"', escape='"', ` +
    `nullstr='\\N', allow_quoted_nulls=false, new_line='\\n'${longer})`
  );
}

/** Allows the memory that a segment's rows need. Throws UPSTREAM_FAILED for a row that is too long. */
export async function allowSegment(statements: LoadStatements, segment: Segment): Promise<void> {
  if (segment.longestRow > MAX_ROW_BYTES)
    throw upstreamFailed(
      `A row of the source takes ${segment.longestRow} bytes; at most ${MAX_ROW_BYTES} are possible`,
    );
  await statements.allow(BASE_MEMORY + memoryOf(segment));
}

/**
 * Appends a segment's rows to the staged table and returns their number. `before` is the number of rows in earlier
 * segments, for line numbers in errors.
 *
 * Throws UPSTREAM_FAILED naming column, line and value of a value that does not fit its type, or for a broken segment,
 * and UNAVAILABLE when the rows cannot be written.
 */
export async function appendSegment(
  statements: LoadStatements,
  table: string,
  columns: SourceColumn[],
  kept: SourceColumn[],
  segment: Segment,
  before: number,
): Promise<number> {
  await allowSegment(statements, segment);
  let inserted: number;
  try {
    inserted = await statements.change(
      `INSERT INTO ${table} SELECT ${kept.map(({ select }) => select).join(', ')} FROM ${readSegment(segment, columns)}`,
    );
  } catch (error) {
    statements.throwIfAborted();
    // About the files of the load, not about the rows.
    if (isDiskFull(error) || (error instanceof Error && error.message.startsWith('IO Error')))
      throw writeFailure(error);
    await statements.rollback();
    throw await segmentError(statements, columns, segment, before, error);
  }
  // The CSV reader skips blank lines: a source that wrote an empty text as nothing would lose rows silently.
  if (inserted !== segment.rows) throw upstreamFailed(`The source sent ${segment.rows} rows, but ${inserted} arrived`);
  return inserted;
}

/**
 * Returns the additional bytes of memory for the rows of a segment: the bytes of the longest row, and twice the
 * smallest row group that DuckDB writes.
 */
function memoryOf({ bytes, rows, longestRow }: Segment): number {
  const group = GROUP_STEP * (bytes / Math.max(rows, 1));
  return Math.max(
    longestRow > USUAL_ROW_BYTES ? ROW_COPIES * longestRow : 0,
    group > GROUP_BYTES ? Math.min(GROUP_COPIES * group, MAX_MEMORY) : 0,
  );
}

/** Returns the first value that does not have its column's type, by reading the segment again as texts. */
async function segmentError(
  statements: LoadStatements,
  columns: SourceColumn[],
  segment: Segment,
  before: number,
  error: unknown,
): Promise<Error> {
  const texts = readSegment(
    segment,
    columns.map(({ column }) => ({ column, readType: 'VARCHAR' })),
  );
  for (const { column, name, readType, sqlType, lost } of columns.filter(({ sqlType }) => sqlType !== 'VARCHAR')) {
    const fine =
      lost && readType === 'VARCHAR'
        ? ` AND ${column} NOT IN ('NaN', 'Infinity', '-Infinity', 'infinity', '-infinity') AND NOT ends_with(${column}, 'BC')`
        : '';
    const [bad] = await statements
      .rows(`SELECT line, ${column} FROM (SELECT row_number() OVER () line, ${column} FROM ${texts})
      WHERE ${column} IS NOT NULL AND TRY_CAST(${column} AS ${sqlType}) IS NULL${fine} LIMIT 1`)
      .catch(() => []);
    if (bad)
      return upstreamFailed(
        `Column "${name}", line ${before + Number(bad[0])}: "${String(bad[1]).slice(0, SHOWN_CHARACTERS)}" is not of type ${sqlType}`,
        { cause: error },
      );
  }
  const message =
    error instanceof Error ? error.message.split('\nPossible fixes')[0]!.split('\n\n')[0]! : String(error);
  return upstreamFailed(
    `The rows of the source could not be read: ${message.replaceAll(segment.path, 'segment').slice(0, 500)}`,
    { cause: error },
  );
}

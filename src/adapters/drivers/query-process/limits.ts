import { badInput } from '../../../core/errors.ts';

/**
 * Maximum bytes of segments of one query on an uploaded file. A small file can have a large result: a cross join, ten
 * billion nulls in a few pages of Parquet.
 */
const MAX_TEXT_BYTES = 2 * 1024 ** 3;
const MAX_ROWS = 100_000_000;

/** Throws BAD_USER_INPUT for a result with too many rows or bytes of text. */
export function checkResultSize(rows: number, bytes: number): void {
  if (rows > MAX_ROWS) throw badInput(`The query returns more than ${MAX_ROWS} rows, the maximum for an uploaded file`);
  if (bytes > MAX_TEXT_BYTES)
    throw badInput(
      `The query returns more than ${MAX_TEXT_BYTES / 1024 ** 3} GiB of text, the maximum for an uploaded file`,
    );
}

/**
 * Bytes of memory, of engine and JavaScript together, at which a query process is ended. The engine alone has a lower
 * limit.
 */
export const MAX_PROCESS_MEMORY = 1024 ** 3;

/** Error of a query process that exceeds its memory. */
export const MEMORY_MESSAGE = `The query needs more memory than the ${MAX_PROCESS_MEMORY / 1024 ** 3} GiB that it may use`;

/** Memory limit of an engine in bytes. */
export const ENGINE_MEMORY = 512 * 1024 ** 2;

/** Maximum bytes of a record, which is the limit of the index (adapters/dataset-index). */
export const MAX_RECORD_BYTES = 64 * 1024 ** 2;

/** Maximum columns of a result. */
export const MAX_COLUMNS = 2000;

/** Maximum characters of a result for users. The rest is omitted, as if it were past the limit of rows. */
export const MAX_SHOWN_CHARACTERS = 16 * 1024 ** 2;

/** File, in the folder of the segments, with all rows as a table. */
export const TABLE_FILE = 'segment.table';

/** Folder, within the folder of the segments, for an engine's data that exceeds the memory. */
export const SPILL_FOLDER = 'spill';

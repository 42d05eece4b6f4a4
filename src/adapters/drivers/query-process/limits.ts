/** What one query on an uploaded file may write as segments. A small file can hold a large answer: a cross join, ten billion nulls in a few pages of Parquet. */
export const MAX_TEXT_BYTES = 2 * 1024 ** 3;
export const MAX_ROWS = 100_000_000;

/** Bytes of memory at which a query process is ended, whoever took them: the engine, which has a limit of its own below this, or its values in JavaScript. */
export const MAX_PROCESS_MEMORY = 1024 ** 3;

/** Bytes that an engine itself may take. */
export const ENGINE_MEMORY = 512 * 1024 ** 2;

/** Longest record in bytes, which is what the index takes (adapters/dataset-index). */
export const MAX_RECORD_BYTES = 64 * 1024 ** 2;

/** Columns of an answer. */
export const MAX_COLUMNS = 2000;

/** Characters of an answer for people. What is past them is left out, as if it were past the limit of rows. */
export const MAX_SHOWN_CHARACTERS = 16 * 1024 ** 2;

/** Where an engine may put what does not fit its memory, in the folder of the segments. */
export const SPILL_FOLDER = 'spill';

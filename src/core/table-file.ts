/**
 * Number of columns that DuckDB's default block size suits. A block is pinned for each column that is written, so
 * wider tables get smaller blocks.
 */
const USUAL_COLUMNS = 50;
const NARROW_BLOCK = 65_536;

/**
 * Size of a row group. Rows stay in memory until their group is full, and at the end are written once more to a log,
 * so groups of long rows are smaller.
 */
export const GROUP_BYTES = 48 << 20;
export const GROUP_ROWS = 122_880;
/** Row groups are multiples of this number of rows. */
export const GROUP_STEP = 2048;

/** Returns the options by which DuckDB attaches a new file for a table of rows with about this many bytes. */
export function tableFileOptions(columns: number, rowBytes: number): string {
  const rows = Math.floor(Math.min(GROUP_ROWS, GROUP_BYTES / Math.max(rowBytes, 1)) / GROUP_STEP) * GROUP_STEP;
  return [
    `ROW_GROUP_SIZE ${Math.max(rows, GROUP_STEP)}`,
    ...(columns > USUAL_COLUMNS ? [`BLOCK_SIZE ${NARROW_BLOCK}`] : []),
  ].join(', ');
}

/** Returns the paths that DuckDB uses to write a database file. */
export const databaseFiles = (file: string): string[] => [
  file,
  ...['.wal', '.wal.checkpoint', '.wal.recovery'].map((suffix) => `${file}${suffix}`),
];

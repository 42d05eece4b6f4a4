import type { Row } from './dataset-index.ts';
import type { Field } from './fields.ts';

/** File formats of exports. A format is also the extension of its files. */
export const EXPORT_FORMATS = ['csv', 'json', 'ndjson', 'xlsx', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Key in the metadata of Parquet for the names and types of columns whose texts are exact decimals, as JSON. */
export const DECIMAL_COLUMNS = 'dws.decimals';

/** Texts that would be a date in a workbook. A cell formatted as text keeps them, in exports and in uploads. */
export const LIKE_A_DATE = /^\d{4}-/;

/** Options of CSV that differ from files that can be uploaded again without a change. */
export interface CsvStyle {
  /** Begins with a byte order mark, by which spreadsheets recognise UTF-8. */
  bom?: boolean | undefined;
  /** Writes an apostrophe before texts and names that a spreadsheet would run as formulas. */
  escapeFormulas?: boolean | undefined;
}

/** Writes rows as a file of one format. */
export interface ExportEncoder {
  contentType: string;
  /** Throws `badInput` when the format cannot represent the fields. */
  check?(fields: readonly Field[]): void;
  /**
   * Yields the file in at least one chunk: text for text formats, bytes for the others. Reads a batch only when the
   * consumer requires the next chunk, and does not retain written rows. Parquet retains a few hundred bytes per column
   * and row group.
   * `title` names the sheets of a workbook. `style` applies to CSV.
   */
  encode(
    fields: readonly Field[],
    batches: AsyncIterable<readonly Row[]>,
    title: string,
    style?: CsvStyle,
  ): AsyncIterable<string> | AsyncIterable<Uint8Array>;
}

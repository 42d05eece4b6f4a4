import type { Row } from './dataset-index.ts';
import type { Field } from './fields.ts';

/** What rows are exported as; the format is the file's extension too. */
export const EXPORT_FORMATS = ['csv', 'json', 'ndjson', 'xlsx', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** How rows become a file of one format. */
export interface ExportEncoder {
  contentType: string;
  /** Throws `badInput` when the format cannot hold such fields. */
  check?(fields: readonly Field[]): void;
  /**
   * The file in pieces, texts for the formats that are text and bytes for the others, at least one. Batches are asked for only as pieces are, and what was
   * written is not kept; what Parquet must remember of a file is a few hundred bytes for each column of a group of rows.
   */
  encode(
    fields: readonly Field[],
    batches: AsyncIterable<readonly Row[]>,
  ): AsyncIterable<string> | AsyncIterable<Uint8Array>;
}

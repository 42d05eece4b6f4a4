import type { Context } from '../../core/context.ts';
import type { Row } from '../../core/dataset-index.ts';
import type { CsvStyle, ExportFormat } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';
import { invalid } from '../../core/input-checks.ts';
import { exportFile, type ExportChunk } from '../resource/export-file.ts';
import { type RowQuery, parseRowQuery } from './dataset-data.ts';
import { viewOf, type ViewedDataset } from './dataset-view.ts';
import { queryIndex } from './index-query.ts';

/**
 * Exports the rows that the viewer sees and the query selects as a file, in chunks. An invalid request throws before
 * the first chunk, as does an error before the first row. Reads no further than the consumer; returning from the
 * generator early ends the query in the index. `filename` has no extension.
 */
export async function exportRows(
  ctx: Context,
  dataset: ViewedDataset & { slug: string; name: string },
  format: ExportFormat,
  query: RowQuery,
  filename = dataset.slug,
  style: CsvStyle = {},
): Promise<AsyncGenerator<ExportChunk, void, undefined>> {
  if (format !== 'csv' && (style.bom || style.escapeFormulas))
    throw invalid(style.bom ? 'bom' : 'escapeFormulas', 'applies to csv only');
  const view = await viewOf(ctx, dataset);
  const { fields, ...rows } = await parseRowQuery(ctx, view, query);
  const search = view.generation && { ...rows, generation: view.generation, fields: fields.map(({ name }) => name) };
  return exportFile(format, { filename, title: dataset.name, resourceId: dataset.id, style }, fields, (signal) =>
    search ? ctx.platform.index.scan(search, AbortSignal.any([ctx.request.signal, signal])) : yieldRows([]),
  );
}

/** Number of rows from which the size of an export is estimated. */
const SAMPLE_ROWS = 1000;

/** The size of an export before it runs. */
export interface ExportSize {
  rows: number;
  /** Size of the file in bytes. */
  size: number;
  /** Whether the size is extrapolated from the first rows. */
  isEstimate: boolean;
}

/** Returns the size of an export of the rows that the viewer sees and the query selects. Throws like the export. */
export async function measureExport(
  ctx: Context,
  dataset: ViewedDataset & { name: string },
  format: ExportFormat,
  query: RowQuery,
): Promise<ExportSize> {
  const view = await viewOf(ctx, dataset);
  const { fields, ...rows } = await parseRowQuery(ctx, view, query);
  const { generation } = view;
  const sizeWith = (sample: Row[]) => fileSize(format, dataset.name, fields, sample);
  if (!generation) return { rows: 0, size: await sizeWith([]), isEstimate: false };
  const names = fields.map(({ name }) => name);
  const search = { ...rows, generation, fields: names, limit: SAMPLE_ROWS, start: 0, total: true };
  const page = await queryIndex(ctx, (index, signal) => index.search(search, signal));
  const total = page.total!;
  const size = await sizeWith(page.rows);
  if (total <= page.rows.length) return { rows: total, size, isEstimate: false };
  const empty = await sizeWith([]);
  return { rows: total, size: Math.round(empty + ((size - empty) * total) / page.rows.length), isEstimate: true };
}

async function fileSize(format: ExportFormat, title: string, fields: readonly Field[], rows: Row[]): Promise<number> {
  let size = 0;
  const chunks = exportFile(format, { filename: '', title }, fields, () => yieldRows(rows));
  for await (const { text, encoding } of chunks) size += Buffer.byteLength(text, encoding);
  return size;
}

async function* yieldRows(rows: Row[]): AsyncGenerator<Row[]> {
  if (rows.length > 0) yield rows;
}

import type { Context } from '../../core/context.ts';
import type { Row } from '../../core/dataset-index.ts';
import type { ExportFormat } from '../../core/export-format.ts';
import { exportFile, type ExportChunk } from '../resource/export-file.ts';
import { type RowQuery, parseRowQuery } from './dataset-data.ts';
import { viewOf, type ViewedDataset } from './dataset-view.ts';

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
): Promise<AsyncGenerator<ExportChunk, void, undefined>> {
  const view = await viewOf(ctx, dataset);
  const { fields, ...rows } = await parseRowQuery(ctx, view, query);
  const search = view.generation && { ...rows, generation: view.generation, fields: fields.map(({ name }) => name) };
  return exportFile(format, { filename, title: dataset.name }, fields, (signal) =>
    search ? ctx.platform.index.scan(search, AbortSignal.any([ctx.request.signal, signal])) : noRows(),
  );
}

async function* noRows(): AsyncGenerator<Row[]> {}

import type { Context } from '../../core/context.ts';
import type { Row } from '../../core/dataset-index.ts';
import type { ExportFormat } from '../../core/export-format.ts';
import { exportFile, type ExportChunk } from '../resource/export-file.ts';
import { rowsOf, type RowQuery } from './dataset-data.ts';
import { viewOf, type ViewedDataset } from './dataset-view.ts';

/**
 * All rows that the viewer sees, or those that match, as a file in pieces. What is wrong with the request is thrown before the first piece, and what fails
 * before the first row instead of it. Nothing is read ahead of the consumer; leaving early ends the query in the index.
 */
export async function exported(
  ctx: Context,
  dataset: ViewedDataset & { slug: string },
  format: ExportFormat,
  query: RowQuery,
): Promise<AsyncGenerator<ExportChunk, void, undefined>> {
  const view = await viewOf(ctx, dataset);
  const { fields, ...rows } = await rowsOf(ctx, view, query);
  const search = view.generation && { ...rows, generation: view.generation, fields: fields.map(({ name }) => name) };
  return exportFile(format, dataset.slug, fields, (signal) =>
    search ? ctx.platform.index.scan(search, AbortSignal.any([ctx.request.signal, signal])) : noRows(),
  );
}

async function* noRows(): AsyncGenerator<Row[]> {}

import { Dataset } from '../../../../../entities/dataset.ts';
import type { Context } from '../../../../core/context.ts';
import type { ExportFormat } from '../../../../core/export-format.ts';
import { cleanFilename } from '../../../../core/files.ts';
import { exportRows } from '../../../dataset/dataset-export.ts';
import { VIEW_COLUMNS } from '../../../dataset/dataset-view.ts';
import type { ExportChunk } from '../../../resource/export-file.ts';

/** What an export contains, and the name of its file. */
export interface ExportOptions {
  format: ExportFormat;
  /** Criteria, or the id of a saved filter. Default: all rows. */
  filter?: unknown;
  /** Default: the slug of the dataset. The extension of the format is added unless the name has it. */
  filename?: string;
}

/**
 * Exports the rows and fields of a dataset that the viewer of the context sees, in chunks that have the name of the file.
 * Throws before the first chunk NOT_FOUND for a dataset or filter that the viewer may not read, BAD_USER_INPUT for a
 * filter that does not fit the fields.
 */
export async function exportDataset(
  ctx: Context,
  datasetId: string,
  { format, filter, filename }: ExportOptions,
): Promise<AsyncGenerator<ExportChunk, void, undefined>> {
  const dataset = await ctx.read.one(Dataset, datasetId, [...VIEW_COLUMNS, 'slug', 'name']);
  return exportRows(ctx, dataset, format, { filter, isStored: true }, filename && baseName(filename, format));
}

/** Returns the name of an export without the extension of the format. */
function baseName(filename: string, format: ExportFormat): string {
  const extension = `.${format}`;
  const base = filename.toLowerCase().endsWith(extension) ? filename.slice(0, -extension.length) : filename;
  return cleanFilename(`${base}${extension}`).slice(0, -extension.length);
}

import { Dataset } from '../../../../../entities/dataset.ts';
import type { Context } from '../../../../core/context.ts';
import { ApiError, badInput } from '../../../../core/errors.ts';
import type { ExportFormat } from '../../../../core/export-format.ts';
import { cleanFilename, withoutFolders } from '../../../../core/files.ts';
import { isRestricted } from '../../../../core/permissions.ts';
import { exportRows, measureExport, type ExportSize } from '../../../dataset/dataset-export.ts';
import { VIEW_COLUMNS } from '../../../dataset/dataset-view.ts';
import { accessLevel } from '../../../resource/access-level.ts';
import { auditChunks } from '../../../resource/audit-read.ts';
import type { ExportChunk } from '../../../resource/export-file.ts';

/** The contents of an export, and the name of its file. */
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
 * filter that does not fit the fields. The message does not contain the name or the fields of a saved filter, as it is
 * for the readers of a job. In the audit log it is a download of `owner`, the owner of the job.
 */
export async function exportDataset(
  ctx: Context,
  datasetId: string,
  options: ExportOptions,
  owner: Context,
): Promise<AsyncGenerator<ExportChunk, void, undefined>> {
  const { format, filter, filename } = options;
  const dataset = await loadDataset(ctx, datasetId);
  const base = baseName(filename ?? dataset.slug, format);
  const chunks = await exportRows(ctx, dataset, format, { filter, isStored: true }, base).catch((error: unknown) => {
    if (typeof filter !== 'string' || !(error instanceof ApiError) || error.status !== 400) throw error;
    throw badInput('The saved filter does not fit the fields of the dataset, or the format does not', { cause: error });
  });
  const parameters = ['format', 'filter', 'filename'].filter((name) => name in options);
  const audited = { action: 'datasetExport', kind: 'dataset', key: null, resourceId: dataset.id, parameters };
  return auditChunks(owner, audited, chunks);
}

/** An export that is not written. */
interface ExportPreview extends ExportSize {
  dataset: string;
  filename: string;
}

/**
 * Returns what an export for the viewer of the context would contain. Throws like the export. Callers who may read only
 * a part of the dataset do not see the filter, so errors do not name its fields to them.
 */
export async function previewExport(
  ctx: Context,
  datasetId: string,
  { format, filter, filename }: ExportOptions,
): Promise<ExportPreview> {
  const dataset = await loadDataset(ctx, datasetId);
  const hideFields = async (error: unknown): Promise<never> => {
    if (!(error instanceof ApiError) || error.status !== 400 || !isRestricted(await accessLevel(ctx, dataset)))
      throw error;
    throw badInput('The filter does not fit the fields that you see, or the format does not', { cause: error });
  };
  return {
    dataset: dataset.name,
    filename: `${baseName(filename ?? dataset.slug, format)}.${format}`,
    ...(await measureExport(ctx, dataset, format, { filter, isStored: true }).catch(hideFields)),
  };
}

const loadDataset = (ctx: Context, datasetId: string) =>
  ctx.read.one(Dataset, datasetId, [...VIEW_COLUMNS, 'slug', 'name']);

/** Returns the name of an export without the extension of the format. */
function baseName(filename: string, format: ExportFormat): string {
  const extension = `.${format}`;
  const base = filename.toLowerCase().endsWith(extension) ? filename.slice(0, -extension.length) : filename;
  return cleanFilename(withoutFolders(`${base}${extension}`)).slice(0, -extension.length);
}

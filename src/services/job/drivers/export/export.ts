import { EXPORT_FORMATS } from '../../../../core/export-format.ts';
import { isUuid } from '../../../../core/id.ts';
import { invalid } from '../../../../core/input-checks.ts';
import type { ExportChunk } from '../../../resource/export-file.ts';
import { replaceOutput } from '../../job-action-output.ts';
import { DATASET_PROPERTIES, defineAction, type DatasetKeys } from '../action-schema.ts';
import { exportDataset, previewExport, type ExportOptions } from './export-rows.ts';

export const exportAction = defineAction<ExportOptions & DatasetKeys>({
  id: 'export',
  name: 'Export',
  description: 'Writes the rows of a dataset to the file of the action, which emails can attach.',
  uses: 'dataset',
  datasetPermission: 'dataset:read',
  criteria: 'filter',
  properties: {
    ...DATASET_PROPERTIES,
    format: { enum: EXPORT_FORMATS, description: 'File format.' },
    filter: {
      type: ['object', 'string'],
      description: 'Rows to export: criteria, or the id of a saved filter. Default: all.',
    },
    filename: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'Name of the file, without or with the extension of the format. Default: the slug of the dataset.',
    },
  },
  required: { format: true },
  prepare(data) {
    const { filter } = data;
    // As text, criteria would not be checked against the fields that the caller sees.
    if (typeof filter === 'string' && !isUuid(filter))
      throw invalid('data.filter', 'must be the id of a saved filter, or an object with criteria');
    return data;
  },
  async run(run) {
    const chunks = await exportDataset(run.ctx, run.datasetId, run.data, run.ctx);
    try {
      // Every export has a chunk, and each chunk the name and the type of the file.
      const first = (await chunks.next()).value!;
      await replaceOutput(run, { ...first, content: bytesOf(first, chunks) });
    } finally {
      await chunks.return();
    }
    // Without the size and the duration: not every reader of the job may know how many rows there are.
    run.log('Wrote the file');
  },
  preview: async ({ ctx, datasetId, data }) => ({
    ...(await previewExport(ctx, datasetId, data)),
  }),
});

/** Returns the bytes of an export, whose first chunk was read. */
export async function* bytesOf(
  first: ExportChunk,
  rest: AsyncGenerator<ExportChunk, void>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(first.text, first.encoding);
  for await (const { text, encoding } of rest) yield Buffer.from(text, encoding);
}

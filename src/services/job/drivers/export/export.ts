import { EXPORT_FORMATS } from '../../../../core/export-format.ts';
import type { JobActionDriver } from '../../../../core/job-drivers.ts';
import { actionSchema, DATASET_PROPERTIES } from '../action-schema.ts';

export const exportAction: JobActionDriver = {
  id: 'export',
  name: 'Export',
  description: 'Writes the rows of a dataset to the file of the action, which emails can attach.',
  usesDataset: true,
  criteria: 'filter',
  schema: actionSchema(
    {
      ...DATASET_PROPERTIES,
      format: { enum: EXPORT_FORMATS, description: 'File format.' },
      filter: {
        type: ['object', 'string'],
        description: 'Rows to export: criteria, or the id of a saved filter. Default: all.',
      },
      filename: { type: 'string', minLength: 1, maxLength: 255, description: 'Name of the file.' },
    },
    ['format'],
  ),
};

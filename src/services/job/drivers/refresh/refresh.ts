import type { JobActionDriver } from '../../../../core/job-drivers.ts';
import { actionSchema, DATASET_PROPERTIES } from '../action-schema.ts';

export const refreshAction: JobActionDriver = {
  id: 'refresh',
  name: 'Refresh',
  description: 'Replaces the rows of a dataset by the result of its query.',
  usesDataset: true,
  schema: actionSchema({
    ...DATASET_PROPERTIES,
    params: { type: 'object', description: 'Values of the query parameters, by name. Default: their default values.' },
  }),
};

import type { JobActionDriver } from '../../../../core/job-drivers.ts';
import { actionSchema, DATASET_PROPERTIES } from '../action-schema.ts';

export const snapshotAction: JobActionDriver = {
  id: 'snapshot',
  name: 'Snapshot',
  description: 'Creates a snapshot of a dataset.',
  usesDataset: true,
  schema: actionSchema({
    ...DATASET_PROPERTIES,
    name: { type: 'string', minLength: 1, maxLength: 255, description: 'Name of the snapshot.' },
  }),
};

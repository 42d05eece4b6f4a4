import type { JobActionDriver } from '../../../../core/job-drivers.ts';
import { actionSchema, DATASET_PROPERTIES } from '../action-schema.ts';

export const snapshotCleanupAction: JobActionDriver = {
  id: 'snapshot-cleanup',
  name: 'Snapshot cleanup',
  description: 'Deletes the oldest snapshots of a dataset.',
  usesDataset: true,
  schema: actionSchema(
    {
      ...DATASET_PROPERTIES,
      keep: { type: 'integer', minimum: 0, maximum: 10_000, description: 'Number of latest snapshots to keep.' },
    },
    ['keep'],
  ),
};

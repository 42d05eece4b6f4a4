import type { JobDriver } from '../../../../core/job-drivers.ts';
import { JOB_SCHEMA } from '../job-schema.ts';

export const datasetRefreshJob: JobDriver = {
  id: 'dataset-refresh',
  name: 'Dataset refresh',
  description: 'Refreshes the datasets of the job in their order, then runs its actions.',
  schema: JOB_SCHEMA,
  steps: (snapshots) => ({
    before: [
      ...(snapshots === 'before' ? (['snapshot'] as const) : []),
      'refresh',
      ...(snapshots === 'after' ? (['snapshot'] as const) : []),
    ],
    after: [],
  }),
};

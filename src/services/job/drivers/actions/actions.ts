import type { JobDriver } from '../../../../core/job-drivers.ts';
import { JOB_SCHEMA } from '../job-schema.ts';

export const actionsJob: JobDriver = {
  id: 'actions',
  name: 'Actions',
  description:
    'Runs the actions of the job in their order, and takes the snapshots of its datasets before or after them.',
  schema: JOB_SCHEMA,
  steps: (snapshots) => ({
    before: snapshots === 'before' ? ['snapshot'] : [],
    after: snapshots === 'after' ? ['snapshot'] : [],
  }),
};

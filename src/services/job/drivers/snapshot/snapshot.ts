import type { ActionRun } from '../../../../core/job-drivers.ts';
import type { JobActionDriver } from '../../../../core/job-drivers.ts';
import { create } from '../../../dataset/snapshot.ts';
import { waitForOperation } from '../../job-context.ts';
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

/** Takes a snapshot. */
export async function takeSnapshot(
  run: Pick<ActionRun, 'ctx' | 'datasetId' | 'log' | 'progress'>,
  name = new Date().toISOString(),
): Promise<void> {
  await waitForOperation(run, create(run.ctx, run.datasetId, { name }, null, false));
}

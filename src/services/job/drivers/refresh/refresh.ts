import { Dataset } from '../../../../../entities/dataset.ts';
import { ApiError, upstreamFailed } from '../../../../core/errors.ts';
import type { ActionRun } from '../../../../core/job-drivers.ts';
import { countRows } from '../../../dataset/dataset-data.ts';
import { refresh } from '../../../dataset/dataset-refresh.ts';
import { VIEW_COLUMNS } from '../../../dataset/dataset-view.ts';
import { waitForOperation } from '../../job-context.ts';
import { DATASET_PROPERTIES, defineAction, type DatasetKeys } from '../action-schema.ts';

/** `data` of the action. */
interface RefreshData extends DatasetKeys {
  params?: Record<string, unknown>;
}

export const refreshAction = defineAction<RefreshData>({
  id: 'refresh',
  name: 'Refresh',
  description: 'Replaces the rows of a dataset by the result of its query.',
  uses: 'dataset',
  datasetPermission: 'dataset:refresh',
  properties: {
    ...DATASET_PROPERTIES,
    params: { type: 'object', description: 'Values of the query parameters, by name. Default: their default values.' },
  },
  run: (run) => refreshDataset(run, run.data.params),
  async preview({ ctx, datasetId }) {
    const dataset = await ctx.read.one(Dataset, datasetId, ['name', 'dataUpdatedAt', ...VIEW_COLUMNS]);
    return { dataset: dataset.name, rows: await countRows(ctx, dataset), dataUpdatedAt: dataset.dataUpdatedAt };
  },
});

/** Refreshes a dataset with the rights of the job's owner. */
export async function refreshDataset(
  run: Pick<ActionRun, 'ctx' | 'datasetId' | 'log' | 'progress'>,
  params?: Record<string, unknown>,
): Promise<void> {
  const started = refresh(run.ctx, run.datasetId, { params }, false);
  await waitForOperation(run, started).catch((error: unknown) => {
    throw isSourceFailure(error) ? refreshFailed() : error;
  });
  // Without the duration and the number of rows, which not every reader of the job may know.
  run.log('Refreshed');
}

/** The error of a source can contain values, which not every reader of the job may see. */
const refreshFailed = () => upstreamFailed('The refresh of the dataset failed: its lastRefresh has the reason');
const isSourceFailure = (error: unknown): boolean => error instanceof ApiError && error.code === 'UPSTREAM_FAILED';

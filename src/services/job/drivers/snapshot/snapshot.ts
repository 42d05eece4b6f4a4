import { Dataset } from '../../../../../entities/dataset.ts';
import type { ActionRun } from '../../../../core/job-drivers.ts';
import { countRows } from '../../../dataset/dataset-data.ts';
import { VIEW_COLUMNS } from '../../../dataset/dataset-view.ts';
import { create } from '../../../dataset/snapshot.ts';
import { waitForOperation } from '../../job-context.ts';
import { DATASET_PROPERTIES, defineAction, type DatasetKeys } from '../action-schema.ts';

const MAX_NAME_CHARACTERS = 255;

/** `data` of the action. */
interface SnapshotData extends DatasetKeys {
  name?: string;
}

export const snapshotAction = defineAction<SnapshotData>({
  id: 'snapshot',
  name: 'Snapshot',
  description: 'Creates a snapshot of a dataset.',
  uses: 'dataset',
  datasetPermission: 'dataset:copy',
  properties: {
    ...DATASET_PROPERTIES,
    name: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_NAME_CHARACTERS,
      description: 'Name of the snapshot. Default: the name of the dataset and the date in UTC.',
    },
  },
  async run(run) {
    await takeSnapshot(run, run.data.name);
  },
  async preview({ ctx, datasetId, data }) {
    const dataset = await ctx.read.one(Dataset, datasetId, ['name', ...VIEW_COLUMNS]);
    return {
      dataset: dataset.name,
      name: data.name ?? defaultName(dataset.name),
      rows: await countRows(ctx, dataset),
    };
  },
});

/**
 * Creates a snapshot of a dataset that belongs to the owner of the job. Returns its id. Throws FORBIDDEN for an owner
 * who may not copy the dataset, as they see only a part of it, CONFLICT before its first refresh.
 */
export async function takeSnapshot(
  run: Pick<ActionRun, 'ctx' | 'datasetId' | 'log' | 'progress'>,
  name?: string,
): Promise<string> {
  const { ctx, datasetId } = run;
  const input = { name: name ?? defaultName((await ctx.read.one(Dataset, datasetId, ['name'])).name) };
  const started = create(ctx, datasetId, input, null, false);
  const { id } = (await waitForOperation(run, started)).result as { id: string };
  run.log(`Created the snapshot ${id}`);
  return id;
}

/** Returns the name of a dataset with the date. A long name is cut. */
function defaultName(dataset: string): string {
  const date = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
  const base = dataset.slice(0, MAX_NAME_CHARACTERS - date.length - 1).toWellFormed();
  return `${base} ${date}`;
}

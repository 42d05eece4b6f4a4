import { Dataset } from '../../../../../entities/dataset.ts';
import { cleanSnapshots, planCleanup } from '../../../dataset/snapshot-cleanup.ts';
import { DATASET_PROPERTIES, defineAction, type DatasetKeys } from '../action-schema.ts';

/** Maximum number of snapshots that each list of a preview names. */
const MAX_LISTED = 100;

const ENDS = {
  latest: 'is one of the latest',
  used: 'was kept, because a report or job uses it',
  notAllowed: 'was kept, because the owner of the job may not delete it',
};

/** `data` of the action. */
interface CleanupData extends DatasetKeys {
  keep: number;
}

export const snapshotCleanupAction = defineAction<CleanupData>({
  id: 'snapshot-cleanup',
  name: 'Snapshot cleanup',
  description: 'Deletes the oldest snapshots of a dataset.',
  uses: 'dataset',
  datasetPermission: 'dataset:write',
  properties: {
    ...DATASET_PROPERTIES,
    keep: { type: 'integer', minimum: 0, maximum: 10_000, description: 'Number of latest snapshots to keep.' },
  },
  required: { keep: true },
  run: ({ ctx, datasetId, data, log, progress }) =>
    cleanSnapshots(ctx, datasetId, data.keep, ({ id, kept }, done) => {
      log(`The snapshot ${id} ${kept ? ENDS[kept] : 'was deleted'}`);
      progress(100 * done);
    }),
  async preview({ ctx, datasetId, data }) {
    const { name } = await ctx.read.one(Dataset, datasetId, ['name']);
    const plan = await planCleanup(ctx, datasetId, data.keep);
    const [deleted, kept] = [plan.filter((one) => one.kept === null), plan.filter((one) => one.kept !== null)];
    return {
      dataset: name,
      deletedCount: deleted.length,
      deleted: deleted.slice(0, MAX_LISTED).map(({ kept: _, ...snapshot }) => snapshot),
      keptCount: kept.length,
      kept: kept.slice(0, MAX_LISTED).map(({ kept: reason, ...snapshot }) => ({ ...snapshot, reason })),
    };
  },
});

import { Dataset } from '../../../entities/dataset.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import type { JobData } from '../../core/job-drivers.ts';
import { jobActionDriverOf } from './drivers/driver-registry.ts';
import { usedDataset } from './job-alias.ts';

/**
 * Returns the effects of a run of an action, as far as the caller may read them. Changes and sends nothing. Throws
 * NOT_FOUND for an action of another job, and for a dataset that the caller may not read.
 */
export async function preview(ctx: Context, jobId: string, actionId: string): Promise<JobData> {
  const { id, name } = await ctx.read.one(Job, jobId, ['id', 'name']);
  const action = await ctx.read.find(JobAction, { id: actionId, jobId: id }, ['name', 'type', 'data', 'datasetId']);
  if (!action) throw notFound({ what: 'job action', id: actionId });
  const driver = jobActionDriverOf(action.type);
  const datasetId = driver.uses === 'dataset' ? await usedDataset(ctx, id, action) : '';
  if (datasetId) await ctx.read.one(Dataset, datasetId, ['id']);
  return driver.preview({
    ctx,
    job: { id, name },
    action: { id: action.id, name: action.name },
    data: action.data,
    datasetId,
  });
}

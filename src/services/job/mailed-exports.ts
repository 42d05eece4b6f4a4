import { JobAction } from '../../../entities/job-action.ts';
import type { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkFileRows } from './job-action-file.ts';
import { ownsJob } from './job-part.ts';

/**
 * Checks that the caller may read the changed exports and documents that emails send with the rows of the job's owner, which the
 * caller could otherwise have mailed to themselves. `datasetId` is the dataset that they export from now on, if it is
 * not stored yet.
 */
export async function checkMailedExports(
  ctx: Context,
  tx: Transaction,
  job: Job,
  isChanged: (action: JobAction) => boolean,
  datasetId?: string,
): Promise<void> {
  if (ownsJob(ctx, job)) return;
  const actions = await tx.find(JobAction, { jobId: job.id });
  const mailed = new Set(
    actions.flatMap(({ data: { runAs, attach } }) => (runAs !== 'recipient' && Array.isArray(attach) ? attach : [])),
  );
  for (const action of actions)
    if (mailed.has(action.id) && isChanged(action))
      await checkFileRows(ctx, job, datasetId === undefined ? action : { ...action, datasetId });
}

import { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import type { Job } from '../../../entities/job.ts';
import { DATASET, JOB } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { notFound, refused } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { isRestricted, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { checkVersion, loadResource, loadUsedResource } from '../resource/load-resource.ts';

/**
 * Loads a job for a change of its datasets, actions or run conditions, and locks it together with all of them. Its
 * version changes too. `If-Match` applies to the part.
 */
export async function loadForPart(ctx: Context, tx: Transaction, id: string): Promise<Job> {
  const job = await loadResource(ctx, tx, JOB, id, 'job:edit');
  job.updatedAt = new Date();
  return job;
}

/** Loads a dataset of a job by its alias. */
export async function loadJobDataset(ctx: Context, tx: Transaction, job: Job, alias: string): Promise<JobDataset> {
  const found = await tx.findOne(JobDataset, { jobId: job.id, alias });
  if (!found) throw notFound({ what: 'job dataset', id: alias });
  checkVersion(ctx, 'job dataset', found.version);
  return found;
}

/** Loads an action of a job. `expectsVersion` is false if `If-Match` applies to something below the action. */
export async function loadJobAction(
  ctx: Context,
  tx: Transaction,
  job: Job,
  id: string,
  expectsVersion = true,
): Promise<JobAction> {
  const action = isUuid(id) ? await tx.findOne(JobAction, { id: id.toLowerCase(), jobId: job.id }) : null;
  if (!action) throw notFound({ what: 'job action', id });
  if (expectsVersion) checkVersion(ctx, 'job action', action.version);
  return action;
}

/** Loads the run conditions of all actions of a job. */
export const loadConditions = (tx: Transaction, jobId: string): Promise<JobActionCondition[]> =>
  tx.find(JobActionCondition, {
    sql: 'job_action_id in (select id from dws.job_action where job_id = ?)',
    params: [jobId],
  });

/** Returns whether the caller owns a job. Its runs have the owner's rights, so they reveal nothing new to the owner. */
export const ownsJob = ({ viewer }: Pick<Context, 'viewer'>, { ownerId }: Pick<Job, 'ownerId'>): boolean =>
  ownerId === `user:${viewer.userId}`;

/**
 * Checks the permissions of a caller on a dataset that a run will use with the rights of the job's owner. Throws
 * FORBIDDEN naming a missing permission, and NOT_FOUND for a dataset that they may not read. Each run checks the owner.
 */
export async function checkMayUse(
  ctx: Context,
  tx: Transaction,
  job: Pick<Job, 'ownerId'>,
  datasetId: string,
  permissions: Iterable<ResourcePermission>,
): Promise<void> {
  if (ownsJob(ctx, job)) return;
  for (const permission of permissions) await loadUsedResource(ctx, tx, DATASET, datasetId, permission);
}

/**
 * Throws FORBIDDEN for a caller who may read only a part of a dataset whose rows a run will count, as the run counts
 * all rows that the owner of the job sees. The owner may count: they see these rows anyway.
 */
export async function checkMayCount(
  ctx: Context,
  tx: Transaction,
  job: Pick<Job, 'ownerId'>,
  datasetId: string,
): Promise<void> {
  if (ownsJob(ctx, job)) return;
  const dataset = await loadUsedResource(ctx, tx, DATASET, datasetId, 'dataset:read');
  if (isRestricted(await accessLevelInTransaction(ctx, tx, dataset)))
    throw refused('The run would count rows of a dataset that you may not read in full');
}

import {
  MAX_JOB_DATASETS,
  type CreateJobDatasetInput,
  type UpdateJobDatasetInput,
} from '../../../entities/job-dataset-input.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import type { Job } from '../../../entities/job.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import type { DatasetStep } from '../../core/job-drivers.ts';
import { newRow } from '../../core/new-row.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkAlias, checkReferable } from '../report/dataset-reference-checks.ts';
import { existingSnapshots, replaceSnapshots, requireSnapshots } from '../report/dataset-reference-snapshots.ts';
import { loadUsedResource } from '../resource/load-resource.ts';
import { jobActionDriverOf, jobDriverOf } from './drivers/driver-registry.ts';
import { checkHiddenSettings } from './hidden-settings.ts';
import { loadAliasUsers, loadAliasUses, renameAlias } from './job-alias.ts';
import { checkMayCount, checkMayUse, loadForPart, loadJobDataset } from './job-part.ts';
import { checkMailedExports } from './mailed-exports.ts';

/** Adds a dataset that the caller may read to a job that they may edit. Returns the id of the row. */
export function create(ctx: Context, jobId: string, input: CreateJobDatasetInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const [added] = await addDatasets(ctx, tx, await loadForPart(ctx, tx, jobId), [input]);
    return added!.id;
  });
}

/** Adds datasets to a job, which is locked or new, after those that it has. */
export async function addDatasets(
  ctx: Context,
  tx: Transaction,
  job: Job,
  inputs: readonly CreateJobDatasetInput[],
): Promise<JobDataset[]> {
  if (inputs.length === 0) return [];
  const present = await tx.find(JobDataset, { jobId: job.id }, { orderBy: ['position'] });
  if (present.length + inputs.length > MAX_JOB_DATASETS)
    throw conflict(`A job has at most ${MAX_JOB_DATASETS} datasets`);
  const aliases = new Set(present.map(({ alias }) => alias));
  for (const { alias } of inputs) {
    checkAliasFree(aliases, checkAlias(alias));
    aliases.add(alias);
  }
  const first = (present.at(-1)?.position ?? -1) + 1;
  return Promise.all(inputs.map((input, index) => addDataset(ctx, tx, job, input, first + index)));
}

async function addDataset(
  ctx: Context,
  tx: Transaction,
  job: Job,
  { alias, datasetId, snapshots }: CreateJobDatasetInput,
  position: number,
): Promise<JobDataset> {
  const id = await resolveDataset(ctx, tx, datasetId);
  const snapshotIds = await requireSnapshots(tx, id, snapshots?.snapshotDatasets ?? []);
  const row = newRow(JobDataset, {
    tenantId: job.tenantId,
    jobId: job.id,
    datasetId: id,
    alias,
    position,
    snapshotTime: snapshots?.when ?? null,
  });
  await checkMayUse(ctx, tx, job, id, stepPermissions(job, row));
  tx.insert(row);
  if (snapshotIds.length > 0) replaceSnapshots(tx, 'job_dataset', row, snapshotIds);
  return row;
}

/** The permission on a dataset that each step of a run requires from a caller who does not own the job. */
const STEP_PERMISSIONS: Record<DatasetStep, ResourcePermission> = {
  refresh: 'dataset:refresh',
  snapshot: 'dataset:copy',
};

/** Returns the permissions that the steps of a run require on a dataset of the job. */
function stepPermissions({ type }: Job, { snapshotTime }: Pick<JobDataset, 'snapshotTime'>): Set<ResourcePermission> {
  const { before, after } = jobDriverOf(type).steps(snapshotTime ?? null);
  return new Set([...before, ...after].map((step) => STEP_PERMISSIONS[step]));
}

/** Returns the id of a dataset that the caller may read, and locks it against deletion. `path` is the key that names it. */
export async function resolveDataset(ctx: Context, tx: Transaction, key: string, path = 'datasetId'): Promise<string> {
  const dataset = await loadUsedResource(ctx, tx, DATASET, key, 'dataset:read');
  checkReferable(dataset, path);
  return dataset.id;
}

/** Changes a dataset of a job. A new alias is also replaced in actions and conditions. Returns the id of the row. */
export function update(
  ctx: Context,
  jobId: string,
  alias: string,
  { alias: newAlias, datasetId, snapshots }: UpdateJobDatasetInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const job = await loadForPart(ctx, tx, jobId);
    const row = await loadJobDataset(ctx, tx, job, alias);
    const former = { datasetId: row.datasetId, permissions: stepPermissions(job, row) };
    if (newAlias !== undefined && newAlias !== row.alias) await changeAlias(tx, row, checkAlias(newAlias));
    if (datasetId !== undefined && datasetId !== row.datasetId) await changeDataset(ctx, tx, job, row, datasetId);
    if (snapshots !== undefined) {
      row.snapshotTime = snapshots?.when ?? null;
      // As in reports, an update ignores ids that are not (or no longer) snapshots of the dataset.
      const ids = await existingSnapshots(tx, row.datasetId, snapshots?.snapshotDatasets ?? []);
      replaceSnapshots(tx, 'job_dataset', row, ids);
    }
    const required = stepPermissions(job, row);
    const isSame = row.datasetId === former.datasetId;
    const added = [...required].filter((permission) => !isSame || !former.permissions.has(permission));
    await checkMayUse(ctx, tx, job, row.datasetId, added);
    row.updatedAt = new Date();
    return row.id;
  });
}

/**
 * Lets an alias name another dataset. Deletes the files of exports of the former one, and checks that the caller may let
 * the actions that use it and the conditions that count its rows use the new one.
 */
async function changeDataset(ctx: Context, tx: Transaction, job: Job, row: JobDataset, key: string): Promise<void> {
  const former = row.datasetId;
  row.datasetId = await resolveDataset(ctx, tx, key);
  const { actions, conditions } = await loadAliasUses(tx, job.id, row.alias);
  if (row.datasetId !== former)
    await checkHiddenSettings({ ctx, tx, ownerId: job.ownerId }, [...actions, ...conditions], former);
  for (const action of actions) if (action.type === 'export') action.fileId = action.exportedDatasetId = null;
  const permissions = actions.flatMap(({ type }) => jobActionDriverOf(type).datasetPermission ?? []);
  await checkMayUse(ctx, tx, job, row.datasetId, new Set(permissions));
  if (conditions.length > 0) await checkMayCount(ctx, tx, job, row.datasetId);
  await checkMailedExports(ctx, tx, job, ({ data }) => data['alias'] === row.alias, row.datasetId);
}

async function changeAlias(tx: Transaction, row: JobDataset, alias: string): Promise<void> {
  const present = await tx.find(JobDataset, { jobId: row.jobId });
  checkAliasFree(new Set(present.map((one) => one.alias)), alias);
  await renameAlias(tx, row.jobId, row.alias, alias);
  row.alias = alias;
}

/** Removes a dataset from a job. Throws CONFLICT while actions or conditions of the job use its alias. */
export async function remove(ctx: Context, jobId: string, alias: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const job = await loadForPart(ctx, tx, jobId);
    const row = await loadJobDataset(ctx, tx, job, alias);
    const users = await loadAliasUsers(tx, job.id, alias);
    if (users.length > 0) {
      const names = users.map(({ name }) => `"${name}"`).join(', ');
      throw conflict(`The dataset ${alias} is in use by the actions ${names}`);
    }
    tx.remove(row);
  });
}

function checkAliasFree(aliases: ReadonlySet<string>, alias: string): void {
  if (aliases.has(alias)) throw conflict(`The job already has a dataset with the alias "${alias}"`);
}
